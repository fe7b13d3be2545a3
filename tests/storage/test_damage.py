"""Damaged rows and pages: an error for whoever needs them, and for nobody else."""

import re
import threading
from pathlib import Path

import pytest

from hashrange.core.keys import encoding
from hashrange.storage import layout, store
from hashrange.storage.checksums import checked_counter, counter_complement, opened, sealed
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Corrupt, DamagedRow
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer
from storage.damage import flip, pages_with, run_sql


def test_a_checksum_covers_key_and_value() -> None:
    stored = sealed(b"key", b"value")
    assert opened(b"key", stored) == b"value"
    for at in range(len(stored)):
        for bit in range(8):
            changed = bytearray(stored)
            changed[at] ^= 1 << bit
            with pytest.raises(DamagedRow):
                opened(b"key", bytes(changed))
    for key, value in ((b"kez", stored), (b"key", stored[:-1]), (b"key", stored + b"\0"), (b"key", b"")):
        with pytest.raises(DamagedRow):
            opened(key, value)


def test_a_counter_is_checked_against_its_complement_and_its_key() -> None:
    complement = counter_complement(b"k", 5) - 7
    assert checked_counter(b"k", 12, complement) == 12
    for key, number, other in ((b"k", 13, complement), (b"k", 12, complement + 1), (b"l", 12, complement)):
        with pytest.raises(DamagedRow):
            checked_counter(key, number, other)


def fill(directory: Path) -> None:
    engine = SqliteEngine.open(directory)
    engine.write(lambda tx: [tx.put(b"%05d" % number, b"<%05d>" % number * 100) for number in range(2000)])
    engine.write(lambda tx: tx.add(b"counter", 7))
    engine.close()


def test_a_damaged_row_is_named_and_its_neighbours_are_read(tmp_path: Path) -> None:
    fill(tmp_path)
    run_sql(
        tmp_path,
        "UPDATE rows SET v = CAST(substr(v, 1, 10) || x'00' || substr(v, 12) AS BLOB) WHERE k = ?",
        (b"00500",),
    )
    engine = SqliteEngine.open(tmp_path)
    for _ in range(2):
        with pytest.raises(DamagedRow, match=b"00500".hex()):
            engine.read(lambda reader: reader.get(b"00500"))
        with pytest.raises(DamagedRow, match=b"00500".hex()):
            engine.read(lambda reader: list(store.stored_rows(reader, [b"00499", b"00500", b"00501"])))
        with pytest.raises(DamagedRow, match=b"00500".hex()):
            engine.write(lambda tx: tx.get(b"00500"))
        with pytest.raises(DamagedRow, match=b"00500".hex()):
            engine.read(lambda reader: list(reader.scan(b"00400", b"00600")))
    assert len(engine.read(lambda reader: list(reader.scan(b"00000", b"00500")))) == 500
    assert len(engine.read(lambda reader: list(reader.scan(b"00501", b"z")))) == 1499
    engine.write(lambda tx: tx.put(b"00500", b"whole again"))
    assert engine.read(lambda reader: reader.get(b"00500")) == b"whole again"
    engine.close()


def test_a_row_that_was_moved_is_damaged(tmp_path: Path) -> None:
    fill(tmp_path)
    run_sql(
        tmp_path, "UPDATE rows SET v = (SELECT v FROM rows WHERE k = ?) WHERE k = ?", (b"00001", b"00002")
    )
    engine = SqliteEngine.open(tmp_path)
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: reader.get(b"00002"))
    engine.close()


def test_a_damaged_counter_is_not_read_and_not_taken_for_zero(tmp_path: Path) -> None:
    fill(tmp_path)
    run_sql(tmp_path, "UPDATE counters SET n = n + 1")
    engine = SqliteEngine.open(tmp_path)
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: reader.counter(b"counter"))
    with pytest.raises(DamagedRow):
        engine.write(lambda tx: tx.counter(b"counter"))
    with pytest.raises(DamagedRow):
        engine.counters()
    engine.close()


