"""Rows of heat: what every worker has seen of the last minutes, on every engine."""

from functools import partial

import pytest

from capacity.load import Seen
from hashrange.capacity.heat import KEPT_MINUTES, Heat, Place
from hashrange.core import partitions
from hashrange.storage import heat_rows
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.heat_rows import HeatFlush
from schemas import item_key, table

NOW = 1_000_000 * 60.0
TABLE = table("pk:S", partitions=partitions.even(4))
PLACE: Place = (TABLE.number, 0)


def flush(engine: Engine, worker: bytes, heat: Heat) -> None:
    windows = HeatFlush.of(worker, heat.take_changed(100))

    def write(tx: Transaction) -> None:
        windows.write(tx)

    engine.write(write)


def seen(minute: int, units: float = 1.0) -> Seen:
    return Seen(NOW + 60 * minute, TABLE, None, item_key({"S": str(minute)}), write_units=units)


def test_windows_come_back_as_they_were_written(engine: Engine) -> None:
    heat = Heat()
    heat.observe([seen(minute, units=2.5) for minute in range(3)])
    flush(engine, b"worker-1", heat)
    now = NOW + 130
    stored = engine.read(partial(heat_rows.read, place=PLACE, now=now))
    assert stored == heat.windows(TABLE, None, now)
    assert sum(window.writes.units for window in stored) == 7.5


def test_a_window_is_written_again_while_it_grows(engine: Engine) -> None:
    heat = Heat()
    for total in (1.0, 2.0, 3.0):
        heat.observe([seen(0)])
        flush(engine, b"worker-1", heat)
        (window,) = engine.read(partial(heat_rows.read, place=PLACE, now=NOW))
        assert window.writes.units == total


def test_the_windows_of_all_workers_are_read_but_for_ones_own(engine: Engine) -> None:
    for worker in (b"worker-1", b"worker-2"):
        heat = Heat()
        heat.observe([seen(0)])
        flush(engine, worker, heat)
    assert len(engine.read(partial(heat_rows.read, place=PLACE, now=NOW))) == 2
    assert len(engine.read(partial(heat_rows.read, place=PLACE, now=NOW, but=b"worker-2"))) == 1


@pytest.mark.parametrize("gone", [False, True])
def test_what_is_too_old_is_forgotten(engine: Engine, gone: bool) -> None:
    heat = Heat()
    for minute in range(4):
        heat.observe([seen(minute)])
    flush(engine, b"worker-1", heat)
    now = NOW + 60 * (KEPT_MINUTES + 1)
    assert engine.read(partial(heat_rows.has_old, place=PLACE, now=now))
    assert engine.write(partial(heat_rows.forget, place=PLACE, now=now, gone=gone, most=10)) == (
        4 if gone else 2
    )
    assert not engine.read(partial(heat_rows.has_old, place=PLACE, now=now))
    assert engine.read(heat_rows.places) == ([] if gone else [PLACE])


def test_rows_of_a_future_that_the_clock_was_set_back_from_are_not_read(engine: Engine) -> None:
    heat = Heat()
    heat.observe([seen(60, units=1_000.0)])
    flush(engine, b"worker-1", heat)
    heat = Heat()
    heat.observe([seen(0)])
    flush(engine, b"worker-2", heat)
    (window,) = engine.read(partial(heat_rows.read, place=PLACE, now=NOW))
    assert window.writes.units == 1.0
