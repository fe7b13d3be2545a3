"""Change logs: trim what nobody may read any more, and have the shards of streams followed by new ones."""

from functools import partial

import msgspec

from hashrange.core import log_shards
from hashrange.core.keys import encoding
from hashrange.core.limits import STREAM_SECONDS
from hashrange.core.log_shards import Shard
from hashrange.core.schema import Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import appends, catalogue, change_log, holds, layout, stream_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import KeyUnusable

_DAY_SECONDS = 24 * 3600.0
# Records go this much later than they could: whoever takes hold of the past meanwhile finds them.
_MARGIN_SECONDS = 60.0
_SHARDS_AT_ONCE = 200
# Clients' writes wait while a chunk is cleared, as in jobs/reclaim.py.
_CHUNK_ROWS = 200
_CHUNK_BYTES = 2 * 1024 * 1024
_PAUSE_SECONDS = 0.002
_ROUND_SECONDS = 5.0


class _Trimmable(msgspec.Struct, frozen=True):
    """What can go: records, and then the row of the shard."""

    records: list[bytes]
    shard: bytes | None
    prefix: bytes | None = None  # of records that all go, and cannot be read


class TrimLogs:
    """Goes over all shards in rounds; a step clears a bounded number of records."""

    name = "trim-logs"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables
        self._start = layout.LOG_SHARD

    def step(self, now: float) -> float:
        """Clear a chunk of one shard, or go on to the next shards."""
        epoch = self._tables.epoch
        tables = {table.number: table for table in self._tables.tables()}
        looked = self._engine.read(
            partial(_next_trimmable, start=self._start, tables=tables, epoch=epoch, now=now)
        )
        if looked is None:
            # Not by `reload`: records that are older are of another database, which the follower has to notice.
            self._tables.replace(self._engine.read(catalogue.stored_records))
            return _PAUSE_SECONDS
        key, trimmable = looked
        if key is None:
            self._start = layout.LOG_SHARD
            self._forget_streams(now)
            return _ROUND_SECONDS
        if trimmable is None:
            self._start = key + b"\0"
            return 0.0
        self._start = key
        # What is old stays old, so it needs no second look in the transaction, and writers need not wait for one.
        self._engine.write(partial(_clear, trimmable=trimmable))
        return _PAUSE_SECONDS

    def _forget_streams(self, now: float) -> None:
        for stream in self._engine.read(lambda reader: list(stream_rows.all_streams(reader))):
            if not stream.readable(now - _MARGIN_SECONDS):
                self._engine.write(partial(stream_rows.remove, stream=stream))


def _next_trimmable(
    reader: Reader, *, start: bytes, tables: dict[int, Table], epoch: bytes, now: float
) -> tuple[bytes | None, _Trimmable | None] | None:
    """The next shard of which something can go; else the last one looked at; else nothing.

    None if the tables are not those of the snapshot: one may have recovery by now, and its log be wanted.
    """
    if catalogue.stored_epoch(reader) != epoch:
        return None
    key = None
    for key, stored in reader.scan(start, encoding.prefix_end(layout.LOG_SHARD), limit=_SHARDS_AT_ONCE):
        number = layout.log_shard_table(key)
        shard, table = log_shards.decode(stored), tables.get(number)
        try:
            trimmable = _trimmable(reader, table, number, shard, now)
        except KeyUnusable:
            trimmable = _unreadable(reader, table, number, shard, now)
        if trimmable is not None:
            return key, trimmable
    return key, None


def _trimmable(
    reader: Reader, table: Table | None, number: int, shard: Shard, now: float
) -> _Trimmable | None:
    horizon = _horizon(reader, table, number, shard, now)
    prefix = layout.log_prefix(number, shard.number)
    records: list[bytes] = []
    size = 0
    is_empty = True
    for key, row in reader.scan(prefix, encoding.prefix_end(prefix), limit=_CHUNK_ROWS):
        if (horizon is not None and appends.time_of(row) >= horizon) or size >= _CHUNK_BYTES:
            is_empty = False
            break
        records.append(key)
        size += len(row)
    is_empty = is_empty and len(records) < _CHUNK_ROWS
    gone = is_empty and shard.closed_at is not None
    if gone and shard.stream and (shard.closed_at or now) > now - STREAM_SECONDS:
        gone = False  # readers still follow it to its children
    if not records and not gone:
        return None
    return _Trimmable(records, layout.log_shard_key(number, shard.number) if gone else None)


def _unreadable(
    reader: Reader, table: Table | None, number: int, shard: Shard, now: float
) -> _Trimmable | None:
    """A whole shard, if all of it is old: how old a record is says only the record, whose key cannot be used."""
    horizon = _horizon(reader, table, number, shard, now)
    if shard.closed_at is None or (
        horizon is not None and change_log.microseconds(shard.closed_at) >= horizon
    ):
        return None
    prefix = layout.log_prefix(number, shard.number)
    return _Trimmable([], layout.log_shard_key(number, shard.number), prefix)


def _horizon(reader: Reader, table: Table | None, number: int, shard: Shard, now: float) -> int | None:
    """The time from which on records are kept, in microseconds; None if none are."""
    moments = list(holds.held(reader, number))
    if shard.stream:
        moments.append(change_log.microseconds(now - STREAM_SECONDS - _MARGIN_SECONDS))
    if table is not None and table.pitr_since is not None:
        since = max(table.pitr_since, now - table.pitr_days * _DAY_SECONDS)
        moments.append(change_log.microseconds(since - _MARGIN_SECONDS))
    return min(moments, default=None)


def _clear(tx: Transaction, *, trimmable: _Trimmable) -> None:
    tx.use_reserve()
    for key in trimmable.records:
        tx.delete(key)
    prefix = trimmable.prefix
    if prefix and tx.clear(prefix, encoding.prefix_end(prefix), limit=_CHUNK_ROWS) == _CHUNK_ROWS:
        return
    if trimmable.shard is not None:
        tx.delete(trimmable.shard)


class RollShards:
    """Readers of a stream rely on shards that end: each is followed by a child after some hours."""

    name = "roll-shards"

    def __init__(self, engine: Engine, tables: Catalogue, shard_seconds: float) -> None:
        """`shard_seconds` is the age at which a shard is followed by another."""
        self._engine = engine
        self._tables = tables
        self._shard_seconds = shard_seconds

    def step(self, now: float) -> float:
        """Close the shards of one stream, if they are old enough, and open their children."""
        upcoming = now + IDLE_SECONDS
        for table in self._tables.tables():
            if table.log is None or not table.log.stream:
                continue
            due_at = table.log.opened_at + self._shard_seconds
            if now >= due_at:
                self._engine.write(partial(_roll, planned=table, now=now))
                self._tables.refresh(*catalogue.address(table))
                return 0.0
            upcoming = min(upcoming, due_at)
        return max(0.0, upcoming - now)


def _roll(tx: Transaction, *, planned: Table, now: float) -> None:
    stored = catalogue.stored_table(tx, *catalogue.address(planned))
    if stored is not None and stored.number == planned.number and stored.log == planned.log:
        catalogue.save(tx, changed(stored, version=stored.version + 1), now, roll=True)