def test_a_counter_that_damage_makes_zero_is_kept(tmp_path: Path) -> None:
    fill(tmp_path)
    run_sql(tmp_path, "UPDATE counters SET n = 0")
    engine = SqliteEngine.open(tmp_path)
    engine.maintain(10)
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: reader.counter(b"counter"))
    engine.close()


@pytest.mark.parametrize("isolation", ["locking", "serializable"])
@pytest.mark.parametrize("damage", ["n = n + 1", "n = 0", "complement = complement - 8"])
def test_a_damaged_counter_of_postgres_is_not_read_and_not_taken_for_zero(
    postgres: PostgresServer, schema: str, isolation: str, damage: str
) -> None:
    engine = PostgresEngine.open(postgres.url(), schema_name=schema, isolation=isolation)
    for key, amount in ((b"whole", 2), (b"counter", 7), (b"whole", 3)):
        engine.write(lambda tx, key=key, amount=amount: tx.add(key, amount))
    assert engine.counters() == [(b"counter", 7), (b"whole", 5)]
    postgres.execute(f"UPDATE {schema}.counters SET {damage} WHERE k = 'counter'")
    engine.maintain(10)
    for _ in range(2):
        with pytest.raises(DamagedRow, match=b"counter".hex()):
            engine.read(lambda reader: reader.counter(b"counter"))
        with pytest.raises(DamagedRow):
            engine.write(lambda tx: tx.counter(b"counter"))
        waiter: Waiter[int] = Waiter()
        engine.submit_read(lambda reader: reader.counter(b"counter"), waiter.done)
        with pytest.raises(DamagedRow):
            waiter.wait()
        with pytest.raises(DamagedRow):
            engine.counters()
    assert engine.read(lambda reader: reader.counter(b"whole")) == 5
    assert engine.write(lambda tx: tx.counter(b"whole")) == 5
    engine.close()


def prefixed(number: int) -> bytes:
    return layout.rows_prefix(7, layout.BASE_SLOT) + b"%05d" % number


def pages_of(directory: Path, number: int) -> set[int]:
    """The page of a row; none if a page that was split has another copy of it."""
    pages = pages_with(directory, b"<%05d>" % number * 100)
    return set(pages) if len(pages) == 1 else set()


def test_a_damaged_page_is_named_with_what_was_read_or_written(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(prefixed(number), b"<%05d>" % number * 100) for number in range(2000)])
    engine.close()
    # A row between two others of the same page: the key of one at its edge may be on a page above it.
    row, page = next(
        (number, page)
        for number in range(1000, 1100)
        for page in set.intersection(*(pages_of(tmp_path, number + step) for step in (-1, 0, 1)))
    )
    flip(tmp_path / "hashrange.db", page * PAGE_BYTES + 5000)
    engine = SqliteEngine.open(tmp_path)
    place = f"page {page + 1} of {re.escape(str(tmp_path))}/hashrange.db; "
    item = f"table number 7, item, key {(b'%05d' % row).hex()}"
    behind = f"table number 7, item, key {b'00500'.hex()} or behind it"
    key, start, end = prefixed(row), prefixed(500), encoding.prefix_end(layout.table_rows_prefix(7))
    for words, read in (
        (item, lambda reader: reader.get(key)),
        (behind, lambda reader: list(reader.scan(start, end))),
        (f"{behind}, before {b'01500'.hex()}", lambda reader: list(reader.scan(start, prefixed(1500)))),
        (behind, lambda reader: reader.joined(start, end, head=0, limit=1000)),
    ):
        with pytest.raises(Corrupt, match=place + words + "$"):
            engine.read(read)
    for words, write in (
        (item, lambda tx: tx.get(key)),
        (behind, lambda tx: list(tx.scan(start, end))),
        (behind, lambda tx: tx.clear(start, end, limit=1000)),
        (f"1 rows were written, the first of them: {item}", lambda tx: tx.put(key, b"new")),
    ):
        with pytest.raises(Corrupt, match=place + words + "$"):
            engine.write(write)
    engine.close()


