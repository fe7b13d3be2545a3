"""While a commit of the event loop is on its way to the disk: nobody is told of it, and nobody sees it."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from hashrange.storage.engine import Joined, Reader, Transaction
from hashrange.storage.errors import StorageError, Unavailable
from hashrange.storage.sqlite import SqliteEngine, background_sync, sync_placement, unsynced
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.unsynced import UnsyncedCommit
from storage.held_sync import HeldSync
from storage.watched_loop import Outcomes, WatchedLoop

if background_sync.helper is None:
    pytest.skip("the helpers were not built", allow_module_level=True)

ITEM = b"\x10item"  # of a kind that the cache of rows keeps
OTHER = b"\x10other"
SECONDS = 5.0  # the timeout of an event loop's reads


@pytest.fixture(autouse=True, params=["synced beside the loop", "made beside the loop"])
def always(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    monkeypatch.setattr(sync_placement, "PROBE_COMMITS", 1)
    if request.param == "made beside the loop":
        monkeypatch.setattr(unsynced, "ROWS_MIN", 1)
    return str(request.param)


@pytest.fixture
def sync(monkeypatch: pytest.MonkeyPatch) -> HeldSync:
    return HeldSync(monkeypatch)


@pytest.fixture
def loop() -> WatchedLoop:
    return WatchedLoop()


@pytest.fixture
def engine(tmp_path: Path, loop: WatchedLoop, sync: HeldSync) -> Iterator[SqliteEngine]:
    opened = loop.open(tmp_path / "data")
    write(opened, loop, ITEM, b"old")
    yield opened
    sync.release()
    opened.close()


def submit(engine: SqliteEngine, key: bytes, value: bytes) -> Outcomes:
    outcomes = Outcomes()

    def step(tx: Transaction) -> str:
        before = tx.get(key)
        tx.put(key, value)
        tx.add(b"writes", 1)
        return f"after {before!r}"

    engine.submit(step, outcomes.done)
    return outcomes


def write(engine: SqliteEngine, loop: WatchedLoop, key: bytes, value: bytes) -> None:
    outcomes = submit(engine, key, value)
    loop.run_until(lambda: bool(outcomes))
    assert isinstance(outcomes[0], str)


def submit_unsynced(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync, value: bytes = b"new"
) -> Outcomes:
    """A commit that is made and waits for the disk."""
    sync.is_held = True
    outcomes = submit(engine, ITEM, value)
    for _ in range(3):
        loop.run_once()
    assert engine._unsynced is not None
    assert engine._unsynced.number
    assert outcomes == []
    return outcomes


def get(engine: SqliteEngine, key: bytes = ITEM) -> bytes | None:
    """As an event loop reads."""
    return engine.read(lambda reader: reader.get(key), seconds=SECONDS)


def everything(reader: Reader) -> list[tuple[bytes, bytes]]:
    return list(reader.scan(b"\x10", b"\x11"))


def test_the_loop_sees_a_commit_when_it_is_on_disk(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    assert get(engine) == b"old"  # in the cache from now on
    outcomes = submit_unsynced(engine, loop, sync)
    assert engine.at_hand(ITEM) == b"old"
    for _ in range(2):
        assert get(engine) == b"old"
        assert engine.read(everything, seconds=SECONDS) == [(ITEM, b"old")]
        assert engine.read(lambda reader: reader.counter(b"writes"), seconds=SECONDS) == 1
    assert engine.read(lambda reader: reader.get_many([ITEM, OTHER]), seconds=SECONDS) == [b"old", None]  # type: ignore[attr-defined]
    sync.release()
    loop.run_until(lambda: bool(outcomes))
    assert outcomes == ["after b'old'"]
    assert engine.at_hand(ITEM) == b"new"
    assert get(engine) == b"new"
    assert engine.read(everything, seconds=SECONDS) == [(ITEM, b"new")]
    assert engine.read(lambda reader: reader.counter(b"writes"), seconds=SECONDS) == 2


def test_rows_that_the_cache_has_not_are_those_before_the_commit(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    submit_unsynced(engine, loop, sync)
    assert engine._cache is not None
    engine._cache.wipe()
    assert get(engine) == b"old"
    sync.release()
    loop.run_until(lambda: get(engine) == b"new")


def test_another_thread_gives_its_result_when_what_it_saw_is_on_disk(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync, always: str
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)
    results: list[object] = []

    def fail(reader: Reader) -> None:
        raise LookupError(everything(reader))

    def read() -> None:
        results.append(engine.read(everything))

    def read_and_fail() -> None:
        try:
            engine.read(fail)
        except LookupError as error:
            results.append(error.args[0])

    readers = [threading.Thread(target=target) for target in (read, read_and_fail)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(0.2)
    assert results == []
    sync.release()
    loop.run_until(lambda: bool(outcomes))
    for reader in readers:
        reader.join(60)
    # A commit that is made beside the loop has not begun here.
    assert results == [[(ITEM, b"new" if always == "synced beside the loop" else b"old")]] * 2


def test_a_read_that_nobody_took_off_the_loops_thread_ends_the_commit(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync, always: str
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)
    sync.release()
    # One that is made beside the loop may not have been made yet when the read began.
    possible = [b"new"] if always == "synced beside the loop" else [b"new", b"old"]
    assert engine.read(everything) in [[(ITEM, value)] for value in possible]
    assert outcomes == ["after b'old'"]


def test_what_the_cache_has_and_what_a_reader_has_are_never_of_two_commits(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer thread ends a commit while a step of the loop has looked into the cache, and goes on to a reader."""
    released, goes_on = threading.Event(), threading.Event()
    release = UnsyncedCommit._release

    def slow_release(unsynced: UnsyncedCommit) -> None:
        release(unsynced)
        released.set()
        goes_on.wait(60)

    def put_both(tx: Transaction, value: bytes) -> None:
        tx.get(ITEM)
        tx.put(ITEM, value)
        tx.put(OTHER, value)

    for value in (b"1", b"2"):
        outcomes = Outcomes()
        sync.is_held = value == b"2"
        engine.submit(partial(put_both, value=value), outcomes.done)
        if value == b"1":
            loop.run_until(lambda outcomes=outcomes: bool(outcomes))
            assert get(engine) == b"1"
    for _ in range(3):
        loop.run_once()
    sync.release()
    monkeypatch.setattr(UnsyncedCommit, "_release", slow_release)
    writer = threading.Thread(target=engine._committer.finish_unsynced)

    def pair(reader: Reader) -> tuple[bytes | None, bytes | None]:
        first = reader.get(ITEM)
        if not released.is_set():
            writer.start()
            assert released.wait(60)
        return first, dict(reader.scan(OTHER, OTHER + b"\0"))[OTHER]

    first, second = engine.read(pair, seconds=SECONDS)
    goes_on.set()
    writer.join(60)
    assert first == second


