"""A disk that fails: nothing acknowledged is lost, nothing half appears, and life goes on afterwards."""

import shutil
import threading
from pathlib import Path

import apsw
import pytest

from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Conflict, NotWritable, StorageError, Unavailable
from hashrange.storage.sqlite import SqliteEngine, checkpoint, sync_placement
from sizes import size
from storage.faulty_disk import FaultyDisk
from storage.ledger import Ledger, integrity_of, look
from storage.watched_loop import WatchedLoop


def open_patiently(directory: Path) -> SqliteEngine:
    """The fault may hit while opening; that says so, and trying again works."""
    try:
        return SqliteEngine.open(directory)
    except (Unavailable, NotWritable):
        return SqliteEngine.open(directory)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LOG_PAGES_START", 12)
    monkeypatch.setattr(sync_placement, "PROBE_COMMITS", 1)  # a loop's commits are always synced beside it


KINDS = {"I/O error": apsw.IOError, "disk full": apsw.FullError}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("length", [1, 4])
def test_the_nth_operation_fails(disk: FaultyDisk, tmp_path: Path, kind: str, length: int) -> None:
    """First the 1st operation on the disk fails, then the 2nd, and so on past the end of the work."""
    first, step = 1, 1
    while True:
        directory, ledger = tmp_path / f"data{first}", Ledger()
        disk.count = disk.refused = 0
        disk.refuse = lambda number, _what, _file, first=first: (
            KINDS[kind] if first <= number < first + length else None
        )
        try:
            engine = open_patiently(directory)
        except (Unavailable, NotWritable):
            disk.refuse = lambda *_: None
            engine = SqliteEngine.open(directory)
        for start in range(0, 18, 3):
            ledger.write(engine, range(start, start + 3))
        refused = disk.refused
        disk.refuse = lambda *_: None
        ledger.write(engine, range(100, 103))
        assert {100, 101, 102} <= ledger.acknowledged
        engine.close()
        ledger.check(directory)
        shutil.rmtree(directory)
        if not refused:
            break
        assert all(isinstance(error, StorageError) for error in ledger.refusals)
        assert not any(isinstance(error, Conflict) for error in ledger.refusals)
        first += step
        step = 1 + first // size(5, 8)
    assert first > 40


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 3])
def test_the_nth_operation_fails_be_it_a_read(disk: FaultyDisk, tmp_path: Path, length: int) -> None:
    """Reads and writes take turns; an answer is right or an error, and afterwards everything works."""
    directory = tmp_path / "data"
    disk.counts_reads = True
    engine = SqliteEngine.open(directory)
    Ledger().write(engine, range(60))
    engine.close()
    expected = {number: {b"left", b"right"} for number in range(60)}
    first, step = 1, 1
    while True:
        disk.count = disk.refused = 0
        disk.refuse = lambda number, _what, _file, first=first: (
            apsw.IOError if first <= number < first + length else None
        )
        try:
            engine = open_patiently(directory)
        except StorageError:
            disk.refuse = lambda *_: None
            engine = SqliteEngine.open(directory)
        for number in range(3):
            try:
                assert engine.read(look) == expected
                engine.write(lambda tx, number=number: tx.put(b"%04d left" % number, bytes([number]) * 300))
            except StorageError as error:
                assert not isinstance(error, Conflict)  # noqa: PT017 - any other storage error will do
        refused = disk.refused
        disk.refuse = lambda *_: None
        assert engine.read(look) == expected
        engine.write(lambda tx: tx.put(b"0000 left", b"\0"))
        engine.close()
        if not refused:
            break
        first += step
        step = 1 + first // size(5, 8)
    assert integrity_after(directory) == "ok"
    assert first > 20


def integrity_after(directory: Path) -> object:
    engine = SqliteEngine.open(directory)
    try:
        return integrity_of(engine)
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("syncs", ["inside of commits", "beside the loop"])
def test_power_goes_at_the_nth_operation(disk: FaultyDisk, tmp_path: Path, syncs: str) -> None:
    """From the Nth operation on nothing works; what was synced by then is all there is on the next day."""
    first, step = 1, 1
    while True:
        loop = WatchedLoop() if syncs == "beside the loop" else None
        directory, ledger = tmp_path / f"data{first}", Ledger(loop)
        disk.count = disk.refused = 0
        disk.refuse = lambda number, _what, _file, first=first: apsw.IOError if number >= first else None
        try:
            engine = SqliteEngine.open(directory) if loop is None else loop.open(directory)
        except StorageError:
            pass
        else:
            for start in range(0, 18, 3):
                ledger.write(engine, range(start, start + 3))
            if not disk.refused:
                break
            engine.close()
        disk.refuse = lambda *_: None
        after = tmp_path / "after"
        shutil.copytree(disk.shadow, after)
        if (directory / "hashrange.db").exists() and not (after / "hashrange.db").exists():
            (after / "hashrange.db.new").rename(
                after / "hashrange.db"
            )  # its name is synced with the directory
        ledger.check(after)
        for used in (after, directory):
            shutil.rmtree(used)
        for file in disk.shadow.iterdir():
            file.unlink()
        first += step
        step = 1 + first // size(5, 8)
    engine.close()
    assert first > 40


def test_nothing_is_acknowledged_before_the_log_is_synced(disk: FaultyDisk, tmp_path: Path) -> None:
    order: list[str] = []
    engine = SqliteEngine.open(tmp_path / "data")

    def refuse(_number: int, what: str, file: str) -> None:
        if file.endswith("-wal"):
            order.append(what)

    disk.refuse = refuse
    over = threading.Event()

    def done(_result: object, _error: BaseException | None) -> None:
        order.append("done")
        over.set()

    engine.submit(lambda tx: tx.put(b"k", b"v"), done)
    assert over.wait(60)
    engine.close()
    assert order[: order.index("done") + 1][-2:] == ["sync", "done"]


def test_a_full_disk_refuses_writes_serves_reads_and_recovers(disk: FaultyDisk, tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path / "data")
    engine.write(lambda tx: tx.put(b"k", b"old"))
    disk.refuse = lambda _number, what, _file: apsw.FullError if what == "write" else None
    for _ in range(3):
        with pytest.raises(Unavailable, match="Full"):
            engine.write(lambda tx: tx.put(b"k", b"new"))
        assert engine.read(lambda reader: reader.get(b"k")) == b"old"
        assert engine.write(lambda tx: tx.get(b"k")) == b"old"
    disk.refuse = lambda *_: None
    engine.write(lambda tx: tx.put(b"k", b"new"))
    assert engine.read(lambda reader: reader.get(b"k")) == b"new"
    engine.close()


def test_a_failing_step_that_shares_a_lost_commit_is_not_answered_as_if_it_had_seen_it(
    disk: FaultyDisk, tmp_path: Path
) -> None:
    """Its answer may rest on what an earlier step of the same commit wrote, and that never happened."""
    engine = SqliteEngine.open(tmp_path / "data")
    go, outcomes = threading.Event(), []

    def done(_result: object, error: BaseException | None) -> None:
        outcomes.append(type(error))

    def refuse_if_present(tx: Transaction) -> None:
        if tx.get(b"k"):
            raise KeyError

    engine.submit(lambda tx: tx.put(b"k", b"v") if go.wait(60) else None, done)
    engine.submit(refuse_if_present, done)
    disk.refuse = lambda _number, what, _file: apsw.IOError if what == "sync" else None
    go.set()
    with pytest.raises(Unavailable):
        engine.write(lambda tx: tx.put(b"x", b"v"))
    disk.refuse = lambda *_: None
    engine.close()
    assert outcomes == [Unavailable, Unavailable]
