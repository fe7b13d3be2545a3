"""Commits with many rows, which the sync's thread stores and commits as well."""

import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import DiskFull, StorageError, Unavailable
from hashrange.storage.sqlite import SqliteEngine, background_sync, sync_placement, unsynced
from hashrange.storage.sqlite.background_sync import BackgroundSync, Ended
from hashrange.storage.sqlite.large_values import ROW_BYTES_MAX
from storage.faulty_disk import FaultyDisk
from storage.watched_loop import Outcomes, WatchedLoop

if background_sync.helper is None:
    pytest.skip("the helpers were not built", allow_module_level=True)

SECONDS = 5.0  # the timeout of an event loop's reads

Rows = list[tuple[bytes, bytes]]


class Ends:
    """How commits ended that the helper made or synced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stored: list[Ended] = []
        self._rows = False
        begin, wait = BackgroundSync.begin, BackgroundSync.wait

        def noted_begin(sync: BackgroundSync, rows: background_sync.Rows | None = None) -> None:
            self._rows = rows is not None
            begin(sync, rows)

        def noted_wait(sync: BackgroundSync, number: int) -> Ended:
            ended = wait(sync, number)
            if self._rows:
                self.stored.append(ended)
            return ended

        monkeypatch.setattr(BackgroundSync, "begin", noted_begin)
        monkeypatch.setattr(BackgroundSync, "wait", noted_wait)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Ends:
    return Ends(monkeypatch)


@pytest.fixture
def loop() -> WatchedLoop:
    return WatchedLoop()


def rows_of(value: bytes, count: int = 100) -> Rows:
    return [(b"\x10%04d" % number, value) for number in range(count)]


def put(tx: Transaction, rows: Rows) -> str:
    before = tx.get(rows[0][0])
    for key, value in rows:
        tx.put(key, value)
    tx.add(b"rows", len(rows))
    return f"after {before!r}"


def submit(engine: SqliteEngine, rows: Rows) -> Outcomes:
    outcomes = Outcomes()
    engine.submit(lambda tx: put(tx, rows), outcomes.done)
    return outcomes


def write(engine: SqliteEngine, loop: WatchedLoop, rows: Rows) -> Any:
    outcomes = submit(engine, rows)
    loop.run_until(lambda: bool(outcomes))
    assert len(outcomes) == 1
    return outcomes[0]


def everything(reader: Reader) -> Rows:
    return list(reader.scan(b"\x10", b"\x11"))


def fail_once(disk: FaultyDisk) -> list[int]:
    """Have the next write to the log fail; gives the number of that operation, when it has."""
    failed: list[int] = []

    def refuse(number: int, what: str, file: str) -> type[apsw.Error] | None:
        if failed or what != "write" or not file.endswith("-wal"):
            return None
        failed.append(number)
        return apsw.IOError

    disk.refuse = refuse
    return failed


def test_one_with_many_rows_is_made_beside_the_loop(tmp_path: Path, loop: WatchedLoop, ends: Ends) -> None:
    engine = loop.open(tmp_path / "data")
    for value in (b"one", b"two", b"three"):
        assert isinstance(write(engine, loop, rows_of(value)), str)
        # As the loop reads, from the cache and without it, and as other threads read.
        assert engine.read(everything, seconds=SECONDS) == rows_of(value)
        assert engine.read(lambda reader: reader.get(b"\x100000"), seconds=SECONDS) == value
        assert engine.read(everything) == rows_of(value)
    assert engine.read(lambda reader: reader.counter(b"rows")) == 300
    assert [(ended.stage, ended.code) for ended in ends.stored] == [(3, 0)] * 3
    assert engine._commit_version.log_pages() == ends.stored[-1].log_pages > 0
    engine.write(lambda tx: put(tx, rows_of(b"four")))  # by the writer thread, of which SQLite tells again
    assert engine._commit_version.log_pages() > ends.stored[-1].log_pages
    engine.close()
    again = SqliteEngine.open(tmp_path / "data")
    assert again.read(everything) == rows_of(b"four")
    again.close()


@pytest.mark.parametrize(
    "rows",
    [
        rows_of(b"few", unsynced.ROWS_MIN - 1),
        [*rows_of(b"many"), (b"\x10large", b"v" * ROW_BYTES_MAX)],
        [*rows_of(b"many"), (b"\x10" + b"k" * ROW_BYTES_MAX, b"v")],
    ],
    ids=["few rows", "a large value", "a long key"],
)
def test_others_are_made_on_the_loop(tmp_path: Path, loop: WatchedLoop, ends: Ends, rows: Rows) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows)
    assert engine.read(everything) == sorted(rows)
    assert ends.stored == []
    engine.close()


def test_rows_that_replace_large_ones_are_stored_on_the_loop_after_all(
    tmp_path: Path, loop: WatchedLoop, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_placement, "PROBE_COMMITS", 1)  # also behind a commit with few rows
    engine = loop.open(tmp_path / "data")
    large = b"v" * 5000
    write(engine, loop, [(b"\x100000", large), (b"\x100050", large)])
    assert write(engine, loop, rows_of(b"new")) == f"after {large!r}"
    assert [ended.is_undone for ended in ends.stored] == [True]
    assert engine.read(everything) == rows_of(b"new")
    assert engine.read(lambda reader: reader.counter(b"rows")) == 102
    assert engine._writer.execute("SELECT count(*) FROM large_values").get == 0
    write(engine, loop, rows_of(b"newer"))
    assert not ends.stored[-1].is_undone
    engine.close()


def test_nobody_sees_it_before_it_is_on_disk(disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    is_reached, may_go_on = threading.Event(), threading.Event()

    def hold(_number: int, what: str, file: str) -> None:
        if what == "sync" and file.endswith("-wal"):
            disk.lock.release()
            is_reached.set()
            may_go_on.wait(60)
            disk.lock.acquire()

    disk.refuse = hold
    outcomes = submit(engine, rows_of(b"new"))
    while not is_reached.is_set():
        loop.run_once()
    disk.refuse = lambda *_: None
    results: list[Rows] = []
    reader = threading.Thread(target=lambda: results.append(engine.read(everything)))
    reader.start()
    reader.join(0.2)
    assert results == []  # it has seen the commit, and waits for the disk
    assert outcomes == []
    assert engine.read(everything, seconds=SECONDS) == rows_of(b"old")
    assert engine.at_hand(b"\x100000") in (None, b"old")
    may_go_on.set()
    loop.run_until(lambda: bool(outcomes))
    reader.join(60)
    assert results == [rows_of(b"new")]
    assert engine.read(everything, seconds=SECONDS) == rows_of(b"new")
    engine.close()


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_a_disk_that_fails_fails_the_steps_and_leaves_nothing(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop, ends: Ends, error: type[apsw.Error]
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    disk.refuse = lambda _number, what, file: error if what == "write" and file.endswith("-wal") else None
    outcome = write(engine, loop, rows_of(b"new"))
    assert type(outcome) is (DiskFull if error is apsw.FullError else Unavailable)
    assert ends.stored[-1].is_undone
    disk.refuse = lambda *_: None
    assert engine.read(everything) == engine.read(everything, seconds=SECONDS) == rows_of(b"old")
    assert isinstance(write(engine, loop, rows_of(b"newer")), str)
    assert engine.read(everything) == rows_of(b"newer")
    assert engine.read(lambda reader: reader.counter(b"rows")) == 200
    engine.close()


def test_a_fault_that_passes_is_not_noticed(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop, ends: Ends
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    failed = fail_once(disk)
    assert write(engine, loop, rows_of(b"new")) == "after b'old'"
    assert failed
    assert [ended.is_undone for ended in ends.stored] == [False, True]
    assert engine.read(everything) == rows_of(b"new")
    engine.close()


@pytest.mark.parametrize("count", [unsynced.ROWS_MIN - 1, unsynced.ROWS_MIN, 100])
def test_on_a_full_disk_the_log_is_emptied_for_it(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop, ends: Ends, count: int
) -> None:
    """The snapshot that the loop began for it would keep the log from being emptied."""
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    engine.read(everything, seconds=SECONDS)
    truncated: list[int] = []

    def is_full(number: int, what: str, file: str) -> type[apsw.Error] | None:
        if what == "truncate" and file.endswith("-wal"):
            truncated.append(number)
        return apsw.FullError if what == "write" and file.endswith("-wal") and not truncated else None

    disk.refuse = is_full
    assert write(engine, loop, rows_of(b"new", count)) == "after b'old'"
    disk.refuse = lambda *_: None
    assert truncated
    assert engine.read(lambda reader: reader.get(b"\x100000")) == b"new"
    engine.close()


def test_one_that_did_not_come_off_comes_before_what_others_write(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    failed = fail_once(disk)
    outcomes = submit(engine, rows_of(b"new"))
    for _ in range(2):
        loop.run_once()
    # Another thread ends it, and its own step waits for a commit behind it.
    results: list[str] = []
    thread = threading.Thread(
        target=lambda: results.append(engine.write(lambda tx: put(tx, rows_of(b"newer"))))
    )
    thread.start()
    loop.run_until(lambda: bool(outcomes) and bool(results))
    thread.join(60)
    assert failed
    assert outcomes == ["after b'old'"]
    assert results == ["after b'new'"]
    assert engine.read(everything, seconds=SECONDS) == rows_of(b"newer")
    engine.close()


def test_one_that_changes_nothing_leaves_the_log_as_it_is(
    tmp_path: Path, loop: WatchedLoop, ends: Ends
) -> None:
    engine = loop.open(tmp_path / "data")

    def same(tx: Transaction) -> None:
        for key, value in rows_of(b"same"):
            tx.put(key, value)

    engine.write(same)
    pages = engine._commit_version.log_pages()
    assert pages
    for _ in range(2):
        outcomes = Outcomes()
        engine.submit(same, outcomes.done)
        loop.run_until(lambda outcomes=outcomes: bool(outcomes))
    assert [ended.is_undone for ended in ends.stored] == [False, False]
    assert engine._commit_version.log_pages() == pages
    engine.close()


def test_readers_that_wait_for_it_may_outlast_the_engine(tmp_path: Path, loop: WatchedLoop) -> None:
    """They come back from waiting when what they waited with may be given back already."""
    for number in range(20):
        engine = loop.open(tmp_path / f"data{number}")
        stops = threading.Event()

        def read(engine: SqliteEngine = engine, stops: threading.Event = stops) -> None:
            with suppress(StorageError):  # the engine is closed
                while not stops.is_set():
                    engine.read(lambda reader: reader.get(b"\x100000"))

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        write(engine, loop, rows_of(b"old"))
        outcomes = submit(engine, rows_of(b"new"))
        for _ in range(2):
            loop.run_once()
        engine.close()
        stops.set()
        for thread in threads:
            thread.join(60)
        assert outcomes == ["after b'old'"]


def test_after_a_commit_that_failed_nothing_comes_from_the_cache(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop, ends: Ends
) -> None:
    """As on the loop: nobody knows what such a commit has done."""
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    engine.read(lambda reader: reader.get(b"\x100001"), seconds=SECONDS)
    assert engine.at_hand(b"\x100001") == b"old"
    disk.refuse = lambda _number, what, file: (
        apsw.IOError if what == "write" and file.endswith("-wal") else None
    )
    submit(engine, rows_of(b"new"))
    loop.run_until(lambda: len(ends.stored) == 2)
    assert ends.stored[-1].is_doubtful
    assert engine.at_hand(b"\x100001") is None
    disk.refuse = lambda *_: None
    loop.run_once()
    engine.close()


def test_after_a_failed_sync_nothing_is_acknowledged_any_more(
    disk: FaultyDisk, tmp_path: Path, loop: WatchedLoop
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, rows_of(b"old"))
    disk.refuse = lambda _number, what, file: (
        apsw.IOError if what == "sync" and file.endswith("-wal") else None
    )
    assert "could not be synced" in str(write(engine, loop, rows_of(b"new")))
    disk.refuse = lambda *_: None
    assert isinstance(write(engine, loop, rows_of(b"newer")), StorageError)
    engine.close()


def test_closing_waits_for_it(tmp_path: Path, loop: WatchedLoop) -> None:
    engine = loop.open(tmp_path / "data")
    outcomes = submit(engine, rows_of(b"new"))
    loop.run_once()
    engine.close()
    loop.run_once()
    assert outcomes == ["after None"]
    again = SqliteEngine.open(tmp_path / "data")
    assert again.read(everything) == rows_of(b"new")
    again.close()


def test_its_rows_are_not_kept(tmp_path: Path, loop: WatchedLoop, ends: Ends) -> None:
    engine = loop.open(tmp_path / "data")
    value = b"v" * 1000
    before = sys.getrefcount(value)
    write(engine, loop, rows_of(value))
    assert len(ends.stored) == 1
    engine.write(lambda tx: tx.put(b"\x10other", b"v"))
    assert sys.getrefcount(value) == before
    engine.close()


def test_it_may_be_checkpointed_like_any_other(tmp_path: Path, loop: WatchedLoop, ends: Ends) -> None:
    engine = loop.open(tmp_path / "data")
    engine._checkpointer.limits = engine._checkpointer.limits._replace(start=8, most=16)
    engine._checkpointer._threshold, engine._checkpointer._wait_at = 8, 16
    for number in range(60):
        assert isinstance(write(engine, loop, rows_of(b"%03d" % number * 100, 64 + number)), str)
    assert len(ends.stored) > 30
    assert engine.read(everything) == rows_of(b"059" * 100, 64 + 59)
    engine.close()


operations = st.lists(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from((None, 1, 300, 1900, 5000))), min_size=1, max_size=6
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(operations)
def test_whatever_is_written_is_there(
    tmp_path_factory: pytest.TempPathFactory, commits: list[list[tuple[int, int | None]]]
) -> None:
    """Small and large values over one another, and rows that are removed: with the helper wherever it can do it."""
    loop, expected = WatchedLoop(), dict[bytes, bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unsynced, "ROWS_MIN", 1)
        directory = tmp_path_factory.mktemp("model") / "data"
        engine = loop.open(directory)
        for number, changes in enumerate(commits):
            outcomes = Outcomes()

            def step(tx: Transaction, number: int = number, changes: Any = changes) -> bool:
                for place, size in changes:
                    key = b"\x10%d" % place
                    if size is None:
                        tx.delete(key)
                    else:
                        tx.put(key, bytes([65 + number]) * size)
                return True

            for place, size in changes:
                key = b"\x10%d" % place
                expected.pop(key, None)
                if size is not None:
                    expected[key] = bytes([65 + number]) * size
            engine.submit(step, outcomes.done)
            loop.run_until(lambda outcomes=outcomes: bool(outcomes))
            assert outcomes == [True]
            assert engine.read(everything, seconds=SECONDS) == sorted(expected.items())
        engine.close()
        again = SqliteEngine.open(directory)
        assert again.read(everything) == sorted(expected.items())
        again.close()
