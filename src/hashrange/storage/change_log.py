"""The change log of a table: who wants to know of changes decides that there is one; writes append to its open shards.

Which shards are open stands in the table's record, so that every write finds its shard without reading anything, and
is sure of it, because it checks in its own transaction that the record is the newest. The document of record is
docs/design/014-change-log.md.
"""

from collections.abc import Iterator

import msgspec

from hashrange.core import change_record, log_shards
from hashrange.core.keys import encoding
from hashrange.core.log_shards import OpenLog, OpenShard, Shard
from hashrange.core.mutation import Origin
from hashrange.core.schema import Table, changed
from hashrange.core.values import Item
from hashrange.storage import appends, layout, stream_rows
from hashrange.storage.appends import Append, Head
from hashrange.storage.engine import Reader, Transaction

_ID_SECONDS = 0.001  # the ids of shards have milliseconds

microseconds = log_shards.microseconds


def append(
    tx: Transaction,
    table: Table,
    key: bytes,
    before: bytes | None,
    after: bytes | None,
    origin: Origin,
    item: Item | None = None,
) -> None:
    """Write the record of a change to an item, of which the stored forms are given, unless nothing has changed."""
    log = table.log
    if log is None or change_record.changes_nothing(before, after):
        return
    number, shard = table.number, log.shard_of(key)
    tx.append(
        Append(
            layout.log_head_key(number, shard),
            layout.log_prefix(number, shard),
            microseconds(origin.time),
            change_record.encode(table, key, before, after, origin.actor, item),
        )
    )


def head_key(table: Table, log: OpenLog, key: bytes) -> bytes:
    """The head that a write of this item moves."""
    return layout.log_head_key(table.number, log.shard_of(key))


# Opening and closing shards: part of every change of a table's record.


def arranged(tx: Transaction, table: Table, now: float, *, roll: bool = False) -> Table:
    """The record with the shards that the table needs now: opens what is missing and closes what is in the way.

    A shard belongs to one stream or to none, and lies in one partition. With `roll` every shard is closed and has a
    child that goes on in its place.
    """
    log, label = table.log, _label(table)
    if not table.wants_log:
        if log is None:
            return table
        _close(tx, table, log.shards, now)
        _end_stream(tx, table, log, now)
        return changed(table, log=None)
    ended: list[Shard] = []  # of another stream: nothing new is a child of theirs, or is older than they are
    if log is not None and log.stream != label:
        ended = _close(tx, table, log.shards, now)
        _end_stream(tx, table, log, now)
        log = None
    if log is not None and log.starts == table.partitions and not roll:
        return table
    kept = () if log is None or roll else tuple(shard for shard in log.shards if _fits(table, log, shard))
    going = () if log is None else tuple(shard for shard in log.shards if shard not in kept)
    closed = _close(tx, table, going, now)
    # Ids sort by the time of creation, and must sort children behind their parents whatever the clock does.
    opened_at = now if log is None else max(now, log.opened_at + _ID_SECONDS)
    first_time = max(microseconds(now), *(shard.last_time or 0 for shard in (*ended, *closed)), 0)
    opened, next_shard = _open(tx, table, kept, closed, opened_at=opened_at, first_time=first_time)
    if log is None and label:
        stream_rows.begin(tx, table)
    shards = tuple(sorted((*kept, *opened), key=lambda shard: shard.start))
    return changed(table, log=OpenLog(label, opened_at, shards), log_next_shard=next_shard)


def closed(tx: Transaction, table: Table, now: float) -> None:
    """Close the log of a table that is being removed."""
    if table.log is not None:
        _close(tx, table, table.log.shards, now)
        _end_stream(tx, table, table.log, now)


def _label(table: Table) -> str:
    """The stream that changes belong to now."""
    if table.stream_view_type is None or table.status == "DELETING":
        return ""
    return table.stream_label or ""


def _fits(table: Table, log: OpenLog, shard: OpenShard) -> bool:
    """Whether a shard still covers one whole partition."""
    at = log.shards.index(shard)
    end = log.starts[at + 1] if at + 1 < len(log.starts) else None
    inside = [start for start in table.partitions if start >= shard.start and (end is None or start < end)]
    return inside == [shard.start]


def _close(tx: Transaction, table: Table, shards: tuple[OpenShard, ...], now: float) -> list[Shard]:
    """Close shards: what their heads said stands in their rows from now on."""
    ended = []
    for opened in shards:
        head_key = layout.log_head_key(table.number, opened.number)
        head = appends.read_head(tx, head_key)
        row_key = layout.log_shard_key(table.number, opened.number)
        shard = msgspec.structs.replace(
            read_shard(tx, table.number, opened.number),
            last=head.position - 1,
            last_time=head.last_time,
            closed_at=now,
        )
        tx.delete(head_key)
        tx.put(row_key, log_shards.encode(shard))
        ended.append(shard)
    return ended


