"""Appending to logs: rows that follow each other without a gap, in the order of their commits.

A log has a head, a row with the next position and the last time. A step only notes what it appends. When the step is
over, the engine reads the heads in its transaction, gives every note the next position of its log, and writes heads
and rows. So whoever sees a row sees all rows before it, whichever server wrote them, and a failed step leaves no gap.

All that one step appends has one time, and the times of a log never go back.
"""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple, Protocol

from hashrange.storage.errors import DamagedRow

_HEAD = Struct(">QQ")
_POSITION_BYTES = 8
TIME_BYTES = 8


class Append(NamedTuple):
    """What a step appends to a log."""

    head: bytes  # key of the log's head
    prefix: bytes  # of the keys of its rows
    time_us: int
    value: bytes


class Head(NamedTuple):
    """A log's head."""

    position: int  # of the next row
    last_time: int

    def encode(self) -> bytes:
        """The stored form."""
        return _HEAD.pack(self.position, self.last_time)


class Rows(Protocol):
    """As much of a transaction as this needs."""

    def get(self, key: bytes) -> bytes | None: ...

    def put(self, key: bytes, value: bytes) -> None: ...


def read_head(rows: Rows, key: bytes) -> Head:
    """The head of a log; one that is missing must not be begun anew, over the rows that are there."""
    stored = rows.get(key)
    if stored is None:
        raise DamagedRow(key)
    return Head(*_HEAD.unpack(stored))


def decode_head(stored: bytes) -> Head:
    """The head of a stored form."""
    return Head(*_HEAD.unpack(stored))


def row_key(prefix: bytes, position: int) -> bytes:
    """The key of the row at a position."""
    return prefix + position.to_bytes(_POSITION_BYTES, "big")


def position_of(key: bytes) -> int:
    """The position of the row at a key."""
    return int.from_bytes(key[-_POSITION_BYTES:], "big")


def time_of(row: bytes) -> int:
    """When a row was written, in microseconds since the epoch."""
    return int.from_bytes(row[:TIME_BYTES], "big")


def write(rows: Rows, appends: Sequence[Append]) -> None:
    """Give all appends of a step their places."""
    if len(appends) == 1:
        _write_one(rows, appends[0])
        return
    heads = {append.head: read_head(rows, append.head) for append in appends}
    moment = max(append.time_us for append in appends)
    moment = max(moment, *(head.last_time for head in heads.values()))
    stamp = moment.to_bytes(TIME_BYTES, "big")
    positions = {key: head.position for key, head in heads.items()}
    for append in appends:
        position = positions[append.head]
        rows.put(row_key(append.prefix, position), stamp + append.value)
        positions[append.head] = position + 1
    for key, position in positions.items():
        rows.put(key, Head(position, moment).encode())


def _write_one(rows: Rows, append: Append) -> None:
    """The same for what most steps append."""
    position, last_time = read_head(rows, append.head)
    moment = max(append.time_us, last_time)
    rows.put(row_key(append.prefix, position), moment.to_bytes(TIME_BYTES, "big") + append.value)
    rows.put(append.head, _HEAD.pack(position + 1, moment))
