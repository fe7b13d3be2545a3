"""Rows: a sorted map of bytes, whatever the engine."""

import itertools
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from hashrange.storage import layout, store
from hashrange.storage.engine import Engine, Reader, Transaction

LAST = b"\xff" * 9
KEYS = [b"", b"\x00", b"\x00\x00", b"a", b"a\x00", b"aa", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]


def fill(engine: Engine, keys: list[bytes]) -> None:
    engine.write(lambda tx: [tx.put(key, b"value of " + key) for key in keys])


def keys_of(engine: Engine, start: bytes = b"", end: bytes = LAST, **options: Any) -> list[bytes]:
    return engine.read(lambda reader: [key for key, _ in reader.scan(start, end, **options)])


def test_a_row_reads_back(engine: Engine) -> None:
    engine.write(lambda tx: tx.put(b"k", b"v"))
    assert engine.read(lambda reader: reader.get(b"k")) == b"v"


def test_a_missing_row_is_none_and_an_empty_value_is_not(engine: Engine) -> None:
    engine.write(lambda tx: tx.put(b"k", b""))
    assert engine.read(lambda reader: (reader.get(b"k"), reader.get(b"no"))) == (b"", None)


def test_a_put_replaces_and_a_delete_removes(engine: Engine) -> None:
    engine.write(lambda tx: (tx.put(b"k", b"1"), tx.put(b"k", b"2"), tx.put(b"gone", b"x")))
    engine.write(lambda tx: (tx.put(b"k", b"3"), tx.delete(b"gone"), tx.delete(b"never there")))
    assert engine.read(lambda reader: list(reader.scan(b"", LAST))) == [(b"k", b"3")]


def test_keys_sort_as_unsigned_bytes(engine: Engine) -> None:
    fill(engine, KEYS[::-1])
    assert keys_of(engine) == KEYS
    assert keys_of(engine, reverse=True) == KEYS[::-1]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_range_has_its_start_and_lacks_its_end(engine: Engine, reverse: bool) -> None:
    fill(engine, KEYS)
    for start, end in itertools.product(KEYS, KEYS):
        expected = sorted((key for key in KEYS if start <= key < end), reverse=reverse)
        assert keys_of(engine, start, end, reverse=reverse) == expected, (start, end)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(-1, []), (0, []), (1, [b"a"]), (2, [b"a", b"a\x00"]), (99, [b"a", b"a\x00", b"aa"])],
)
def test_a_limit_takes_from_the_side_it_starts_on(engine: Engine, limit: int, expected: list[bytes]) -> None:
    fill(engine, KEYS)
    assert keys_of(engine, b"a", b"b", limit=limit) == expected
    assert keys_of(engine, b"a", b"b", limit=limit, reverse=True) == [b"aa", b"a\x00", b"a"][: len(expected)]


def test_an_unfinished_scan_does_no_harm(engine: Engine) -> None:
    fill(engine, KEYS)
    assert engine.read(lambda reader: next(reader.scan(b"a", LAST)))[0] == b"a"
    first = engine.write(lambda tx: (next(tx.scan(b"", LAST)), tx.put(b"\x00", b"new"))[0])
    assert first == (b"", b"value of ")
    assert engine.read(lambda reader: reader.get(b"\x00")) == b"new"


def test_several_scans_may_be_open_at_once(engine: Engine) -> None:
    fill(engine, [b"a", b"b", b"c"])

    def pairs(reader: Reader) -> list[tuple[bytes, bytes]]:
        up, down = reader.scan(b"", LAST), reader.scan(b"", LAST, reverse=True)
        return [(one[0], other[0]) for one, other in zip(up, down, strict=True)]

    expected = [(b"a", b"c"), (b"b", b"b"), (b"c", b"a")]
    assert engine.read(pairs) == expected
    assert engine.write(pairs) == expected


def test_a_large_value_reads_back_by_key_and_by_range(engine: Engine) -> None:
    sizes = [1, 1999, 2000, 2040, 8191, 8192, 8193, 409_600, 3_000_000]
    rows = [(b"%07d" % size, bytes([size % 251]) * size) for size in sizes]
    engine.write(lambda tx: [tx.put(key, value) for key, value in rows])
    assert engine.read(lambda reader: [reader.get(key) for key, _ in rows]) == [value for _, value in rows]
    assert engine.read(lambda reader: list(reader.scan(b"", LAST))) == rows


