"""Rows of a result that the compiled helper joins are those that Python joins."""

import ctypes
import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import pq
from psycopg.pq.abc import PGresult

from hashrange.storage.checksums import sealed
from hashrange.storage.engine import Joined
from hashrange.storage.postgres import joined_results
from hashrange.storage.postgres.batch_reader import Missing, Prefetched, Range
from hashrange.storage.postgres.long_keys import HEAD_BYTES
from hashrange.storage.postgres.read_ahead import ReadAhead
from hashrange.storage.sealing import SealedReader

if joined_results.helper is None:
    pytest.skip("the helpers were not built, or psycopg has no compiled libpq", allow_module_level=True)

HEAD = 5
START = b"\x10" + b"s" * 20
END = START + b"\xff"
BYTEA = 17

libpq = ctypes.CDLL(importlib.import_module(joined_results._LINKED[pq.__impl__]).__file__)
libpq.PQsetvalue.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int)

Rows = Sequence[tuple[bytes, bytes]]

keys = st.binary(max_size=6).map(lambda end: START + end) | st.just(START + b"l" * HEAD_BYTES)
sizes = st.sampled_from((0, HEAD - 1, HEAD, HEAD + 1, 20, 600, 70_000))
# What is stored: whole, shorter than a checksum, with another checksum, or under another key's.
damages = st.sampled_from(("whole",) * 12 + ("short", "changed", "moved"))


def pointer_to(result: PGresult) -> int:
    pointer = getattr(result, "pgresult_ptr")  # noqa: B009 - which psycopg's protocol leaves out
    assert isinstance(pointer, int)
    return pointer


def result_of(rows: Rows) -> PGresult:
    """What libpq has after a scan."""
    connection = pq.PGconn.connect_start(b"host=/nowhere")
    result = connection.make_empty_result(pq.ExecStatus.TUPLES_OK)
    result.set_attributes([pq.misc.PGresAttDesc(name, 0, 0, 1, BYTEA, -1, -1) for name in (b"k", b"v")])
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            assert libpq.PQsetvalue(pointer_to(result), number, column, cell, len(cell))
    assert result.ntuples == len(rows)
    return result


def reader_of(rows: Rows, *, reverse: bool = False, prefetched_rows: int = 128) -> SealedReader[Prefetched]:
    read_ahead = ReadAhead()
    read_ahead.learn(START, 256 * 1024 // prefetched_rows)
    key_range = Range(START, END, reverse, prefetched_rows)
    return SealedReader(Prefetched(read_ahead, ranges={key_range: result_of(rows)}))


@contextmanager
def without_helper() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_results, "helper", None)
        yield


def joined(reader: SealedReader[Prefetched], limits: Sequence[int], *, reverse: bool) -> list[object]:
    """What a step gets that takes so many rows after the other, and what it finds at the last one."""
    answers: list[object] = []
    start, end = START, END
    for limit in limits:
        try:
            assert reader.joined is not None
            rows = reader.joined(start, end, head=HEAD, limit=limit, reverse=reverse, separator=b", ")
        except Missing as missing:
            return [*answers, missing.read_key]
        answers.append(rows)
        if rows is None or not rows.rows:
            break
        answers.append(reader._stored.rows[rows.last])
        start, end = (start, rows.last) if reverse else (rows.last + b"\0", end)
    return answers


def stored(key: bytes, size: int, damage: str) -> bytes:
    form = sealed(key if damage != "moved" else key + b"!", (key * 20_000)[:size])
    if damage == "short":
        return form[:3]
    return form if damage != "changed" else bytes([form[0] ^ 1]) + form[1:]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(keys, sizes, damages), max_size=12, unique_by=lambda row: row[0]),
    st.lists(st.integers(1, 7), min_size=1, max_size=4),
    st.integers(8, 128),
    st.booleans(),
)
def test_the_helper_joins_what_python_joins(
    rows: list[tuple[bytes, int, str]], limits: list[int], prefetched_rows: int, reverse: bool
) -> None:
    page = [(key, stored(key, size, damage)) for key, size, damage in sorted(rows, reverse=reverse)]
    helped = joined(
        reader_of(page, reverse=reverse, prefetched_rows=prefetched_rows), limits, reverse=reverse
    )
    with without_helper():
        plain = joined(
            reader_of(page, reverse=reverse, prefetched_rows=prefetched_rows), limits, reverse=reverse
        )
    assert helped == plain


def test_rows_come_one_behind_the_other() -> None:
    page = [(START + b"%03d" % number, b"head!" + b"%d" % number) for number in range(100)]
    reader = reader_of([(key, sealed(key, value)) for key, value in page])
    parts = [part for part in joined(reader, [60, 40], reverse=False) if isinstance(part, Joined)]
    assert [part.rows for part in parts] == [60, 40]
    assert [part.last for part in parts] == [page[59][0], page[99][0]]
    assert b", ".join(part.rest for part in parts) == b", ".join(b"%d" % number for number in range(100))
    assert all(part.heads == b"head!" * part.rows for part in parts)


@pytest.mark.parametrize("damage", ["short", "changed", "moved"])
def test_a_damaged_row_is_not_joined(damage: str) -> None:
    row = START + b"1"
    assert joined(reader_of([(row, stored(row, 40, damage))]), [1], reverse=False) == [None]


def test_the_helper_looks_at_no_row_that_is_not_there() -> None:
    result = result_of([(START, sealed(START, b"head!rest"))])
    helper = joined_results.helper
    assert helper is not None
    for first, last in (*pairwise((-1, 0, 0)), (0, 2), (1, 2), (1, 0), (0, 1 << 40)):
        with pytest.raises(ValueError, match="out of range"):
            helper.joined(pointer_to(result), first, last, HEAD, b",", 100)
    with pytest.raises(ValueError, match="out of range"):
        helper.joined(0, 0, 1, HEAD, b",", 100)
    with pytest.raises(ValueError, match="out of range"):
        helper.joined(pointer_to(result), 0, 1, -1, b",", 100)
    with pytest.raises(TypeError):
        helper.joined(pointer_to(result), 0, 1, HEAD, ",", 100)
    assert helper.joined(pointer_to(result), 0, 1, HEAD, b",", 100) is not None


def test_a_result_that_was_cleared_is_left_to_python() -> None:
    result = result_of([(START, sealed(START, b"head!rest"))])
    result.clear()
    assert joined_results.join(result, 0, 1, head=HEAD, separator=b",") is None


def test_a_psycopg_without_compiled_libpq_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = joined_results.helper
    assert helper is not None
    monkeypatch.setattr(pq, "__impl__", "python")
    assert joined_results._bind(helper) is None
    assert psycopg.pq.__impl__ == "python"
