"""The record of a movable clock: all servers on the same data must agree whether there is one, and how far it is ahead.

On a database that servers share, the first server decides, and the others must be started likewise. A data directory
has one server at a time, which may decide anew as long as its clock was not moved. One that was moved stays so: without
its clock the data would be from the future.
"""

import msgspec

from hashrange.durations import shown_duration
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import OpenError

READS = (layout.CLOCK,)  # the row that all of this is about: a hint for engines across a network
_FLAG = "--test-clock"
_MOMENT_MAX = 32_503_680_000.0  # the year 3000


class ClockRecord(msgspec.Struct, frozen=True):
    """What the row holds."""

    movable: bool
    ahead_seconds: float = 0.0

    def encode(self) -> bytes:
        """The stored form."""
        return msgspec.json.encode(self)


def stored_record(reader: Reader) -> ClockRecord | None:
    """The record; None if no server has decided yet."""
    stored = reader.get(layout.CLOCK)
    return None if stored is None else msgspec.json.decode(stored, type=ClockRecord)


def agree(engine: Engine, *, movable: bool) -> float:
    """Say at the start whether this server has a movable clock; give how far it is ahead. Raises if others disagree."""
    record = engine.read(stored_record)
    if record is None and not movable and not engine.shared:
        return 0.0
    if record is None or record.movable != movable:
        record = engine.write(lambda tx: _decide(tx, engine, movable=movable))
    return record.ahead_seconds


def _decide(tx: Transaction, engine: Engine, *, movable: bool) -> ClockRecord:
    record = stored_record(tx)
    if record is not None and record.movable != movable:
        if engine.shared or record.ahead_seconds:
            raise OpenError(_disagreement(engine.description, record))
        record = None
    if record is None:
        record = ClockRecord(movable)
        tx.put(layout.CLOCK, record.encode())
    return record


def _disagreement(place: str, record: ClockRecord) -> str:
    if not record.movable:
        return (
            f"the servers on {place} run without {_FLAG}: start this one without it, or use another database"
        )
    if record.ahead_seconds:
        ahead = shown_duration(int(record.ahead_seconds))
        return f"the clock of {place} was moved ahead by {ahead}: start the server with {_FLAG}"
    return f"the servers on {place} run with {_FLAG}: start this one with it, too, or use another database"


class MoveRefused(Exception):
    """The clock cannot be moved like this; the message is meant for the person who tried."""


def advance(tx: Transaction, seconds: float, *, base_now: float) -> float:
    """Move the clock by a span of time; give how far ahead of the base clock it is then."""
    return _save(tx, _movable(tx) + seconds, base_now=base_now)


def set_to(tx: Transaction, moment: float, *, base_now: float) -> float:
    """Move the clock to a moment that is still to come; give how far ahead of the base clock it is then."""
    if moment - base_now < _movable(tx):
        raise MoveRefused("the clock never goes back, and it is later already")
    return _save(tx, moment - base_now, base_now=base_now)


def _movable(tx: Transaction) -> float:
    record = stored_record(tx)
    if record is None or not record.movable:
        raise MoveRefused(f"the server was not started with {_FLAG}")
    return record.ahead_seconds


def _save(tx: Transaction, ahead_seconds: float, *, base_now: float) -> float:
    if base_now + ahead_seconds > _MOMENT_MAX:
        raise MoveRefused("the clock cannot be moved beyond the year 3000")
    tx.put(layout.CLOCK, ClockRecord(movable=True, ahead_seconds=ahead_seconds).encode())
    return ahead_seconds
