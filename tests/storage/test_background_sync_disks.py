"""Commits that are synced beside the event loop, on disks that lose power and fail."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from hashrange.storage.sqlite import background_sync, sync_placement
from storage.faulty_disk import FaultyDisk
from storage.ledger import Ledger
from storage.watched_loop import Outcomes, WatchedLoop

if background_sync.helper is None:
    pytest.skip("the helpers were not built", allow_module_level=True)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_placement, "PROBE_COMMITS", 1)


@pytest.fixture
def loop() -> WatchedLoop:
    return WatchedLoop()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FaultyDisk]:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    faulty = FaultyDisk(shadow)
    yield faulty
    faulty.unregister()


def test_vacuuming_leaves_nothing_unsynced(disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop) -> None:
    """It commits more than once: a log that lacks several commits at its end is refused at the start."""
    engine = loop.open(tmp_path / "data")
    for change in (
        lambda tx: [tx.put(b"\x10%05d" % number, b"v" * 900) for number in range(500)],
        lambda tx: tx.clear(b"\x10", b"\x11", limit=400),
    ):
        outcomes = Outcomes()
        engine.submit(change, outcomes.done)
        loop.run_until(lambda outcomes=outcomes: bool(outcomes))
    assert engine.maintain(10) > 0
    logs = [folder / "hashrange.db-wal" for folder in (tmp_path / "data", disk.shadow)]
    assert logs[0].read_bytes() == logs[1].read_bytes()
    engine.close()


def test_what_is_acknowledged_was_synced(disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop) -> None:
    """The power may go after any acknowledgement: the files as they were last synced have what was acknowledged."""
    engine, ledger = loop.open(tmp_path / "data"), Ledger(loop)
    for start in range(0, 60, 4):
        ledger.write(engine, range(start, start + 4))
        after = tmp_path / f"after{start}"
        shutil.copytree(disk.shadow, after)
        new = after / "hashrange.db.new"
        if not (after / "hashrange.db").exists():
            new.rename(after / "hashrange.db")  # its name is synced with the directory
        ledger.check(after)
    assert not ledger.refusals
    engine.close()


def test_a_disk_that_fails_now_and_then_loses_nothing_acknowledged(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop
) -> None:
    for nth in range(1, 40):
        directory, ledger = tmp_path / f"data{nth}", Ledger(loop)
        engine = loop.open(directory)
        disk.count = 0
        disk.refuse = lambda number, _what, _file, nth=nth: apsw.IOError if number == nth else None
        for start in range(0, 12, 3):
            ledger.write(engine, range(start, start + 3))
        disk.refuse = lambda *_: None
        engine.close()
        ledger.check(directory)
