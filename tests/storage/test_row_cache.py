"""The cache of rows: whatever it answers, the file would have answered at that moment."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule

from hashrange.storage import layout
from hashrange.storage.engine import Engine, GetMany, Reader, Transaction
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from hashrange.storage.sqlite.row_cache import ROW_BYTES_MAX, RowCache
from sizes import size
from storage.faulty_disk import FaultyDisk
from storage.test_model import DiskMachine, Wide, keys

SECONDS = 60.0  # a timeout, by which the engine knows an event loop's step
KEY = layout.ROWS + b"key"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    opened = SqliteEngine.open(tmp_path / "data")
    yield opened
    opened.close()


def cache_of(engine: SqliteEngine) -> RowCache:
    cache = engine._cache
    assert cache is not None
    return cache


def get(engine: Engine, key: bytes = KEY) -> bytes | None:
    return engine.read(lambda reader: reader.get(key), seconds=SECONDS)


def put(engine: Engine, value: bytes, key: bytes = KEY) -> None:
    engine.write(lambda tx: tx.put(key, value))


def test_a_row_is_found_in_the_cache_after_it_was_read(engine: SqliteEngine) -> None:
    put(engine, b"one")
    assert cache_of(engine).find(KEY) is None
    assert get(engine) == b"one"
    assert cache_of(engine).find(KEY) == b"one"
    assert get(engine) == b"one"


def test_a_commit_changes_what_is_cached(engine: SqliteEngine) -> None:
    put(engine, b"one")
    get(engine)
    put(engine, b"two")
    assert cache_of(engine).find(KEY) == b"two"
    assert get(engine) == b"two"


def test_a_row_that_a_write_has_read_and_overwritten_is_cached(engine: SqliteEngine) -> None:
    put(engine, b"one")
    engine.write(lambda tx: tx.put(KEY, (tx.get(KEY) or b"") + b"+"))
    assert cache_of(engine).find(KEY) == b"one+"


def test_new_rows_push_nothing_out(engine: SqliteEngine) -> None:
    engine.write(lambda tx: [tx.put(KEY + bytes([number]), b"new") for number in range(9)])
    assert not cache_of(engine).recent


def test_a_deleted_row_is_not_found(engine: SqliteEngine) -> None:
    put(engine, b"one")
    get(engine)
    engine.write(lambda tx: tx.delete(KEY))
    assert get(engine) is None


def test_cleared_rows_are_not_found(engine: SqliteEngine) -> None:
    put(engine, b"one")
    get(engine)
    engine.write(lambda tx: tx.clear(layout.ROWS, layout.LOG, limit=10))
    assert get(engine) is None


def test_clearing_other_rows_leaves_the_cache_alone(engine: SqliteEngine) -> None:
    put(engine, b"one")
    get(engine)
    engine.write(lambda tx: tx.clear(layout.LOG, layout.LOG_HEAD, limit=10))
    assert cache_of(engine).find(KEY) == b"one"


@pytest.mark.parametrize("scans", [False, True])
def test_what_a_failed_step_wrote_is_not_cached(engine: SqliteEngine, scans: bool) -> None:
    put(engine, b"one")
    get(engine)

    def fail(tx: Transaction) -> None:
        tx.put(KEY, b"two")
        if scans:  # after that SQLite itself has the write, behind a savepoint
            assert list(tx.scan(layout.ROWS, layout.LOG)) == [(KEY, b"two")]
        raise ValueError

    with pytest.raises(ValueError):
        engine.write(fail)
    assert get(engine) == b"one"


def test_a_write_sees_its_own_rows_after_a_scan(engine: SqliteEngine) -> None:
    put(engine, b"one")
    get(engine)

    def step(tx: Transaction) -> bytes | None:
        tx.put(KEY, b"two")
        list(tx.scan(layout.ROWS, layout.LOG))
        return tx.get(KEY)

    assert engine.write(step) == b"two"
    assert get(engine) == b"two"


@pytest.mark.parametrize(("extra", "cached"), [(0, True), (1, False)])
def test_large_rows_are_not_cached(engine: SqliteEngine, extra: int, cached: bool) -> None:
    value = b"v" * (ROW_BYTES_MAX + extra)
    put(engine, b"small")
    get(engine)
    put(engine, value)
    assert get(engine) == value
    assert (cache_of(engine).find(KEY) is not None) is cached


def test_only_items_and_stamps_of_tables_are_cached(engine: SqliteEngine) -> None:
    keys = {
        prefix: prefix + b"key" for prefix in (layout.ROWS, layout.TABLE_VERSION, layout.LOG, layout.METRIC)
    }
    for key in keys.values():
        put(engine, b"one", key)
        get(engine, key)
    assert set(cache_of(engine).recent) == {keys[layout.ROWS], keys[layout.TABLE_VERSION]}


def test_a_cached_row_cannot_be_read_from_a_closed_engine(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path / "data")
    put(engine, b"one")
    get(engine)
    engine.close()
    with pytest.raises(Closed):
        get(engine)


def test_a_damaged_row_is_noticed_while_others_are_cached(engine: SqliteEngine) -> None:
    other = KEY + b"2"
    put(engine, b"one")
    get(engine)
    raw = layout.ROWS + b"raw"
    engine._writer.execute("INSERT INTO rows VALUES (?, ?)", (raw, b"no checksum"))
    put(engine, b"two", other)  # readers see what was written since

    def read(reader: Reader) -> list[bytes | None]:
        return [reader.get(KEY), reader.get(raw)]

    with pytest.raises(StorageError):
        engine.read(read, seconds=SECONDS)
    assert get(engine) == b"one"
    assert get(engine, other) == b"two"


def test_many_rows_come_from_both(engine: SqliteEngine) -> None:
    rows = {KEY + bytes([number]): bytes([number]) for number in range(6)}
    engine.write(lambda tx: [tx.put(*row) for row in rows.items()])
    asked = [*rows, KEY]
    for key in asked[::2]:
        get(engine, key)
    assert many(engine, asked) == [*rows.values(), None]
    assert many(engine, asked) == [*rows.values(), None]
    assert set(cache_of(engine).recent) == set(rows)


def many(engine: Engine, asked: list[bytes]) -> list[bytes | None] | None:
    def step(reader: Reader) -> list[bytes | None] | None:
        get_many: GetMany = reader.get_many  # type: ignore[attr-defined]
        return get_many(asked)

    return engine.read(step, seconds=SECONDS)


def test_the_cache_is_bounded_and_keeps_what_is_asked_for(engine: SqliteEngine) -> None:
    cache = cache_of(engine)
    cache._bytes_max = 10_000  # of each generation
    rows = [KEY + number.to_bytes(2, "big") for number in range(300)]
    engine.write(lambda tx: [tx.put(row, b"v" * 100) for row in rows])
    for row in rows:
        assert get(engine, row) == b"v" * 100
        assert get(engine, rows[0]) == b"v" * 100
        assert cache._bytes <= 10_000
    assert len(cache.recent) + len(cache.older) < 100
    assert cache.find(rows[0]) is not None


def test_a_failed_commit_empties_the_cache(tmp_path: Path) -> None:
    (tmp_path / "shadow").mkdir()
    disk = FaultyDisk(tmp_path / "shadow")
    try:
        engine = SqliteEngine.open(tmp_path / "data")
        put(engine, b"one")
        get(engine)
        disk.refuse = lambda _number, what, _file: apsw.IOError if what == "sync" else None
        with pytest.raises(StorageError):
            put(engine, b"two")
        disk.refuse = lambda _number, _what, _file: None
        assert cache_of(engine).find(KEY) is None
        put(engine, b"three")
        assert get(engine) == b"three"
        engine.close()
    finally:
        disk.unregister()


def test_an_engine_in_memory_has_a_cache_as_well() -> None:
    engine = MemoryEngine()
    other, missing = KEY + b"2", KEY + b"3"
    for key in (KEY, other):
        put(engine, b"one", key)
    assert get(engine) == b"one"
    assert engine._cache.find(KEY) == b"one"

    def get_many(reader: Reader) -> Any:
        many: Any = reader
        return many.get_many([KEY, other, missing])

    assert engine.read(get_many, seconds=SECONDS) == [b"one", b"one", None]
    assert engine._cache.find(other) == b"one"
    put(engine, b"two")
    engine.write(lambda tx: tx.delete(other))
    assert engine.read(get_many, seconds=SECONDS) == [b"two", None, None]
    engine.close()


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_row_at_hand_is_what_is_committed(kind: str, tmp_path: Path) -> None:
    engine = MemoryEngine() if kind == "memory" else SqliteEngine.open(tmp_path)
    put(engine, b"one")
    assert engine.at_hand(KEY) is None  # nobody has read it
    assert get(engine) == b"one"
    assert engine.at_hand(KEY) == b"one"
    put(engine, b"two")
    assert engine.at_hand(KEY) == b"two"
    engine._cache.begin_commit()  # type: ignore[union-attr]
    assert engine.at_hand(KEY) is None
    engine._cache.end_commit({KEY: b"three"}, set())  # type: ignore[union-attr]
    assert engine.at_hand(KEY) == b"three"
    engine.write(lambda tx: tx.delete(KEY))
    assert engine.at_hand(KEY) is None
    put(engine, b"four")
    assert get(engine) == b"four"
    engine.close()
    assert engine.at_hand(KEY) is None


def test_a_read_within_a_step_that_fails_leaves_nothing_in_the_cache() -> None:
    engine = MemoryEngine()
    put(engine, b"one")

    def step(tx: Transaction) -> None:
        tx.put(KEY, b"undone")
        list(tx.scan(KEY, KEY + b"9"))  # the database has the write now
        engine.read(lambda reader: reader.get(KEY))
        raise ValueError

    with pytest.raises(ValueError):
        engine.write(step)
    assert get(engine) == b"one"
    engine.close()


def test_what_is_forgotten_is_given_back_little_by_little() -> None:
    cache = RowCache(lambda: 0, bytes_max=1_000_000)
    rows = [(layout.ROWS + b"%d" % number, b"v" * 100) for number in range(1000)]
    cache.keep(rows, 0)
    cache.wipe()
    assert cache.find(rows[0][0]) is None
    cache.keep(rows[:10], 0)
    left = sum(map(len, cache._forgotten))
    assert 900 < left < 1000
    cache.keep(rows[10:400], 0)
    assert cache._forgotten == []
    assert cache.find(rows[399][0]) is not None


@pytest.mark.parametrize("fails", [False, True])
def test_a_step_that_a_commit_came_into_is_run_again(engine: SqliteEngine, fails: bool) -> None:
    other, runs = KEY + b"2", []
    for key in (KEY, other):
        put(engine, b"old", key)
    get(engine)  # this one is cached, the other is not

    def write(tx: Transaction) -> None:
        for key in (KEY, other):
            tx.put(key, b"new")

    def read(reader: Reader) -> tuple[bytes | None, bytes | None]:
        first = reader.get(KEY)
        runs.append(first)
        if len(runs) == 1:
            thread = threading.Thread(target=engine.write, args=(write,))
            thread.start()
            thread.join()
            if fails:
                raise ValueError
        return first, reader.get(other)

    assert engine.read(read, seconds=SECONDS) == (b"new", b"new")
    assert runs == [b"old", b"new"]


def test_no_read_sees_half_of_a_commit(engine: SqliteEngine) -> None:
    pair, rounds = (KEY + b"1", KEY + b"2"), size(400, 4000)

    def write(number: int) -> None:
        value = number.to_bytes(4, "big")
        engine.write(lambda tx: [tx.put(key, value) for key in pair])

    def read(reader: Reader) -> list[bytes | None]:
        return [reader.get(key) for key in (*pair, pair[0])]

    write(0)
    writer = threading.Thread(target=lambda: [write(number) for number in range(rounds)])
    writer.start()
    seen = []
    while writer.is_alive():
        values = engine.read(read, seconds=SECONDS)
        assert len(set(values)) == 1
        seen.append(values[0])
    writer.join()
    assert engine.read(read, seconds=SECONDS)[0] == (rounds - 1).to_bytes(4, "big")
    assert seen == sorted(seen, key=lambda value: value or b"")


class Cached(Wide):
    """An engine whose keys are all such as are cached."""

    PAD = layout.ROWS

    def read(self, step: Any) -> Any:
        return self.inner.read(lambda reader: step(Cached(reader)))

    def write(self, step: Any) -> Any:
        return self.inner.write(lambda tx: step(Cached(tx)))

    def submit(self, step: Any, done: Any) -> None:
        self.inner.submit(lambda tx: step(Cached(tx)), done)


class CachedMachine(DiskMachine):
    """Random steps as on any engine, and reads of single rows that the cache may answer."""

    def opener(self, directory: Path) -> Engine:
        opened = SqliteEngine.open(directory)
        cache_of(opened)._bytes_max = 4_000  # so that generations follow each other
        cached: Any = Cached(opened)
        return cached

    @rule(key=keys)
    def get(self, key: bytes) -> None:
        engine: Any = self.engine
        assert get(engine.inner, Cached.PAD + key) == self.rows.get(key)

    @rule()
    def get_all(self) -> None:
        engine: Any = self.engine
        for key, value in self.rows.items():
            assert get(engine.inner, Cached.PAD + key) == value


class CachedMemoryMachine(CachedMachine):
    """The same in memory."""

    forgets = True

    def opener(self, directory: Path) -> Engine:
        opened = MemoryEngine()
        opened._cache._bytes_max = 4_000
        cached: Any = Cached(opened)
        return cached


@pytest.mark.slow
@pytest.mark.parametrize("machine", [CachedMachine, CachedMemoryMachine])
def test_a_cached_engine_is_a_sorted_dictionary(machine: type[CachedMachine]) -> None:
    case = machine.TestCase
    case.settings = settings(
        max_examples=size(15, 60) * settings().max_examples // size(100, 150),
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    case().runTest()
