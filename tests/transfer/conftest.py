"""A second server beside the one that most tests share, and commands that run in a folder of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.cli import main
from serving import Serving, serving
from transfers import Ended, Transfer


@pytest.fixture(scope="session")
def other_server() -> Iterator[Serving]:
    """Where tables are moved to."""
    with serving("--in-memory", "--log-level", "warning") as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture(scope="session")
def other(make_client: Callable[..., Any], other_server: Serving) -> Any:
    """A client of the second server."""
    return make_client(endpoint=other_server.endpoint)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run; they find these keys."""
    monkeypatch.chdir(tmp_path)
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return tmp_path


@pytest.fixture
def transfer(capfd: pytest.CaptureFixture[str]) -> Transfer:
    """Run a command in this process."""

    def run(*words: str) -> Ended:
        try:
            status = main(words)
        except SystemExit as stopped:
            status = int(str(stopped.code))
        return Ended(status, *capfd.readouterr())

    return run
