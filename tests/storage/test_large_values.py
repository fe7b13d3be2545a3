"""Large values of the embedded engine: apart from their keys, seen by nobody, and gone with their rows."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hashrange.storage.checksums import CHECKSUM_BYTES
from hashrange.storage.engine import Joined, Reader
from hashrange.storage.errors import DamagedRow
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.joined_rows import VALUE_BYTES_MAX as JOINED_VALUE_BYTES_MAX
from hashrange.storage.sqlite.large_values import ROW_BYTES_MAX
from hashrange.storage.sqlite.read_only import ReadOnlyStore
from storage.damage import run_sql

SMALL_MAX = ROW_BYTES_MAX - CHECKSUM_BYTES - len(b"key")
HEAD = 16


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    opened = SqliteEngine.open(tmp_path)
    yield opened
    opened.close()


def numbers(engine: SqliteEngine) -> list[int]:
    """The numbers of the large values, and of the rows that have one: they must be the same."""
    large = engine._writer.execute("SELECT id FROM large_values ORDER BY id").fetchall()
    rows = engine._writer.execute("SELECT v FROM rows WHERE typeof(v) = 'integer' ORDER BY v").fetchall()
    assert large == rows
    return [int(str(number)) for (number,) in rows]


def put(engine: SqliteEngine, key: bytes, value: bytes) -> None:
    engine.write(lambda tx: tx.put(key, value))


def joined(reader: Reader) -> Joined | None:
    assert reader.joined is not None
    return reader.joined(b"", b"z", head=HEAD, limit=100)


def test_a_row_is_kept_together_up_to_the_limit(engine: SqliteEngine) -> None:
    put(engine, b"key", bytes(SMALL_MAX))
    assert numbers(engine) == []
    put(engine, b"key", bytes(SMALL_MAX + 1))
    assert len(numbers(engine)) == 1


@pytest.mark.parametrize("page_bytes_left", [8, 32])
def test_a_row_of_the_limit_needs_no_page_of_its_own(page_bytes_left: int) -> None:
    usable = 8192 - page_bytes_left
    types_bytes = 8  # of a record's header, at most
    assert (
        ROW_BYTES_MAX + types_bytes <= (usable - 12) * 64 // 255 - 23
    )  # https://sqlite.org/fileformat2.html


def test_2100_bytes_take_less_than_3000_on_disk(engine: SqliteEngine, tmp_path: Path) -> None:
    keys = [b"%08d" % number for number in range(900)]
    random.Random(1).shuffle(keys)
    engine.write(lambda tx: [tx.put(key, bytes(2100)) for key in keys])
    engine.close()
    assert (tmp_path / "hashrange.db").stat().st_size < len(keys) * 3000


def test_an_overwritten_large_value_keeps_its_place(engine: SqliteEngine) -> None:
    put(engine, b"key", b"1" * 5000)
    before = numbers(engine)
    put(engine, b"key", b"2" * 400_000)
    assert numbers(engine) == before
    assert engine.read(lambda reader: reader.get(b"key")) == b"2" * 400_000


def test_a_random_walk_leaves_what_a_dictionary_has_and_no_large_value_without_a_row(
    engine: SqliteEngine,
) -> None:
    source = random.Random(7)
    expected: dict[bytes, bytes] = {}
    for _ in range(60):
        writes = {}
        for _ in range(8):
            size = source.choice((0, 50, SMALL_MAX, SMALL_MAX + 1, 4000, 70_000))
            gone = source.random() < 0.3
            writes[b"k%02d" % source.randrange(30)] = None if gone else source.randbytes(size)
        engine.write(
            lambda tx, writes=writes: [
                tx.delete(key) if value is None else tx.put(key, value) for key, value in writes.items()
            ]
        )
        expected.update({key: value for key, value in writes.items() if value is not None})
        for key in (key for key, value in writes.items() if value is None):
            expected.pop(key, None)
        numbers(engine)
    assert dict(engine.read(lambda reader: list(reader.scan(b"", b"z")))) == expected
    for key, value in expected.items():
        assert engine.read(lambda reader, key=key: reader.get(key)) == value
        assert engine.write(lambda tx, key=key: tx.get(key)) == value
    while engine.write(lambda tx: tx.clear(b"", b"z", limit=4)):
        numbers(engine)
    assert numbers(engine) == []


def test_a_step_that_fails_after_a_flush_leaves_large_values_as_they_were(engine: SqliteEngine) -> None:
    put(engine, b"a", b"1" * 5000)

    def step(tx: object) -> None:
        tx.put(b"a", b"small")  # type: ignore[attr-defined]
        tx.put(b"b", b"2" * 5000)  # type: ignore[attr-defined]
        assert len(list(tx.scan(b"", b"z"))) == 2  # type: ignore[attr-defined]
        raise LookupError

    with pytest.raises(LookupError):
        engine.write(step)
    assert len(numbers(engine)) == 1
    assert engine.read(lambda reader: list(reader.scan(b"", b"z"))) == [(b"a", b"1" * 5000)]


def test_large_values_are_joined_with_small_ones_up_to_a_limit(engine: SqliteEngine) -> None:
    values = [b"%016d" % number + letter * size for number, (letter, size) in enumerate(
        ((b"a", 10), (b"b", 3000), (b"c", JOINED_VALUE_BYTES_MAX - CHECKSUM_BYTES - HEAD))
    )]  # fmt: skip
    engine.write(lambda tx: [tx.put(b"k%d" % number, value) for number, value in enumerate(values)])
    rows = engine.read(joined)
    assert rows is not None
    assert rows.heads == b"".join(value[:HEAD] for value in values)
    assert rows.rest == b",".join(value[HEAD:] for value in values)
    put(engine, b"k3", bytes(JOINED_VALUE_BYTES_MAX - CHECKSUM_BYTES + 1))
    assert engine.read(joined) is None


def test_a_large_value_that_is_lost_is_damage_until_it_is_written_again(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(b"a", b"1" * 5000), tx.put(b"b", b"2" * 5000)])
    engine.close()
    run_sql(tmp_path, "DELETE FROM large_values WHERE id = (SELECT v FROM rows WHERE k = ?)", (b"a",))
    engine = SqliteEngine.open(tmp_path)
    with pytest.raises(DamagedRow, match=b"a".hex()):
        engine.read(lambda reader: reader.get(b"a"))
    with pytest.raises(DamagedRow, match=b"a".hex()):
        engine.write(lambda tx: tx.get(b"a"))
    with pytest.raises(DamagedRow, match=b"a".hex()):
        engine.read(lambda reader: list(reader.scan(b"", b"z")))
    assert engine.read(joined) is None
    assert engine.read(lambda reader: reader.get(b"b")) == b"2" * 5000
    put(engine, b"a", b"3" * 5000)
    assert engine.read(lambda reader: reader.get(b"a")) == b"3" * 5000
    assert len(numbers(engine)) == 2
    engine.close()


def test_exchanged_large_values_do_not_pass(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(b"a", b"1" * 5000), tx.put(b"b", b"2" * 5000)])
    engine.close()
    run_sql(tmp_path, "UPDATE rows SET v = 3 - v")
    engine = SqliteEngine.open(tmp_path)
    for key in (b"a", b"b"):
        with pytest.raises(DamagedRow, match=key.hex()):
            engine.read(lambda reader, key=key: reader.get(key))
    engine.close()


def test_verify_counts_large_values_without_a_row(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    put(engine, b"a", b"1" * 5000)
    engine.close()
    store = ReadOnlyStore(tmp_path)
    assert list(store.structure_problems()) == []
    store.close()
    run_sql(tmp_path, "INSERT INTO large_values(v) VALUES (x'00')")
    store = ReadOnlyStore(tmp_path)
    assert list(store.structure_problems()) == ["1 large values belong to no row"]
    store.close()