def _open(
    tx: Transaction,
    table: Table,
    kept: tuple[OpenShard, ...],
    ended: list[Shard],
    *,
    opened_at: float,
    first_time: int,
) -> tuple[list[OpenShard], int]:
    """Open a shard for every partition that has none; its parent is the closed one that the partition was in."""
    covered = {shard.start for shard in kept}
    number, opened = table.log_next_shard, []
    for start in table.partitions:
        if start in covered:
            continue
        parent = max((shard for shard in ended if shard.start <= start), key=lambda s: s.start, default=None)
        shard = Shard(
            number=number,
            start=start,
            stream=_label(table),
            parent_id=None if parent is None else parent.id,
            created_at=opened_at,
            first=1 if parent is None or parent.last is None else parent.last + 1,
            first_time=first_time,
        )
        head = Head(shard.first, first_time)
        tx.put(layout.log_head_key(table.number, number), head.encode())
        tx.put(layout.log_shard_key(table.number, number), log_shards.encode(shard))
        opened.append(OpenShard(start, number))
        number += 1
    return opened, number


def _end_stream(tx: Transaction, table: Table, log: OpenLog, now: float) -> None:
    if log.stream:
        stream_rows.end(tx, table, log.stream, now)


# Reading.


def shards(reader: Reader, table_number: int, first: int = 0) -> Iterator[Shard]:
    """All shards of a table that are still known, those from a number on, parents before children."""
    start, prefix = layout.log_shard_key(table_number, first), layout.log_shards_prefix(table_number)
    for _, stored in reader.scan(start, encoding.prefix_end(prefix)):
        yield log_shards.decode(stored)


def find_shard(reader: Reader, table_number: int, number: int) -> Shard | None:
    """One shard, if it is still known."""
    stored = reader.get(layout.log_shard_key(table_number, number))
    return None if stored is None else log_shards.decode(stored)


def read_shard(reader: Reader, table_number: int, number: int) -> Shard:
    """One shard, which must be known."""
    return log_shards.decode(reader.get(layout.log_shard_key(table_number, number)) or b"")


def end_position(reader: Reader, table_number: int, shard: Shard) -> int:
    """The position behind the last record of a shard."""
    if shard.last is not None:
        return shard.last + 1
    stored = reader.get(layout.log_head_key(table_number, shard.number))
    return shard.first if stored is None else appends.decode_head(stored).position


def first_position(reader: Reader, table_number: int, shard: Shard) -> int:
    """The position of the oldest record that was not trimmed yet, or the end."""
    prefix = layout.log_prefix(table_number, shard.number)
    for key, _ in reader.scan(prefix, encoding.prefix_end(prefix), limit=1):
        return appends.position_of(key)
    return end_position(reader, table_number, shard)


def position_at(reader: Reader, table_number: int, shard: Shard, time_us: int) -> int:
    """The position of the first record that is not older than a time, or the end: times never go back."""
    low = first_position(reader, table_number, shard)
    high = end_position(reader, table_number, shard)
    while low < high:
        middle = (low + high) // 2
        # The next one if it is gone: `hashrange salvage` leaves gaps where records were damaged.
        at, written, _ = next(records(reader, table_number, shard, middle, limit=1), (high, time_us, b""))
        if at < high and written < time_us:
            low = at + 1
        else:
            high = middle
    return low


def records(
    reader: Reader, table_number: int, shard: Shard, position: int, *, limit: int | None = None
) -> Iterator[tuple[int, int, bytes]]:
    """The records of a shard from a position on: position, time in microseconds, stored form."""
    prefix = layout.log_prefix(table_number, shard.number)
    start, end = appends.row_key(prefix, position), encoding.prefix_end(prefix)
    for key, row in reader.scan(start, end, limit=limit):
        yield appends.position_of(key), appends.time_of(row), row[appends.TIME_BYTES :]


def fence(tx: Transaction, table: Table, time_us: int) -> None:
    """Make sure that whatever is appended from now on is younger than this time."""
    for opened in () if table.log is None else table.log.shards:
        key = layout.log_head_key(table.number, opened.number)
        head = appends.read_head(tx, key)
        if head.last_time <= time_us:
            tx.put(key, Head(head.position, time_us + 1).encode())


def latest_time(reader: Reader, table: Table) -> int:
    """The time of the youngest record, or of a fence, in the open shards."""
    heads = (
        appends.decode_head(reader.get(layout.log_head_key(table.number, opened.number)) or b"")
        for opened in (() if table.log is None else table.log.shards)
    )
    return max((head.last_time for head in heads), default=0)
