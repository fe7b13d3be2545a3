"""The suites of examples/testing for other languages pass, with the server that `hashrange testing` starts for them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clients import toolchains
from clients.toolchains import BUILD, CACHE, NODE, SOURCES
from house import ROOT

EXAMPLES = ROOT / "examples" / "testing"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def run(command: list[str], folder: Path) -> str:
    """Run a suite to its end; give what it has printed."""
    server = Path(sys.executable).parent / "hashrange"
    if not server.exists():
        pytest.skip(f"there is no command {server}: the package is not installed")
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "HASHRANGE_COMMAND": str(server)},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_suite_for_node() -> None:
    # The packages of the tours are found from a folder below theirs.
    folder = toolchains.ready(NODE) / f"testing-{os.getpid()}"
    shutil.copytree(EXAMPLES / "node", folder, dirs_exist_ok=True)
    try:
        told = run(["node", "--test"], folder)
    finally:
        shutil.rmtree(folder)
    assert "pass 3" in told
    assert "fail 0" in told


def test_the_suite_for_node_wants_the_version_that_the_tours_have() -> None:
    name = "@aws-sdk/client-dynamodb"
    wanted = json.loads((EXAMPLES / "node" / "package.json").read_text("utf-8"))["devDependencies"][name]
    assert json.loads((SOURCES / "node" / "package.json").read_text("utf-8"))["dependencies"][name] == wanted


def test_the_suite_for_java() -> None:
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if os.environ.get(BUILD) != "build":
        pytest.skip("the suite for Java is built and run by `make clients`, and takes a minute")
    folder = CACHE / "java-testing"
    shutil.copytree(EXAMPLES / "java", folder, dirs_exist_ok=True)
    fetched = ["mvn", "--quiet", "--batch-mode", "dependency:go-offline"]
    if subprocess.run(fetched, cwd=folder, capture_output=True, timeout=1500, check=False).returncode:
        pytest.skip("the packages of the suite for Java cannot be fetched")
    run(["mvn", "--quiet", "--batch-mode", "test"], folder)
    reports = list((folder / "target" / "surefire-reports").glob("*.xml"))
    assert any('tests="3" errors="0" skipped="0" failures="0"' in path.read_text("utf-8") for path in reports)
