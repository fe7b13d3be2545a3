"""The AWS CLI as tests run it: imported once for many commands, with an environment of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AWS = Path(sys.executable).parent / "aws"
_RUNNER = Path(__file__).parent / "aws_runner.py"

Aws = Callable[..., Any]


class Failed(Exception):
    """The CLI ended with an error; its words are the message."""


def environment_for(endpoint: str, folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Nothing of what the person who runs the tests has set; profiles are in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **kept,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": str(folder / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        **more,
    }


@contextmanager
def aws_cli(common: Mapping[str, str]) -> Iterator[Aws]:
    """Run `aws dynamodb …`, or another service, and give what it printed, parsed."""
    runner = subprocess.Popen(
        [sys.executable, _RUNNER],
        env=dict(common),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    commands, outcomes = runner.stdin, runner.stdout

    def run(
        command: str,
        *words: str,
        service: str = "dynamodb",
        environment: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Any:
        arguments = [service, command, *words]
        for name, value in options.items():
            text = value if isinstance(value, str) else json.dumps(value)
            arguments += ["--" + name.replace("_", "-"), text]
        commands.write(json.dumps([dict(environment or {}), arguments]) + "\n")
        commands.flush()
        done = json.loads(outcomes.readline())
        if done["returncode"]:
            raise Failed(done["stderr"])
        return json.loads(done["stdout"]) if done["stdout"].strip() else None

    with runner:
        yield run
        commands.close()  # which ends it
