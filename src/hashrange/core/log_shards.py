"""The shards of a table's change log: the key range of each, its beginning and end, its parent.

Only the open ones are in the table's record, where every write finds its own; all of them have rows.
"""

import re
from bisect import bisect_right
from functools import cached_property

import msgspec

from hashrange.core.limits import STREAM_SECONDS

# A sequence number is made of the position, 16 digits of the time in microseconds and four of the shard's number. Those
# make it unlike the numbers of other shards: programs take it for the name of a change.
_POSITION_UNIT = 10**20
_TIME_UNIT = 10**4
_ID = re.compile(r"shardId-[0-9]{20}-([0-9a-f]{8})", re.ASCII)
_MICROSECONDS = 1_000_000


class OpenShard(msgspec.Struct, frozen=True):
    """A shard that is written to: its keys go from `start` up to the next one's start."""

    start: bytes
    number: int


class OpenLog(msgspec.Struct, frozen=True, dict=True):
    """The open shards of a table, in the order of their keys."""

    stream: str  # label of the stream that the shards belong to; empty: of none
    opened_at: float  # when the youngest of them was opened
    shards: tuple[OpenShard, ...]

    @cached_property
    def starts(self) -> tuple[bytes, ...]:
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
        at = bisect_right(self.starts, key) - 1
        return self.shards[at].number


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """A shard's row. Positions are dense: every record has the one after that of the record before it."""

    number: int
    start: bytes
    stream: str
    parent_id: str | None = None  # of the shard whose place it took, or part of it
    created_at: float
    first: int  # position of its first record, behind the last one of its parent
    first_time: int  # that no record is older than, in microseconds
    last: int | None = None  # position of its last record once it is closed; first - 1 if it has none
    last_time: int | None = None  # of that record, in microseconds
    closed_at: float | None = None

    @property
    def id(self) -> str:
        """The id that clients see, with the milliseconds of the creation: the ids sort as the numbers do."""
        return f"shardId-{round(self.created_at * 1000):020d}-{self.number:08x}"

    @property
    def starting_number(self) -> str:
        """A sequence number before that of the first record, and behind all those of the parent."""
        return self.sequence_number(self.first, self.first_time - 1)

    @property
    def ending_number(self) -> str | None:
        """A sequence number that no record of the shard is behind; None while there may come more."""
        if self.last is None or self.last_time is None:
            return None
        if self.last < self.first:
            return self.starting_number
        return self.sequence_number(self.last, self.last_time)

    def sequence_number(self, position: int, time_us: int) -> str:
        """The number of a record that clients see: it rises along a shard and from parent to child."""
        return str(position * _POSITION_UNIT + time_us * _TIME_UNIT + self.number % _TIME_UNIT)

    def readable(self, now: float) -> bool:
        """Whether readers of a stream still find the shard: so long after its end nothing in it can be read."""
        return self.closed_at is None or self.closed_at > now - STREAM_SECONDS


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Shard)


def encode(shard: Shard) -> bytes:
    """The stored form of a shard's row."""
    return _encoder.encode(shard)


def decode(stored: bytes) -> Shard:
    """The shard of a stored form."""
    return _decoder.decode(stored)


def split_number(number: str) -> tuple[int, int]:
    """The position and the time that a sequence number stands for."""
    position, rest = divmod(int(number), _POSITION_UNIT)
    return position, rest // _TIME_UNIT


def number_in(shard_id: str) -> int | None:
    """The number of the shard with this id; None if no shard has an id of this form."""
    match = _ID.fullmatch(shard_id)
    return None if match is None else int(match[1], 16)


def microseconds(seconds: float) -> int:
    """A time of the clock as the log has it."""
    return int(seconds * _MICROSECONDS)
