"""Processes of the tests that are forked off a warm one are what those from scratch are."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

import warm
from hashrange import __version__
from serving import serving


def test_a_command_ends_as_it_does_from_scratch() -> None:
    version, wrong = warm.run("--version"), warm.run("serve", "--port", "many")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"hashrange {__version__}\n", "")
    cold = subprocess.run(
        [*warm.COLD, "serve", "--port", "many"], capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (cold.returncode, cold.stdout, cold.stderr)


def test_folder_and_environment_are_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with serving("--log-level", "warning", environment={"HASHRANGE_DATA_DIR": "here"}) as server:
        assert Path(f"/proc/{server.process.pid}/cwd").readlink() == tmp_path
        assert (tmp_path / "here").is_dir()


def test_a_process_is_waited_for_and_killed() -> None:
    with serving("--in-memory") as server:
        assert server.process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(0)
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        assert server.process.poll() == server.process.returncode == -signal.SIGKILL
        with pytest.raises(ProcessLookupError):
            os.kill(server.process.pid, 0)


def test_what_python_itself_reads_makes_a_cold_start() -> None:
    variables = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert warm.nurseries.nursery(variables) is None
    assert warm.nurseries.nursery({**os.environ, "LD_PRELOAD": ""}) is None
    assert (warm.nurseries.nursery(os.environ) is None) == (not hasattr(os, "pidfd_open"))
