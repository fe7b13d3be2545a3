"""Closing: everything submitted is finished first, and nothing works afterwards."""

from collections.abc import Callable

import pytest

from hashrange.storage.engine import Engine
from hashrange.storage.errors import Closed


def test_close_finishes_what_was_submitted(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    outcomes: list[object] = []
    for number in range(200):
        engine.submit(
            lambda tx, number=number: tx.put(b"%03d" % number, b"x"),
            lambda _result, error: outcomes.append(error),
        )
    engine.close()
    assert outcomes == [None] * 200


def test_what_was_written_is_there_when_opened_again(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    engine.write(lambda tx: (tx.put(b"k", b"v"), tx.add(b"c", 3)))
    in_memory = "in memory" in engine.description
    engine.close()
    engine = open_engine()
    expected = (None, 0) if in_memory else (b"v", 3)
    assert engine.read(lambda reader: (reader.get(b"k"), reader.counter(b"c"))) == expected
    engine.close()


def test_closing_twice_is_closing_once(engine: Engine) -> None:
    engine.close()
    engine.close()


def test_after_close_nothing_works_and_everything_says_so(engine: Engine) -> None:
    engine.read(lambda reader: reader.get(b"k"))
    engine.close()
    with pytest.raises(Closed):
        engine.read(lambda reader: reader.get(b"k"))
    with pytest.raises(Closed):
        engine.write(lambda tx: tx.put(b"k", b"v"))
    with pytest.raises(Closed):
        engine.maintain(1)
    errors: list[object] = []
    engine.submit(lambda tx: tx.put(b"k", b"v"), lambda _result, error: errors.append(type(error)))
    assert errors == [Closed]


def test_an_engine_describes_itself(engine: Engine) -> None:
    assert engine.description.startswith(("SQLite (", "PostgreSQL ("))