def damaged_keys(engine: SqliteEngine) -> list[bytes]:
    """The keys that cannot be read; all others have their value."""
    damaged = []
    for number in range(2000):
        key = b"%05d" % number
        try:
            assert engine.read(lambda reader, key=key: reader.get(key)) == b"<%05d>" % number * 100
        except Corrupt:
            damaged.append(key)
    return damaged


def test_a_damaged_page_spoils_only_itself(tmp_path: Path) -> None:
    fill(tmp_path)
    (page, *_) = pages_with(tmp_path, b"<01000>" * 100)
    flip(tmp_path / "hashrange.db", page * PAGE_BYTES + 4000)
    engine = SqliteEngine.open(tmp_path)
    assert 1 <= len(damaged_keys(engine)) <= 15
    with pytest.raises(Corrupt):
        engine.read(lambda reader: list(reader.scan(b"", b"z")))
    with pytest.raises(Corrupt):
        engine.write(lambda tx: list(tx.scan(b"", b"z")))
    assert len(engine.read(lambda reader: list(reader.scan(b"01100", b"z")))) == 900
    engine.close()


@pytest.mark.parametrize("step_kind", ["reads", "writes"])
def test_one_step_that_meets_a_damaged_page_does_not_fail_the_others_in_its_commit(
    tmp_path: Path, step_kind: str
) -> None:
    fill(tmp_path)
    (page, *_) = pages_with(tmp_path, b"<01000>" * 100)
    flip(tmp_path / "hashrange.db", page * PAGE_BYTES + 4000)
    engine = SqliteEngine.open(tmp_path)
    go, left = threading.Event(), threading.Semaphore(0)
    outcomes: dict[int, BaseException | None] = {}

    def submit(number: int, key: bytes) -> None:
        def step(tx: Transaction) -> None:
            go.wait(30)
            if step_kind == "reads":
                tx.get(key)
                tx.put(b"new %d" % number, b"v")
            else:
                tx.put(key, b"v")

        def done(_result: None, error: BaseException | None) -> None:
            outcomes[number] = error
            left.release()

        engine.submit(step, done)

    # The first and last keys on the way to the page may be in its parent, which is whole.
    victims = damaged_keys(engine)
    for number in range(20):
        submit(number, victims[len(victims) // 2] if number == 7 else b"%05d" % number)
    go.set()
    for _ in range(20):
        assert left.acquire(timeout=30)
    assert [number for number, error in sorted(outcomes.items()) if error is not None] == [7]
    assert isinstance(outcomes[7], Corrupt)
    engine.write(lambda tx: tx.put(b"later", b"v"))
    engine.close()


def test_a_damaged_row_on_postgresql_fails_its_own_step_only(postgres: PostgresServer, schema: str) -> None:
    engine = PostgresEngine.open(postgres.url(), schema_name=schema)
    engine.write(lambda tx: [tx.put(b"%02d" % number, b"value") for number in range(10)])
    postgres.execute(f"UPDATE {schema}.rows SET v = 'broken'::bytea WHERE k = '05'::bytea")
    left = threading.Semaphore(0)
    outcomes: dict[int, BaseException | None] = {}

    def submit(number: int) -> None:
        key = b"%02d" % number

        def done(_result: None, error: BaseException | None) -> None:
            outcomes[number] = error
            left.release()

        engine.submit(lambda tx: tx.put(b"new", tx.get(key) or b""), done, reads=(key,))

    for number in range(10):
        submit(number)
    for _ in range(10):
        assert left.acquire(timeout=30)
    assert [number for number, error in sorted(outcomes.items()) if error is not None] == [5]
    assert isinstance(outcomes[5], DamagedRow)
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: list(reader.scan(b"", b"z")))
    engine.close()