def test_a_scan_holds_a_bounded_part_of_its_range(engine: Engine) -> None:
    engine.write(lambda tx: [tx.put(b"%03d" % number, bytes(100_000)) for number in range(200)])
    for reverse in (False, True):
        tracemalloc.start()
        read = engine.read(lambda reader, reverse=reverse: count(reader.scan(b"", LAST, reverse=reverse)))
        written = engine.write(lambda tx, reverse=reverse: count(tx.scan(b"", LAST, reverse=reverse)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (read, written) == (200, 200)
        assert peak < 2_000_000


def count(rows: Iterator[tuple[bytes, bytes]]) -> int:
    return sum(1 for _ in rows)


def test_a_key_may_be_longer_than_dynamodb_allows(engine: Engine) -> None:
    keys = [b"k" * 3000, b"k" * 3000 + b"a", b"k" * 3001]
    fill(engine, keys)
    assert keys_of(engine) == sorted(keys)


def test_clear_removes_the_first_rows_of_a_range(engine: Engine) -> None:
    fill(engine, [b"%d" % number for number in range(10)])
    assert engine.write(lambda tx: tx.clear(b"2", b"8", limit=4)) == 4
    assert keys_of(engine) == [b"0", b"1", b"6", b"7", b"8", b"9"]
    assert engine.write(lambda tx: tx.clear(b"2", b"8", limit=4)) == 2
    assert engine.write(lambda tx: tx.clear(b"2", b"8", limit=4)) == 0
    assert keys_of(engine) == [b"0", b"1", b"8", b"9"]


@pytest.mark.parametrize(("start", "end", "limit"), [(b"1", b"1", 9), (b"2", b"1", 9), (b"0", b"9", 0)])
def test_clear_of_nothing_removes_nothing(engine: Engine, start: bytes, end: bytes, limit: int) -> None:
    fill(engine, [b"0", b"1", b"2"])
    assert engine.write(lambda tx: tx.clear(start, end, limit=limit)) == 0
    assert keys_of(engine) == [b"0", b"1", b"2"]


def test_a_transaction_sees_its_own_writes(engine: Engine) -> None:
    fill(engine, [b"a", b"b", b"c"])

    def step(tx: Transaction) -> list[object]:
        seen: list[object] = []
        tx.put(b"b", b"new")
        tx.delete(b"c")
        tx.put(b"d", b"more")
        seen.append([tx.get(key) for key in (b"a", b"b", b"c", b"d")])
        seen.append(list(tx.scan(b"b", LAST)))
        tx.put(b"c", b"back")
        seen.append(list(tx.scan(b"b", LAST, reverse=True, limit=2)))
        seen.append(tx.clear(b"b", b"d", limit=9))
        seen.append([tx.get(b"b"), tx.get(b"c")])
        tx.put(b"b", b"again")
        seen.append(list(tx.scan(b"", LAST)))
        return seen

    assert engine.write(step) == [
        [b"value of a", b"new", None, b"more"],
        [(b"b", b"new"), (b"d", b"more")],
        [(b"d", b"more"), (b"c", b"back")],
        2,
        [None, None],
        [(b"a", b"value of a"), (b"b", b"again"), (b"d", b"more")],
    ]
    assert keys_of(engine) == [b"a", b"b", b"d"]


def test_only_bytes_are_stored(engine: Engine) -> None:
    for key, value in ((b"k", "text"), ("text", b"v"), (b"k", None)):
        with pytest.raises(TypeError):
            engine.write(lambda tx, key=key, value=value: tx.put(key, value))
    assert keys_of(engine) == []


@pytest.mark.parametrize("length", [1999, 2000, 2001])
def test_long_keys_that_begin_alike_are_rows_of_their_own(engine: Engine, length: int) -> None:
    """Around the length from which PostgreSQL's engine splits keys: there, a key may look like its own beginning."""
    key, longer = b"k" * length, b"k" * length + b"\x41"

    def step(tx: Transaction) -> tuple[bytes | None, bytes | None]:
        tx.delete(key)
        return tx.get(longer), tx.get(key)

    engine.write(lambda tx: tx.put(longer, b""))
    assert engine.write(lambda tx: (tx.get(longer), tx.get(key))) == (b"", None)
    assert engine.write(lambda tx: (tx.get(key), tx.get(longer))) == (None, b"")
    assert engine.write(step) == (b"", None)
    assert engine.read(lambda reader: (reader.get(key), reader.get(longer))) == (None, b"")


def test_many_keys_at_once_give_what_each_gives_alone(engine: Engine) -> None:
    prefix = layout.rows_prefix(7, 0)  # of a table's rows, which one of the engines encrypts
    values = {prefix + b"%d" % number: b"x" * number * 100 for number in range(30)}
    engine.write(lambda tx: [tx.put(key, value) for key, value in values.items()])
    wanted = [*reversed(values), prefix + b"no", prefix + b"7", prefix]
    for keys in (wanted, wanted[:1], wanted[-1:], []):
        assert engine.read(lambda reader: list(store.stored_rows(reader, keys))) == [  # noqa: B023 - used at once
            values.get(key) for key in keys
        ]


def test_many_keys_with_a_large_value_are_read_one_by_one(engine: Engine) -> None:
    prefix = layout.rows_prefix(7, 0)
    keys = [prefix + b"%d" % number for number in range(5)]
    engine.write(lambda tx: [tx.put(key, b"x" * 100_000 if key is keys[3] else b"y") for key in keys])

    def look(reader: Any) -> tuple[Any, list[bytes | None]]:
        many = getattr(reader, "get_many", None)
        return None if many is None else many(keys), list(store.stored_rows(reader, keys))

    many, rows = engine.read(look)
    assert many is None
    assert [len(row or b"") for row in rows] == [1, 1, 1, 100_000, 1]
