"""Reads on threads pause now and then: at every row they release Python's lock too shortly for the event loop."""

import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.sqlite import engine as engine_module
from hashrange.storage.sqlite.engine import SqliteEngine
from hashrange.storage.sqlite.pauses import BUSY_SECONDS, PAUSE_SECONDS, Pauses

ROWS = 40


class Paused:
    """A clock on which every look takes part of the time that a scan may be busy, and the pauses that come of it."""

    def __init__(self, looks: int) -> None:
        self._step = BUSY_SECONDS / looks
        self._times = count()
        self.pauses: list[float] = []

    def make(self) -> Pauses:
        return Pauses(lambda: next(self._times) * self._step, self.pauses.append)


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Paused:
    paused = Paused(10)
    monkeypatch.setattr(engine_module, "Pauses", paused.make)
    return paused


@pytest.fixture
def engine(tmp_path: Path, paused: Paused) -> Iterator[SqliteEngine]:
    del paused  # before the engine makes its readers
    engine = SqliteEngine.open(tmp_path)
    engine.write(_fill)
    yield engine
    engine.close()


def _fill(tx: Transaction) -> None:
    for number in range(ROWS):
        tx.put(b"row %03d" % number, b"value %d" % number)


def _scan(reader: Reader) -> list[tuple[bytes, bytes]]:
    return list(reader.scan(b"row", b"rox"))


def test_a_scan_without_a_timeout_pauses_whenever_it_was_busy_for_long(
    engine: SqliteEngine, paused: Paused
) -> None:
    assert len(engine.read(_scan)) == ROWS
    # Ten looks at the clock are not too long, the eleventh is; and one look begins the time after a pause. There is
    # a look for the step, one for the scan, and one for every row.
    assert paused.pauses == [PAUSE_SECONDS] * ((2 + ROWS) // 11)


@pytest.mark.parametrize("step", [lambda reader: reader.get(b"row 001"), lambda reader: reader.counter(b"n")])
def test_many_short_reads_pause_like_a_long_one(
    engine: SqliteEngine, paused: Paused, step: Callable[[Reader], object]
) -> None:
    for _ in range(ROWS):
        engine.read(step)
    assert len(paused.pauses) == ROWS // 11


def test_scans_without_rows_pause_too(engine: SqliteEngine, paused: Paused) -> None:
    def look(reader: Reader) -> None:
        for _ in range(ROWS):
            assert not list(reader.scan(b"none", b"none at all"))

    engine.read(look)
    assert len(paused.pauses) == (1 + ROWS) // 11


def test_a_long_read_of_the_pool_pauses(engine: SqliteEngine, paused: Paused) -> None:
    finished = threading.Event()
    engine.submit_read(_scan, lambda _result, _error: finished.set())
    assert finished.wait(60)
    assert paused.pauses


def test_a_step_with_a_timeout_never_pauses(engine: SqliteEngine, paused: Paused) -> None:
    """It runs on the event loop's thread."""
    for _ in range(ROWS):
        engine.read(lambda reader: reader.get(b"row 001"), seconds=60)
    assert len(engine.read(_scan, seconds=60)) == ROWS
    assert not paused.pauses


def test_what_a_scan_gives_is_the_same_with_pauses(engine: SqliteEngine) -> None:
    assert engine.read(_scan) == engine.read(_scan, seconds=60)
