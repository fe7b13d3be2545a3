"""The rows of heat: the last minutes of every table and index with traffic, as every worker has seen them.

A row is one minute of one worker and is written whole again while it grows, so that no two workers ever wait for each
other. A job deletes rows that are too old to matter.
"""

from collections.abc import Sequence

import msgspec

from hashrange.capacity.heat import KEPT_MINUTES, MINUTE_SECONDS, Place, Window
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

_NUMBER_BYTES, _SLOT_BYTES, _MINUTE_BYTES = 4, 2, 8
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Window).decode


class HeatFlush(msgspec.Struct, frozen=True):
    """Windows of one worker that are to be written."""

    worker: bytes
    windows: Sequence[tuple[Place, bytes]]  # encoded: they change while they wait

    @classmethod
    def of(cls, worker: bytes, windows: Sequence[tuple[Place, Window]]) -> "HeatFlush":
        """The windows as they are now."""
        return cls(worker, [(place, _minute(window.minute) + _encode(window)) for place, window in windows])

    def write(self, tx: Transaction) -> None:
        """Write them."""
        for place, row in self.windows:
            minute, encoded = row[:_MINUTE_BYTES], row[_MINUTE_BYTES:]
            tx.put(_place_key(place) + minute + self.worker, encoded)


def _minute(minute: int) -> bytes:
    return max(minute, 0).to_bytes(_MINUTE_BYTES, "big")


def _first_minute(now: float) -> int:
    return int(now // MINUTE_SECONDS) - KEPT_MINUTES + 1


def _place_key(place: Place) -> bytes:
    number, slot = place
    return layout.HEAT + number.to_bytes(_NUMBER_BYTES, "big") + slot.to_bytes(_SLOT_BYTES, "big")


def read(reader: Reader, place: Place, now: float, *, but: bytes = b"") -> list[Window]:
    """The last minutes of a table or index, of all workers, or of all `but` one."""
    prefix, first = _place_key(place), _first_minute(now)
    # There are rows of the future where the clock was set back. That of another server may be ahead by a little.
    rows = reader.scan(prefix + _minute(first), prefix + _minute(first + KEPT_MINUTES + 1))
    return [_decode(row) for key, row in rows if not but or not key.endswith(but)]


def places(reader: Reader) -> list[Place]:
    """All tables and indexes that have rows, without reading these."""
    found: list[Place] = []
    key = layout.HEAT
    while (row := next(iter(reader.scan(key, encoding.prefix_end(layout.HEAT), limit=1)), None)) is not None:
        place = _place_of(row[0])
        found.append(place)
        key = encoding.prefix_end(_place_key(place))
    return found


def _place_of(key: bytes) -> Place:
    end = len(layout.HEAT) + _NUMBER_BYTES
    return int.from_bytes(key[len(layout.HEAT) : end], "big"), int.from_bytes(
        key[end : end + _SLOT_BYTES], "big"
    )


def has_old(reader: Reader, place: Place, now: float) -> bool:
    """Whether there are rows that are too old to matter."""
    prefix = _place_key(place)
    rows = reader.scan(prefix, prefix + _minute(_first_minute(now)), limit=1)
    return next(iter(rows), None) is not None


def forget(tx: Transaction, place: Place, now: float, *, gone: bool, most: int) -> int:
    """Delete rows that are too old to matter, or all if the table is `gone`, up to so many; give how many."""
    prefix = _place_key(place)
    end = encoding.prefix_end(prefix) if gone else prefix + _minute(_first_minute(now))
    return tx.clear(prefix, end, limit=most)


def check(value: bytes) -> None:
    """Raise what decoding raises, if this is no row of ours."""
    _decode(value)
