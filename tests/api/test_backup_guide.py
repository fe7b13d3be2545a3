"""The recovery drill of docs/backups.md, executed as it is printed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hashrange import cli
from house import ROOT
from postgres_server import FAST, postgres_server
from serving import serving

pytestmark = pytest.mark.timeout(300)

_ENDPOINT = "http://127.0.0.1:8000"


def blocks() -> list[str]:
    guide = (ROOT / "docs" / "backups.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", guide, re.DOTALL)


@contextmanager
def places(engine: str, tmp_path: Path) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """Flags of the server that is lost and of the new one, and what `hashrange verify` calls the first."""
    if engine == "sqlite":
        old, new = str(tmp_path / "old"), str(tmp_path / "new")
        yield ("--data-dir", old), ("--data-dir", new), old
        return
    with postgres_server(**FAST) as server:
        for name in ("old", "new"):
            server.execute(f"CREATE DATABASE {name}")
        yield ("--engine", server.url("old")), ("--engine", server.url("new")), server.url("old")


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def test_the_recovery_drill(engine: str, tmp_path: Path) -> None:
    steps = blocks()
    assert len(steps) == 9
    folder = str(tmp_path / "backups")
    backups = ("--backups", folder, "--log-level", "info")
    memory: dict[str, Any] = {}
    with places(engine, tmp_path) as (old, new, lost):
        with serving(*old, *backups) as server:
            for step in steps[:7]:
                exec(step.replace(_ENDPOINT, server.endpoint), memory)
        assert len(memory["restored"]) == 100
        assert cli.main(["verify", lost, "--backups", folder]) == 0
        with serving(*new, *backups) as server:
            connect = steps[0].partition("client.create_table")[0]
            exec(connect.replace(_ENDPOINT, server.endpoint), memory)
            exec(steps[7], memory)
            assert "backup.adopted" in server.log_text()
            exec(steps[8], memory)
            assert memory["client"].list_backups(TableName="drill")["BackupSummaries"] == []
