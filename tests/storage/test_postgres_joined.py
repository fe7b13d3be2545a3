"""Pages in one piece on PostgreSQL: the rows that a scan gives, read once, with every checksum compared."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TypeVar

import pytest

from hashrange.core.keys.encoding import prefix_end
from hashrange.storage import layout
from hashrange.storage.checksums import opened_values, sealed
from hashrange.storage.engine import Joined, Reader, RowsAhead
from hashrange.storage.errors import DamagedRow
from hashrange.storage.postgres import PostgresEngine, batch_reader
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.read_ahead import JOINED_ROWS_MAX
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer
from storage.conftest import encrypted

T = TypeVar("T")
HEAD = 16
ROWS = 100


def collection(number: int) -> bytes:
    return layout.rows_prefix(1, layout.BASE_SLOT) + b"%08d" % number + b"\0\1p"


def value(number: int, size: int = 500) -> bytes:
    return b"%016d" % number + b"v" * size


@pytest.fixture(scope="module")
def engine(postgres: PostgresServer) -> Iterator[PostgresEngine]:
    """An engine with collections of 100 rows, of 300, and with a large, a long and a damaged row in one each."""
    with closing(PostgresEngine.open(postgres.url(), schema_name="joined")) as opened:
        for place, rows in enumerate((ROWS, 300, 10, 10)):
            prefix = collection(place)
            opened.write(
                lambda tx, prefix=prefix, rows=rows: [
                    tx.put(prefix + b"%04d" % number, value(number)) for number in range(rows)
                ]
            )
        opened.write(lambda tx: tx.put(collection(2) + b"0005" + bytes(2000), value(5)))
        damage = f"UPDATE joined.rows SET v = v || '\\x00' WHERE k = '\\x{(collection(3) + b'0005').hex()}'"
        postgres.execute(damage)
        read(opened, lambda reader: list(reader.scan(*ends(0), limit=1)))  # so that the size of rows is known
        yield opened
    postgres.execute("DROP SCHEMA joined CASCADE")


def ends(number: int) -> tuple[bytes, bytes]:
    return collection(number), prefix_end(collection(number))


def read(engine: PostgresEngine, step: Callable[[Reader], T]) -> T:
    waiter: Waiter[T] = Waiter()
    engine.submit_read(step, waiter.done, more=True)
    return waiter.wait()


def joined(
    number: int, limits: list[int], *, reverse: bool = False
) -> Callable[[Reader], list[bytes] | None]:
    """A step that takes a collection in pieces, and gives its values; None where this is not offered."""

    def step(reader: Reader) -> list[bytes] | None:
        start, end = ends(number)
        values: list[bytes] = []
        for limit in limits:
            if reader.joined is None:
                return None
            run: Joined | None = reader.joined(
                start, end, head=HEAD, limit=limit, reverse=reverse, separator=b"\n"
            )
            if run is None:
                return None
            heads = [run.heads[at : at + HEAD] for at in range(0, len(run.heads), HEAD)]
            rests = run.rest.split(b"\n") if run.rows else []
            values += [head + rest for head, rest in zip(heads, rests, strict=True)]
            start, end = (start, run.last) if reverse else (run.last + b"\0", end)
        return values

    return step


@pytest.mark.parametrize("reverse", [False, True])
def test_pieces_make_up_what_a_scan_gives_and_take_one_statement(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch, *, reverse: bool
) -> None:
    asked: list[int] = []
    call = batch_reader.Range.call

    def noted(each: batch_reader.Range) -> Call:
        asked.append(each.rows)
        return call(each)

    monkeypatch.setattr(batch_reader.Range, "call", noted)
    expected = [value(number) for number in range(ROWS)]
    if reverse:
        expected.reverse()
    assert read(engine, joined(0, [32, 128], reverse=reverse)) == expected
    assert read(engine, joined(0, [32, 8], reverse=reverse)) == expected[:40]
    assert asked == [JOINED_ROWS_MAX] * 2


def test_what_is_read_ahead_is_taken_in_one_piece(engine: PostgresEngine) -> None:
    def step(reader: Reader) -> tuple[int, int, int]:
        rows_ahead: RowsAhead = reader.rows_ahead  # type: ignore[attr-defined]
        assert reader.joined is not None
        run = reader.joined(*ends(0), head=HEAD, limit=rows_ahead(ends(0)[0]))
        return rows_ahead(ends(0)[0]), rows_ahead(b"unknown"), 0 if run is None else run.rows

    assert read(engine, step) == (JOINED_ROWS_MAX, 0, ROWS)


def test_the_last_row_of_a_piece_is_read_already(engine: PostgresEngine) -> None:
    def step(reader: Reader) -> bytes | None:
        assert reader.joined is not None
        run = reader.joined(*ends(0), head=HEAD, limit=10)
        assert run is not None
        return reader.get(run.last)

    assert read(engine, step) == value(9)


def test_a_collection_that_is_longer_gets_a_snapshot_of_its_own(engine: PostgresEngine) -> None:
    readers: list[object] = []

    def step(reader: Reader) -> int:
        readers.append(reader.joined)
        if reader.joined is None:
            return len(list(reader.scan(*ends(1))))
        runs = joined(1, [32, 128, 128])(reader)
        return len(runs or [])

    assert read(engine, step) == 300
    assert readers[-1] is None


def test_an_empty_range_has_no_rows(engine: PostgresEngine) -> None:
    assert read(engine, joined(7, [32])) == []


@pytest.mark.parametrize("place", [2, 3])
def test_long_keys_and_damaged_rows_are_left_to_scans(engine: PostgresEngine, place: int) -> None:
    assert read(engine, joined(place, [32])) is None
    scan = lambda reader: [stored for _, stored in reader.scan(*ends(place))]  # noqa: E731
    if place == 2:
        assert len(read(engine, scan)) == 11
    else:
        with pytest.raises(DamagedRow, match=b"0005".hex()):
            read(engine, scan)


def test_more_than_a_collection_is_left_to_scans(engine: PostgresEngine) -> None:
    def step(reader: Reader) -> Joined | None:
        assert reader.joined is not None
        return reader.joined(collection(0), ends(1)[1], head=HEAD, limit=32)

    assert read(engine, step) is None


def test_encrypted_rows_are_joined_too(postgres: PostgresServer, schema: str) -> None:
    with closing(encrypted(PostgresEngine.open(postgres.url(), schema_name=schema))) as opened:
        opened.write(lambda tx: [tx.put(collection(0) + b"%04d" % n, value(n)) for n in range(40)])
        steps: list[Callable[[Reader], list[bytes] | None]] = [
            partial(_first_row, ends(0)),  # learns how large rows are
            joined(0, [32]),
        ]
        for step in steps:
            waiter: Waiter[list[bytes] | None] = Waiter()
            opened.submit_read(step, waiter.done, more=True)
            values = waiter.wait()
        assert values == [value(number) for number in range(32)]


def _first_row(key_range: tuple[bytes, bytes], reader: Reader) -> list[bytes] | None:
    return [stored for _, stored in reader.scan(*key_range, limit=1)]


def test_one_changed_bit_among_many_rows_is_noticed() -> None:
    keys = [b"%d" % number for number in range(20)]
    stored = [sealed(key, value(number)) for number, key in enumerate(keys)]
    assert opened_values(keys, stored) == [value(number) for number in range(20)]
    assert opened_values([], []) == []
    for at in range(20):
        for place in (0, 3, 4, 20, -1):
            changed = bytearray(stored[at])
            changed[place] ^= 4
            assert opened_values(keys, [*stored[:at], bytes(changed), *stored[at + 1 :]]) is None
    assert opened_values(keys, [*stored[:5], b"", *stored[6:]]) is None
    assert opened_values([keys[1], keys[0], *keys[2:]], stored) is None
