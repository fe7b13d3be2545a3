"""The shards of a table's change log: the hash range of each, its beginning and end, its parent.

Only the open ones are in the table's record, where every write finds its own; all of them have rows.
"""

from bisect import bisect_right
from functools import cached_property

import msgspec

from hashrange.core.keys.encoding import HASH_BYTES

NUMBER_UNIT = 10**20  # a sequence number's text is the position times this, plus the time in microseconds


class OpenShard(msgspec.Struct, frozen=True):
    """A shard that is written to: from `start` on in the hash space, up to the next one's start."""

    start: int
    number: int


class OpenLog(msgspec.Struct, frozen=True, dict=True):
    """The open shards of a table, by their place in the hash space."""

    stream: str  # label of the stream that the shards belong to; empty: of none
    opened_at: float  # when the youngest of them was opened
    shards: tuple[OpenShard, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each shard begins."""
        return tuple(shard.start for shard in self.shards)

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The numbers of the shards."""
        return frozenset(shard.number for shard in self.shards)

    def shard_of(self, key: bytes) -> int:
        """The number of the shard that an item's key belongs to."""
        if len(self.shards) == 1:
            return self.shards[0].number
        at = bisect_right(self.starts, int.from_bytes(key[:HASH_BYTES], "big")) - 1
        return self.shards[at].number


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """A shard's row. Positions are dense: every record has the one after that of the record before it."""

    number: int
    start: int
    stream: str
    parent: int | None = None
    created_at: float
    suffix: str  # of the id that clients see: eight hexadecimal digits
    first: int  # position of its first record, behind the last one of its parent
    last: int | None = None  # position of its last record once it is closed; first - 1 if it has none
    last_time: int | None = None  # of that record, in microseconds
    closed_at: float | None = None

    @property
    def id(self) -> str:
        """The id that clients see: it begins with the milliseconds of the creation."""
        return f"shardId-{int(self.created_at * 1000):020d}-{self.suffix}"


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Shard)


def encode(shard: Shard) -> bytes:
    """The stored form of a shard's row."""
    return _encoder.encode(shard)


def decode(stored: bytes) -> Shard:
    """The shard of a stored form."""
    return _decoder.decode(stored)


def sequence_number(position: int, time_us: int) -> str:
    """The sequence number that clients see: rising along a shard and from parent to child."""
    return str(position * NUMBER_UNIT + time_us)


def position_of(sequence_number: str) -> int:
    """The position that a sequence number stands for."""
    return int(sequence_number) // NUMBER_UNIT
