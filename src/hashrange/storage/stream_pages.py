"""Reading a stream: its shards, places in them, and pages of records that are not too old to be read."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import orjson

from hashrange.core import effort
from hashrange.core.change_record import ChangeRecord, decode
from hashrange.core.items import item_size, stored_size
from hashrange.core.limits import STREAM_PAGE_BYTES_MAX, STREAM_SECONDS
from hashrange.core.log_shards import Shard, microseconds, number_in, split_number
from hashrange.storage import change_log
from hashrange.storage.engine import Reader
from hashrange.storage.stream_rows import Stream

_POSITION_MAX = 2**63
_RECORD_UNITS = 2_500  # to take a record apart and to render it: see core/effort.py


class Trimmed(Exception):
    """Records from there on were there once and can no longer be read."""


class NotWritten(Exception):
    """There was no record with that number or a higher one yet."""


class LogRecord(NamedTuple):
    """A record and its place."""

    position: int
    time_us: int
    change: ChangeRecord
    size: int  # of its keys and images, as items are measured


class RecordPage(msgspec.Struct):
    """Some records of a shard."""

    records: list[LogRecord]
    next_position: int | None  # None: the shard has ended, and there are no more


# Shards.


def shards(reader: Reader, stream: Stream, now: float, after: str | None = None) -> Iterator[Shard]:
    """The shards of a stream that can be read, in the order of their ids, those behind an id."""
    first = stream.first_shard
    number = None if after is None else number_in(after)
    if number is not None and number > first:
        shard = change_log.find_shard(reader, stream.table_number, number)
        if shard is not None and shard.id == after:
            first = number + 1
    for shard in change_log.shards(reader, stream.table_number, first):
        if shard.stream != stream.label:
            return
        if shard.readable(now) and (after is None or shard.id > after):
            yield shard


def find_shard(reader: Reader, stream: Stream, shard_id: str, now: float) -> Shard | None:
    """The shard with an id, if it can be read."""
    number = number_in(shard_id)
    shard = None if number is None else numbered_shard(reader, stream, number, now)
    return shard if shard is not None and shard.id == shard_id else None


def numbered_shard(reader: Reader, stream: Stream, number: int, now: float) -> Shard | None:
    """The shard with a number, if it can be read."""
    shard = change_log.find_shard(reader, stream.table_number, number)
    return shard if shard is not None and shard.stream == stream.label and shard.readable(now) else None


# Places in a shard.


def horizon(reader: Reader, stream: Stream, shard: Shard, now: float) -> int:
    """The position of the oldest record that can be read, or the end."""
    return change_log.position_at(reader, stream.table_number, shard, _horizon_us(now))


def latest(reader: Reader, stream: Stream, shard: Shard) -> int:
    """The position behind the youngest record."""
    return change_log.end_position(reader, stream.table_number, shard)


def at_time(reader: Reader, stream: Stream, shard: Shard, time_us: int, now: float) -> int:
    """The position of the first record that is not older than a time and can be read."""
    return change_log.position_at(reader, stream.table_number, shard, max(time_us, _horizon_us(now)))


def at_number(
    reader: Reader, stream: Stream, shard: Shard, number: str, now: float, *, behind: bool = False
) -> int:
    """The position of the first record with a sequence number that is not lower, or is higher.

    May raise `Trimmed`, or `NotWritten` for a number that is none of this shard: whoever began there would wait for
    ever. The number need not be that of a record: consumers also begin with the first one of the shard.
    """
    position, time_us = split_number(number)
    position = min(position, _POSITION_MAX)
    for at, written, _ in change_log.records(reader, stream.table_number, shard, position, limit=1):
        if at == position and (written < time_us or (behind and written == time_us)):
            position += 1
    end = latest(reader, stream, shard)
    if position > end:
        raise NotWritten
    if position < shard.first or (position < end and position < horizon(reader, stream, shard, now)):
        raise Trimmed
    return position


def _horizon_us(now: float) -> int:
    return microseconds(now - STREAM_SECONDS)


# Records.


def read_page(
    reader: Reader, stream: Stream, shard: Shard, position: int, *, limit: int, now: float
) -> RecordPage:
    """The next records of a shard, as many as one answer may have. May raise `Trimmed`.

    Records that are missing between others were lost when a damaged store was salvaged, which has told so. They are
    passed over: a consumer who is told that they were trimmed begins anew at the horizon, and comes here again.
    """
    records: list[LogRecord] = []
    oldest_us, size = _horizon_us(now), 0
    number, expected = stream.table_number, position
    for at, time_us, stored in change_log.records(reader, number, shard, position, limit=limit):
        if time_us < oldest_us or (
            at != expected and not records and _is_trimmed(reader, stream, shard, position)
        ):
            raise Trimmed
        change = _shown(stream, decode(stored))
        record = LogRecord(at, time_us, change, _size(change))
        size += record.size
        if records and size > STREAM_PAGE_BYTES_MAX:
            break
        effort.spend(_RECORD_UNITS + (len(stored) >> 2))
        records.append(record)
        expected = at + 1
    if not records and shard.first <= position < (end := latest(reader, stream, shard)):
        if _is_trimmed(reader, stream, shard, position):
            raise Trimmed
        expected = end
    ended = shard.last is not None and expected > shard.last
    return RecordPage(records, None if ended else expected)


def _is_trimmed(reader: Reader, stream: Stream, shard: Shard, position: int) -> bool:
    """Whether a position is before all records that are left."""
    return position < change_log.first_position(reader, stream.table_number, shard)


def _shown(stream: Stream, change: ChangeRecord) -> ChangeRecord:
    """As much of a change as the stream's view type has: others may have wanted to know more."""
    before = change.before if stream.view_type in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") else None
    after = change.after if stream.view_type in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES") else None
    if before is change.before and after is change.after:
        return change
    return msgspec.structs.replace(change, before=before, after=after)


def _size(change: ChangeRecord) -> int:
    size = item_size(orjson.loads(change.keys))
    for image in (change.before, change.after):
        if image is not None:
            size += stored_size(image)
    return size
