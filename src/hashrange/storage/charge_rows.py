"""What each process has charged lately, for the others on the same data: a row per process, a few seconds of charges.

A row holds the last turns of its process, each with a number and a time. Whoever reads it takes those turns that it
has not seen yet and that are not old; what a process misses because it did not look for longer is lost to it.
"""

from collections.abc import Sequence

import msgspec

from hashrange.capacity.admission import Charged
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

TURNS_KEPT = 10
GONE_SECONDS = 600.0  # after which the row of a process that has ended is removed by another


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """What a process has charged in about a second."""

    number: int
    time: float
    charges: tuple[Charged, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Turn, ...]).decode


def write(tx: Transaction, process: bytes, turns: Sequence[Turn]) -> None:
    """Write the row of a process."""
    tx.put(layout.CHARGES + process, _encode(tuple(turns)))


def remove(tx: Transaction, processes: Sequence[bytes]) -> None:
    """Remove the rows of processes that have ended."""
    for process in processes:
        tx.delete(layout.CHARGES + process)


def read(reader: Reader) -> dict[bytes, tuple[Turn, ...]]:
    """The turns of all processes."""
    rows = reader.scan(layout.CHARGES, encoding.prefix_end(layout.CHARGES))
    return {key[len(layout.CHARGES) :]: _decode(value) for key, value in rows}
