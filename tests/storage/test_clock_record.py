"""The record of the clock: servers on the same data agree about it, or do not start."""

from collections.abc import Callable
from functools import partial

import pytest

from hashrange.storage import clock_record, layout
from hashrange.storage.clock_record import ClockRecord, MoveRefused, agree, stored_record
from hashrange.storage.engine import Engine
from hashrange.storage.errors import OpenError
from hashrange.storage.verification.rows import problems_of
from hashrange.storage.verification.tables import read_tables

NOW = 1_700_000_000.0


def advance(engine: Engine, seconds: float) -> float:
    return engine.write(partial(clock_record.advance, seconds=seconds, base_now=NOW))


def set_to(engine: Engine, moment: float) -> float:
    return engine.write(partial(clock_record.set_to, moment=moment, base_now=NOW))


def test_moves_add_up_and_are_there_after_a_restart(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    assert agree(engine, movable=True) == 0
    assert advance(engine, 3600) == 3600
    assert advance(engine, 0.5) == 3600.5
    assert set_to(engine, NOW + 7200) == 7200
    assert agree(engine, movable=True) == 7200
    assert engine.read(stored_record) == ClockRecord(movable=True, ahead_seconds=7200)
    engine.close()


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (partial(set_to, moment=NOW + 99), "the clock never goes back, and it is later already"),
        (partial(set_to, moment=0), "the clock never goes back, and it is later already"),
        (partial(set_to, moment=32_503_680_001), "the clock cannot be moved beyond the year 3000"),
        (partial(advance, seconds=1e300), "the clock cannot be moved beyond the year 3000"),
    ],
)
def test_what_is_refused_changes_nothing(
    engine: Engine, move: Callable[[Engine], float], reason: str
) -> None:
    agree(engine, movable=True)
    advance(engine, 100)
    with pytest.raises(MoveRefused) as refusal:
        move(engine)
    assert str(refusal.value) == reason
    assert agree(engine, movable=True) == 100


@pytest.mark.parametrize("started", [True, False])
def test_a_clock_that_is_not_for_moving_is_not_moved(engine: Engine, started: bool) -> None:
    if started:
        agree(engine, movable=False)
    with pytest.raises(MoveRefused, match="not started with --test-clock"):
        advance(engine, 100)


def test_data_whose_clock_was_moved_needs_it(engine: Engine) -> None:
    agree(engine, movable=True)
    advance(engine, 129_600)
    with pytest.raises(OpenError, match=r"was moved ahead by 1d12h: start the server with --test-clock"):
        agree(engine, movable=False)


def test_a_database_keeps_to_what_its_first_server_said_and_a_directory_may_change(engine: Engine) -> None:
    for movable, reason in ((True, "run with --test-clock"), (False, "run without --test-clock")):
        engine.write(lambda tx: tx.delete(layout.CLOCK))
        assert agree(engine, movable=movable) == 0
        if engine.shared:
            with pytest.raises(OpenError, match=reason):
                agree(engine, movable=not movable)
            assert agree(engine, movable=movable) == 0
        else:
            assert agree(engine, movable=not movable) == 0
            assert agree(engine, movable=movable) == 0


def test_verify_knows_the_row(engine: Engine) -> None:
    agree(engine, movable=True)
    problems = engine.read(
        lambda reader: list(
            problems_of(reader, read_tables(reader, None), layout.CLOCK, reader.get(layout.CLOCK) or b"")
        )
    )
    assert problems == []
