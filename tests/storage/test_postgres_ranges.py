"""Ranges read ahead: as much as a step will want, and not many times that where rows are large."""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice

import pytest

from hashrange.storage.engine import Reader
from hashrange.storage.postgres import PostgresEngine, batch_reader
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.read_ahead import ROWS_MAX, ReadAhead
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer


@pytest.fixture
def engine(postgres: PostgresServer, schema: str) -> Iterator[PostgresEngine]:
    with closing(PostgresEngine.open(postgres.url(), schema_name=schema)) as opened:
        yield opened


def first_three(reader: Reader) -> list[int]:
    return [len(value) for _, value in islice(reader.scan(b"large0", b"large:"), 3)]


def read(engine: PostgresEngine) -> list[int]:
    waiter: Waiter[list[int]] = Waiter()
    engine.submit_read(first_three, waiter.done)
    return waiter.wait()


def test_large_rows_are_not_read_by_the_dozen(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.write(lambda tx: [tx.put(b"large%03d" % number, bytes(400_000)) for number in range(30)])
    asked: list[int] = []
    call = batch_reader.Range.call

    def noted(each: batch_reader.Range) -> Call:
        asked.append(each.rows)
        return call(each)

    monkeypatch.setattr(batch_reader.Range, "call", noted)
    assert [read(engine) for _ in range(3)] == [[400_000] * 3] * 3
    assert asked[0] == ROWS_MAX
    assert asked[1:] == [5, 5]


def test_what_was_learnt_in_one_place_does_not_count_in_another() -> None:
    read_ahead = ReadAhead()
    read_ahead.learn(b"table 1 key", 400_000)
    read_ahead.learn(b"table 2 key", 400)
    assert read_ahead.rows(b"table 1 other") < 10
    assert read_ahead.rows(b"table 2 other") == read_ahead.rows(b"table 3") == ROWS_MAX
    for _ in range(50):
        read_ahead.learn(b"table 1 key", 400)
    assert read_ahead.rows(b"table 1 other") == ROWS_MAX
    for number in range(5000):
        read_ahead.learn(b"%07d" % number, 400)
    assert len(read_ahead._row_bytes) <= 1024
