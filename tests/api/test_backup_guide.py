"""The recovery drill of docs/backups.md, executed as it is printed."""

import re
from pathlib import Path
from typing import Any

import pytest

from house import ROOT
from serving import serving

pytestmark = pytest.mark.timeout(300)

_ENDPOINT = "http://127.0.0.1:8000"


def blocks() -> list[str]:
    guide = (ROOT / "docs" / "backups.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", guide, re.DOTALL)


def test_the_recovery_drill(tmp_path: Path) -> None:
    steps = blocks()
    assert len(steps) == 8
    backups = ("--backups", str(tmp_path / "backups"), "--log-level", "warning")
    memory: dict[str, Any] = {}
    with serving("--data-dir", str(tmp_path / "old"), *backups) as server:
        for step in steps[:-1]:
            exec(step.replace(_ENDPOINT, server.endpoint), memory)
    assert len(memory["restored"]) == 100
    with serving("--data-dir", str(tmp_path / "new"), *backups) as server:
        connect = steps[0].partition("client.create_table")[0]
        exec(connect.replace(_ENDPOINT, server.endpoint), memory)
        exec(steps[-1], memory)
