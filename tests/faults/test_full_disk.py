"""No room to write: errors are clean, reads go on, nothing acknowledged is lost, and it all works again later."""

import resource
from pathlib import Path

import pytest

from faults.line import Line, Refused
from faults.load import await_writes, under_load, writers
from faults.tables import NOTES, create, everything
from faults.writer import Writer, settle_after_crash
from hashrange.storage.sqlite.reserve import RESERVE_NAME
from serving import Serving, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process need Linux"),
]


def _limit_file_size(server: Serving, limit: int) -> None:
    _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, most))


def _fill_up(server: Serving, folder: Path, working: list[Writer]) -> list[Refused]:
    """Let files grow no more, and write until every writer has met an error."""
    largest = max(file.stat().st_size for file in folder.iterdir() if file.name != RESERVE_NAME)
    _limit_file_size(server, largest // 2)
    refused = []
    for writer in working:
        with Line(server.port) as line:
            try:
                for _ in range(2000):
                    writer.step(line)
            except Refused as error:
                refused.append(error)
    return refused


def test_writes_fail_cleanly_and_resume_when_there_is_room_again(tmp_path: Path) -> None:
    working = writers(7, 3)
    with serving("--data-dir", str(tmp_path), "--log-level", "error") as server:
        with Line(server.port) as line:
            create(line)
        for _ in range(3):
            with under_load(server.port, working):
                await_writes(working, 100)
            refused = _fill_up(server, tmp_path, working)
            assert len(refused) == len(working)
            assert {(error.status, error.code) for error in refused} == {(500, "InternalServerError")}
            with Line(server.port) as line:
                settle_after_crash(working, everything(line))
            _limit_file_size(server, resource.RLIM_INFINITY)
            with Line(server.port) as line:
                line.call("PutItem", {"TableName": NOTES, "Item": {"pk": {"S": "room"}}})
                line.call("DeleteItem", {"TableName": NOTES, "Key": {"pk": {"S": "room"}}})
        _fill_up(server, tmp_path, working)
        server.process.kill()
    with serving("--data-dir", str(tmp_path)) as server:
        with Line(server.port) as line:
            settle_after_crash(working, everything(line))
        with under_load(server.port, working):
            await_writes(working, 100)
        with Line(server.port) as line:
            settle_after_crash(working, everything(line))
        assert server.stop() == 0