def test_the_loops_snapshot_does_not_outlast_the_commit(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    for _ in range(20):
        outcomes = submit_unsynced(engine, loop, sync)
        sync.release()
        engine.write(lambda tx: tx.put(OTHER, b"by the writer thread"))
        loop.run_until(lambda outcomes=outcomes: bool(outcomes))
        loop.run_until(lambda: engine._pinned is None)


def test_a_read_inside_of_a_read_waits_for_the_disk(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)
    sync.release()

    def nested(reader: Reader) -> tuple[object, object]:
        first = list(reader.scan(b"\x10", b"\x11"))
        return first, engine.read(everything, seconds=SECONDS)

    assert engine.read(nested, seconds=SECONDS) == ([(ITEM, b"old")], [(ITEM, b"new")])
    loop.run_until(lambda: bool(outcomes))


def test_a_reader_that_failed_is_not_used_again(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)

    def fail(reader: Reader) -> None:
        list(reader.scan(b"\x10", b"\x11"))
        raise apsw.IOError("made up")

    with pytest.raises(Unavailable):
        engine.read(fail, seconds=SECONDS)
    sync.release()
    assert engine.read(everything, seconds=SECONDS) == [(ITEM, b"new")]
    loop.run_until(lambda: bool(outcomes))
    write(engine, loop, ITEM, b"newer")
    assert get(engine) == b"newer"


def test_steps_that_come_meanwhile_share_the_next_commit_and_see_this_one(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    first = submit_unsynced(engine, loop, sync)
    second, third = submit(engine, ITEM, b"2"), submit(engine, ITEM, b"3")
    for _ in range(5):
        loop.run_once()
    assert [*first, *second, *third] == []
    sync.release()
    loop.run_until(lambda: bool(third))
    assert [*first, *second, *third] == ["after b'old'", "after b'new'", "after b'2'"]
    assert get(engine) == b"3"


def test_nobody_sees_the_commit_while_another_thread_is_ending_it(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    """The writer thread waits for the disk, and a read of the loop that has no snapshot of its own waits with it."""
    outcomes = submit_unsynced(engine, loop, sync)
    assert engine._unsynced is not None
    unsynced = engine._unsynced
    writer = threading.Thread(target=engine.write, args=(lambda tx: tx.put(b"\x11", b""),))
    writer.start()
    loop.run_until(lambda: unsynced._group is None)
    threading.Timer(0.1, sync.release).start()

    def nested(reader: Reader) -> tuple[object, object, int]:
        first = list(reader.scan(b"\x10", b"\x11"))
        return first, engine.read(everything, seconds=SECONDS), unsynced.number

    first, second, number = engine.read(nested, seconds=SECONDS)
    assert (first, second, number) == ([(ITEM, b"old")], [(ITEM, b"new")], 0)
    writer.join(60)
    loop.run_until(lambda: bool(outcomes))


@pytest.mark.parametrize("where", ["on the loop's thread", "on another thread"])
def test_who_blocks_for_a_write_need_not_wait_for_the_loop(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync, where: str
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)
    sync.release()
    seen: list[object] = []

    def block() -> None:
        seen.append(engine.write(lambda tx: tx.get(ITEM)))

    if where == "on the loop's thread":
        block()
    else:
        thread = threading.Thread(target=block)
        thread.start()
        thread.join(60)
    assert seen == [b"new"]
    loop.run_until(lambda: bool(outcomes))
    assert outcomes == ["after b'old'"]
    assert get(engine) == b"new"


def test_work_between_commits_waits_for_the_disk(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    outcomes = submit_unsynced(engine, loop, sync)
    threading.Timer(0.1, sync.release).start()
    assert engine.maintain(10) >= 0
    loop.run_until(lambda: bool(outcomes))
    write(engine, loop, ITEM, b"newer")


def test_closing_waits_for_the_disk_and_tells_of_the_commit(
    tmp_path: Path, loop: WatchedLoop, sync: HeldSync
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, ITEM, b"old")
    outcomes = submit_unsynced(engine, loop, sync)
    threading.Timer(0.1, sync.release).start()
    engine.close()
    loop.run_once()
    assert outcomes == ["after b'old'"]
    assert loop.watched == {}
    again = SqliteEngine.open(tmp_path / "data")
    assert again.read(everything) == [(ITEM, b"new")]
    again.close()


def test_after_a_sync_that_failed_writes_are_refused_until_a_restart(
    tmp_path: Path, loop: WatchedLoop, sync: HeldSync
) -> None:
    engine = loop.open(tmp_path / "data")
    write(engine, loop, ITEM, b"old")
    outcomes = submit_unsynced(engine, loop, sync)
    sync.code = apsw.SQLITE_IOERR_FSYNC
    sync.release()
    loop.run_until(lambda: bool(outcomes))
    sync.code = 0
    assert [type(outcome) for outcome in outcomes] == [Unavailable]
    assert "could not be synced" in str(outcomes[0])
    refused = submit(engine, ITEM, b"newer")
    loop.run_until(lambda: bool(refused))
    assert [type(outcome) for outcome in refused] == [Unavailable]
    with pytest.raises(Unavailable, match="restart the server"):
        engine.write(lambda tx: tx.put(ITEM, b"newer"))
    with pytest.raises(Unavailable, match="restart the server"):
        engine.write(lambda tx: tx.add(b"writes", 1))
    with pytest.raises(Unavailable, match="restart the server"):
        engine.maintain(10)
    assert get(engine) == b"new"
    log = tmp_path / "data" / "hashrange.db-wal"
    assert log.stat().st_size
    engine.close()
    assert log.stat().st_size  # it was not copied into the file: nobody knows what of it is on disk
    again = SqliteEngine.open(tmp_path / "data")
    again.write(lambda tx: tx.put(OTHER, b"again"))
    assert again.read(everything)[-1] == (OTHER, b"again")
    again.close()


def test_a_commit_that_fails_leaves_nobody_waiting(
    engine: SqliteEngine, loop: WatchedLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise apsw.IOError("made up")

    with monkeypatch.context() as patch:
        patch.setattr(engine._guard, "check", fail)
        outcomes = submit(engine, ITEM, b"lost")
        loop.run_until(lambda: bool(outcomes))
    assert [type(outcome) for outcome in outcomes] == [Unavailable]
    assert engine.read(everything) == [(ITEM, b"old")]
    assert get(engine) == b"old"
    write(engine, loop, ITEM, b"new")
    assert get(engine) == b"new"


@pytest.mark.parametrize("error", [apsw.IOError("made up"), OSError("made up")])
def test_a_snapshot_that_cannot_be_begun_fails_the_commit_only(
    engine: SqliteEngine, loop: WatchedLoop, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(SnapshotReader, "pin", fail)
        outcomes = submit(engine, ITEM, b"lost")
        loop.run_until(lambda: bool(outcomes))
    assert isinstance(outcomes[0], StorageError)
    assert engine.read(everything) == [(ITEM, b"old")]
    write(engine, loop, ITEM, b"new")
    assert get(engine) == b"new"


def test_a_commit_of_which_nobody_can_find_out_why_it_fails_is_told_of(
    engine: SqliteEngine, loop: WatchedLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(engine._guard, "check", fail)
        patch.setattr(engine._guard, "check_log", fail)
        outcomes = submit(engine, ITEM, b"lost")
        loop.run_until(lambda: bool(outcomes))
    assert isinstance(outcomes[0], StorageError)
    write(engine, loop, ITEM, b"new")
    assert get(engine) == b"new"


def test_steps_that_write_nothing_need_no_sync(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    sync.is_held = True
    outcomes = Outcomes()
    engine.submit(lambda tx: tx.get(ITEM), outcomes.done)
    loop.run_until(lambda: bool(outcomes))
    assert outcomes == [b"old"]


def test_pages_of_the_loop_are_of_the_commit_before(
    engine: SqliteEngine, loop: WatchedLoop, sync: HeldSync
) -> None:
    write(engine, loop, ITEM, b"v" * 100)
    for number in range(40):
        write(engine, loop, b"\x10page%02d" % number, b"v" * 100)
    outcomes = submit_unsynced(engine, loop, sync, b"w" * 100)

    def page(reader: Reader) -> Joined | None:
        assert reader.joined is not None
        return reader.joined(b"\x10", b"\x11", head=5, limit=100)

    joined = engine.read(page, seconds=SECONDS)
    assert joined is not None
    assert b"w" not in joined.rest
    sync.release()
    loop.run_until(lambda: bool(outcomes))
    joined = engine.read(page, seconds=SECONDS)
    assert joined is not None
    assert b"w" in joined.rest
