"""Commits that are synced beside the event loop, on disks that lose power and fail."""

import shutil
from pathlib import Path

import apsw
import pytest

from hashrange.storage.sqlite import background_sync, log_file, sync_placement, unsynced
from storage.faulty_disk import FaultyDisk
from storage.ledger import Ledger
from storage.watched_loop import Outcomes, WatchedLoop

if background_sync.helper is None:
    pytest.skip("the helpers were not built", allow_module_level=True)


@pytest.fixture(autouse=True, params=["synced beside the loop", "made beside the loop"])
def always(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(sync_placement, "PROBE_COMMITS", 1)
    if request.param == "made beside the loop":
        monkeypatch.setattr(unsynced, "ROWS_MIN", 1)


@pytest.fixture
def loop() -> WatchedLoop:
    return WatchedLoop()


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
    for start in range(1, 75, 5):  # every fifth has a large value, which is never stored beside the loop
        ledger.write(engine, range(start, start + 4 + start % 2))
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
        for start in (1, 4, 7, 11):
            ledger.write(engine, range(start, start + 3))
        disk.refuse = lambda *_: None
        engine.close()
        ledger.check(directory)


def test_a_start_after_a_failed_sync_leaves_no_hole_in_the_log(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system counts pages that it could not write as written: no sync brings them to the disk any more."""
    log, ledger, written = tmp_path / "data" / "hashrange.db-wal", Ledger(loop), [0]
    engine = loop.open(tmp_path / "data")
    ledger.write(engine, range(5))
    begins = log.stat().st_size
    disk.refuse = lambda _number, what, file: (
        apsw.IOError if what == "sync" and file.endswith("-wal") else None
    )
    ledger.write(engine, range(5, 6))
    disk.refuse = lambda *_: None
    assert ledger.refusals
    ends = log.stat().st_size
    assert ends > begins
    engine.close()
    write_again = log_file.write_again

    def write(path: Path, size: int) -> None:
        write_again(path, size)
        written.append(size)

    monkeypatch.setattr(log_file, "write_again", write)
    engine = loop.open(tmp_path / "data")
    ledger.write(engine, range(10, 30))
    after = tmp_path / "after"
    shutil.copytree(tmp_path / "data", after)
    engine.close()
    hole = range(max(begins, *written), ends)
    with (after / log.name).open("r+b") as file:
        file.seek(hole.start)
        file.write(bytes(len(hole)))
    ledger.check(after)
