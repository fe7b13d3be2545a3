"""Run Terraform in a folder of its own, with the AWS provider from a folder on this machine."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PLUGINS = "HASHRANGE_TEST_TERRAFORM_PLUGINS"  # a folder that `terraform init -plugin-dir` takes
CONFIGURATIONS = Path(__file__).parent / "terraform"
_COMMAND_SECONDS = 600


@dataclass(frozen=True)
class Terraform:
    """A working folder whose configuration is replaced as the test goes on."""

    folder: Path
    variables: dict[str, str]

    def configure(self, name: str, source: Path | str) -> None:
        """Put a file of the configuration into the folder, or replace it."""
        text = source.read_text("utf-8") if isinstance(source, Path) else source
        (self.folder / name).write_text(text, "utf-8")

    def run(self, command: str, *flags: str) -> str:
        """Run a command to its end, give its output."""
        done = subprocess.run(
            ["terraform", command, *flags],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def apply(self) -> None:
        self.run("apply", "-no-color", "-input=false", "-auto-approve")

    def destroy(self) -> None:
        self.run("destroy", "-no-color", "-input=false", "-auto-approve")

    def changes(self) -> dict[str, Any]:
        """Plan, and give what it would change: by address, each attribute as it is and as it would be."""
        self.run("plan", "-no-color", "-input=false", "-out=plan")
        plan = json.loads(self.run("show", "-json", "plan"))
        return {
            item["address"]: _difference(item["change"])
            for item in plan.get("resource_changes", [])
            if item["change"]["actions"] not in (["no-op"], ["read"])
        }

    def apply_plan(self) -> None:
        self.run("apply", "-no-color", "-input=false", "plan")

    def outputs(self) -> dict[str, Any]:
        values = json.loads(self.run("output", "-json"))
        return {name: output["value"] for name, output in values.items()}

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TF_"))}
        variables = {f"TF_VAR_{name}": value for name, value in self.variables.items()}
        return {**kept, **variables, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}


def _difference(change: dict[str, Any]) -> dict[str, Any]:
    before, after = change["before"] or {}, change["after"] or {}
    return {
        name: (before.get(name), after.get(name))
        for name in (*before, *after)
        if before.get(name) != after.get(name)
    }


def terraform(folder: Path, variables: dict[str, str]) -> Terraform:
    """Prepare Terraform in this folder, or skip the test."""
    plugins = os.environ.get(PLUGINS)
    if shutil.which("terraform") is None or plugins is None:
        # The provider is too large to fetch for a test.
        pytest.skip(f"needs terraform, and {PLUGINS} naming a folder that has the AWS provider")
    prepared = Terraform(folder, variables)
    prepared.configure("provider.tf", CONFIGURATIONS / "provider.tf")
    prepared.run("init", "-no-color", "-input=false", f"-plugin-dir={plugins}")
    return prepared


def adopt(prepared: Terraform, ids: dict[str, str]) -> None:
    """Let Terraform forget these resources and import them: a plan finds them as they are configured."""
    prepared.run("state", "rm", *ids)
    blocks = [f'import {{\n  to = {address}\n  id = "{found}"\n}}\n' for address, found in ids.items()]
    prepared.configure("imports.tf", "".join(blocks))
    assert prepared.changes() == {}
    prepared.apply_plan()
    (prepared.folder / "imports.tf").unlink()
    assert prepared.changes() == {}
