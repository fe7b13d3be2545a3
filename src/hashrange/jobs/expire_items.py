"""Expire items: delete the items whose time to live is over, found by their expiry rows."""

import time
from collections import deque
from collections.abc import Sequence
from functools import partial

import msgspec

from hashrange import logs
from hashrange.capacity.series import Place
from hashrange.core.expiry import ExpiryWindow, expiry_window, within
from hashrange.core.mutation import DeleteCommand, Origin, Rejected
from hashrange.core.schema import Table
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue, expiry, layout, metric_rows, store
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import Corrupt, DamagedRow

# Clients' writes wait while a chunk is deleted, some four milliseconds; an index costs half as much as an item.
_CHUNK_ROWS = 100
_CHUNK_BYTES = 256 * 1024
_CHUNK_TABLES = 50  # looked at in one step
_ROUND_SECONDS_MIN = 1.0
_ROUND_SECONDS_MAX = 10.0
_ROUND_SHARE = 4.0  # thousands of tables take long to look at, so they are looked at less often
_PAUSE_SECONDS_MIN = 0.002
_PAUSE_SECONDS_MAX = 0.5
_PAUSE_SHARE = 2.0  # clients have the engine to themselves for so many times as long as a chunk took
_DAMAGED_MAX = 10_000

log = logs.Log("jobs")


class _Sweep(msgspec.Struct):
    """A table, and how far this round has come in its expiry rows."""

    table: Table
    slot: int
    behind: bytes = b""


class _Chunk(msgspec.Struct, frozen=True):
    """Expiry rows of one table that are next."""

    sweep: _Sweep
    rows: tuple[bytes, ...]


class ExpireItems:
    """Goes round the tables that have TTL, a chunk of deletions at a time, each a conditional delete of its own.

    The rows are read in a snapshot and the items in the transaction that deletes them, so no transaction reads a
    range, and an item that was refreshed meanwhile stays.
    """

    name = "expire-items"

    def __init__(self, engine: Engine, tables: Catalogue, *, lag_seconds: int = 0) -> None:
        self._engine = engine
        self._tables = tables
        self._lag_seconds = lag_seconds
        self._round: deque[_Sweep] = deque()
        self._round_began = 0.0
        self._damaged: set[bytes] = set()  # rows that cannot be read, or whose items cannot

    def step(self, now: float) -> float:
        """Delete one chunk, or find that nothing has expired."""
        if not self._round:
            self._round_began = time.monotonic()
            self._round.extend(
                _Sweep(table, table.ttl.slot)
                for table in self._tables.tables()
                if table.ttl is not None and table.is_writable
            )
        if not self._round:
            return IDLE_SECONDS
        window = expiry_window(now, self._lag_seconds)
        sweeps = [self._round[at] for at in range(min(len(self._round), _CHUNK_TABLES))]
        idle, chunk = self._look(sweeps, window)
        for _ in range(idle):
            self._round.popleft()
        if chunk is None:
            return 0.0 if self._round else self._pause_after_round()
        began = time.monotonic()
        self._round.popleft()
        if self._delete(chunk, window, now):
            self._round.append(chunk.sweep)  # behind the other tables
        taken = time.monotonic() - began
        return min(max(_PAUSE_SECONDS_MIN, taken * _PAUSE_SHARE), _PAUSE_SECONDS_MAX)

    def _pause_after_round(self) -> float:
        taken = time.monotonic() - self._round_began
        return min(max(_ROUND_SECONDS_MIN, taken * _ROUND_SHARE), _ROUND_SECONDS_MAX)

    def _look(self, sweeps: Sequence[_Sweep], window: ExpiryWindow) -> tuple[int, _Chunk | None]:
        """Find the next chunk; expiry rows that cannot be read hold up neither those behind them nor other tables."""
        try:
            return self._engine.read(partial(_next_chunk, sweeps=sweeps, window=window))
        except Corrupt as damage:
            if len(sweeps) > 1:
                return self._look(sweeps[:1], window)
            (sweep,) = sweeps
            prefix = layout.rows_prefix(sweep.table.number, sweep.slot)
            if isinstance(damage, DamagedRow) and damage.key.startswith(prefix):
                self._report(damage, damage.key)
                sweep.behind = damage.key
                return 0, None
            self._report(damage, prefix)
            return 1, None

    def _report(self, damage: Corrupt, row: bytes) -> None:
        """Say once that something cannot be read."""
        if row not in self._damaged and len(self._damaged) < _DAMAGED_MAX:
            self._damaged.add(row)
            log.error("expiry.damaged", reason=str(damage), row=layout.describe(row))

    def _delete(self, chunk: _Chunk, window: ExpiryWindow, now: float) -> bool:
        """Delete the items of a chunk; false if there is no more to do with this table in this round."""
        rows = [row for row in chunk.rows if row not in self._damaged]
        deletion = partial(_delete_items, sweep=chunk.sweep, window=window, now=now)
        try:
            done = self._engine.write(partial(deletion, rows=rows)) if rows else 0
        except Corrupt:
            for row in rows:
                self._delete_alone(partial(deletion, rows=[row]), row)
            done = len(rows)
        if done is None:
            return False
        chunk.sweep.behind = chunk.rows[-1] if done == len(rows) else rows[done - 1]
        return True

    def _delete_alone(self, deletion: partial[int | None], row: bytes) -> None:
        """Delete one item of a chunk in which something is damaged; what cannot be read stays, and is reported once."""
        try:
            self._engine.write(deletion)
        except Corrupt as damage:
            self._report(damage, row)


def _next_chunk(
    reader: Reader, *, sweeps: Sequence[_Sweep], window: ExpiryWindow
) -> tuple[int, _Chunk | None]:
    """The number of tables that have no more to delete, and a chunk of the first that has."""
    for idle, sweep in enumerate(sweeps):
        table = sweep.table
        limit = 2 * _CHUNK_ROWS // (2 + len(table.indexes))
        rows = expiry.expired_rows(reader, table.number, sweep.slot, window, behind=sweep.behind, limit=limit)
        chunk = tuple(rows)
        if chunk:
            return idle, _Chunk(sweep, chunk)
    return len(sweeps), None


def _delete_items(
    tx: Transaction, *, sweep: _Sweep, rows: Sequence[bytes], window: ExpiryWindow, now: float
) -> int | None:
    """Delete items until enough is done; give the number of rows that are, or None if TTL is off by now."""
    keys = [expiry.split_row_key(row)[1] for row in rows]
    tx.prefetch([read for key in keys for read in store.reads(sweep.table, key)])
    table = catalogue.current(tx, sweep.table)
    if table is None or table.ttl is None or table.ttl.slot != sweep.slot:
        return None
    condition, origin = within(table.ttl.attribute, window), Origin(now, "ttl")
    done = deleted = size = 0
    for row, key in zip(rows, keys, strict=True):
        done += 1
        try:
            outcome = store.apply(tx, table, DeleteCommand(key, condition), origin)
        except Rejected:
            # The item was refreshed since the row was read, or is gone. Such a row has no place here, if it is there.
            tx.delete(row)
            continue
        deleted += 1
        size += outcome.before_size
        if size > _CHUNK_BYTES:
            break
    if deleted:
        tx.add(layout.expired_items_key(table.number), deleted)
        place = Place(*catalogue.address(table))
        metric_rows.add_samples(tx, place, now, {"TimeToLiveDeletedItemCount": float(deleted)})
    return done
