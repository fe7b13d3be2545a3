"""The catalogue: a cache of the table records of every region, and the version checks that writes make.

Every change of a record raises one number, the epoch, in its own transaction. With the number goes a random one, so
that two histories of a database, as there are after an older backup was restored, never have the same epoch. For the
same reason the version row of a table holds its record's stamp and not only a number.
"""

import secrets
from bisect import bisect_right
from collections.abc import Callable
from threading import Lock
from typing import Protocol

import msgspec

from hashrange.core import schema
from hashrange.core.keys import encoding
from hashrange.core.schema import Index, Table
from hashrange.core.table_life import gone
from hashrange.storage import change_log, layout, table_keys
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import Replaced

TableAddress = tuple[str, str, str]  # account, region, name


class CacheInvalidation(Protocol):
    """How processes that share a data file invalidate each other's caches of the catalogue."""

    def version(self) -> bytes:
        """A value that differs after every change of the catalogue by any process."""

    def invalidate(self) -> None:
        """Invalidate the caches of all processes after a change was committed."""


_NUMBER_BYTES = 8
_NONCE_BYTES = 8


class Condemned(msgspec.Struct, frozen=True):
    """Takes the place of a catalogue's `CacheInvalidation` when nothing in it may be relied on any more."""

    reason: str

    def version(self) -> bytes:
        """Refuse: nobody is answered from the cache."""
        raise Replaced(self.reason)

    def invalidate(self) -> None:
        """Refuse likewise."""
        raise Replaced(self.reason)


class Records(msgspec.Struct, frozen=True):
    """All table records of one snapshot, and the epoch of it."""

    epoch: bytes
    tables: list[Table]


class Catalogue:
    """A cache of all table records. A write checks inside its transaction that its record is current."""

    def __init__(self, engine: Engine, invalidation: CacheInvalidation | None = None) -> None:
        self._engine = engine
        self._invalidation = invalidation
        self._cached_version = b""
        self._tables: dict[TableAddress, Table] = {}
        self.epoch = b""  # of a snapshot that no record here is older than
        # Requests and jobs refresh from different threads; the one that reads last must also write last.
        self._refresh_lock = Lock()
        self.on_change: Callable[[], None] | None = None
        self.reload()

    def reload(self) -> None:
        """Read all records again."""
        with self._refresh_lock:
            self._replace(self._engine.read(stored_records))

    def replace(self, records: Records) -> None:
        """Replace the cache by records that the caller has read, unless they are older."""
        with self._refresh_lock:
            if changes(records.epoch) <= changes(self.epoch):
                return
            self._replace(records)
        if self.on_change is not None:
            self.on_change()

    def _replace(self, records: Records) -> None:
        self._tables = {address(table): table for table in records.tables}
        self.epoch = records.epoch

    def condemn(self, reason: str) -> None:
        """Answer nobody from the cache any more."""
        self._invalidation = Condemned(reason)

    def catch_up(self) -> None:
        """Read all records again if another process has changed one."""
        if self._invalidation is None:
            return
        version = self._invalidation.version()
        if version != self._cached_version:
            self.reload()
            self._cached_version = version
            if self.on_change is not None:
                self.on_change()

    def find(self, account_id: str, region: str, name: str) -> Table | None:
        """The table of this name, if there is one."""
        if self._invalidation is not None:
            self.catch_up()
        return self._tables.get((account_id, region, name))

    def tables(self) -> list[Table]:
        """All tables of all regions."""
        self.catch_up()
        return list(self._tables.values())

    def names(self, account_id: str, region: str, *, after: str | None, limit: int, now: float) -> list[str]:
        """The first `limit` names of tables in order, of those behind `after`."""
        here = (account_id, region)
        names = sorted(
            table.name
            for table in self.tables()
            if (table.account_id, table.region) == here and not gone(table, now)
        )
        start = bisect_right(names, after) if after is not None else 0
        return names[start : start + limit]

    def refresh(self, account_id: str, region: str, name: str) -> Table | None:
        """Read one record again after its change was committed."""
        key = layout.catalogue_key(account_id, region, name)
        # The caches of other processes must be invalid before this process answers from the new record.
        if self._invalidation is not None:
            self._invalidation.invalidate()
        with self._refresh_lock:
            epoch, stored = self._engine.read(lambda reader: (stored_epoch(reader), reader.get(key)))
            table = None if stored is None else schema.decode(stored)
            is_news = table != self._tables.get((account_id, region, name))
            if is_news and changes(epoch) == changes(self.epoch) + 1:
                self.epoch = epoch  # there was one change since, and it was of this record
                if table is None:
                    self._tables.pop((account_id, region, name), None)
                else:
                    self._tables[address(table)] = table
            elif changes(epoch) > changes(self.epoch):
                # There were others: with this record alone, the records would be newer than what the epoch says, and
                # an older backup that has just that epoch would not be noticed. Nor would it be if its own records
                # were taken over: an epoch that is not newer is that of another database, and left to the follower.
                records = self._engine.read(stored_records)
                if changes(records.epoch) > changes(
                    self.epoch
                ):  # it may have been replaced between the two reads
                    self._replace(records)
                table = self._tables.get((account_id, region, name))
        if self.on_change is not None:
            self.on_change()
        return table


class TracedCatalogue(Catalogue):
    """A catalogue for one request, which notes what it looks up; None stands for a missing table, or for all."""

    def __init__(self, catalogue: Catalogue, looked_up: list[Table | None]) -> None:
        """Look things up in `catalogue`; there is no cache here."""
        self._catalogue = catalogue
        self._looked_up = looked_up

    def find(self, account_id: str, region: str, name: str) -> Table | None:
        """The table of this name, if there is one."""
        table = self._catalogue.find(account_id, region, name)
        # Permissions and operation look up the same.
        if not self._looked_up or self._looked_up[-1] is not table:
            self._looked_up.append(table)
        return table

    def tables(self) -> list[Table]:
        """All tables of all regions."""
        self._looked_up.append(None)
        return self._catalogue.tables()

    def refresh(self, account_id: str, region: str, name: str) -> Table | None:
        """Read one record again after its change was committed."""
        return self._catalogue.refresh(account_id, region, name)


def address(table: Table) -> TableAddress:
    """What identifies a table among all accounts and regions."""
    return table.account_id, table.region, table.name


def stored_table(reader: Reader, account_id: str, region: str, name: str) -> Table | None:
    """The record as this transaction sees it."""
    stored = reader.get(layout.catalogue_key(account_id, region, name))
    return None if stored is None else schema.decode(stored)


def stored_epoch(reader: Reader) -> bytes:
    """The epoch of this snapshot; empty before the first change."""
    return reader.get(layout.CATALOGUE_EPOCH) or b""


def changes(epoch: bytes) -> int:
    """The number of changes of the catalogue up to an epoch."""
    return int.from_bytes(epoch[:_NUMBER_BYTES], "big")


def stored_records(reader: Reader) -> Records:
    """All records in this snapshot."""
    rows = reader.scan(layout.CATALOGUE, encoding.prefix_end(layout.CATALOGUE))
    return Records(stored_epoch(reader), [schema.decode(value) for _, value in rows])


def _count_change(tx: Transaction) -> None:
    number = changes(stored_epoch(tx)) + 1
    tx.put(layout.CATALOGUE_EPOCH, number.to_bytes(_NUMBER_BYTES, "big") + secrets.token_bytes(_NONCE_BYTES))


def announce(tx: Transaction) -> None:
    """Make all servers look at the catalogue again, and with it wake their jobs: there is a new one."""
    _count_change(tx)


def save(tx: Transaction, table: Table, now: float, *, roll: bool = False) -> Table:
    """Write a record and its stamp, with the shards of the change log that it asks for; give what was written."""
    table = change_log.arranged(tx, table, now, roll=roll)
    put_record(tx, table)
    return table


def put_record(tx: Transaction, table: Table) -> None:
    """Write a record and its stamp as they are."""
    _count_change(tx)
    table_keys.arrange(tx, table)
    tx.put(layout.catalogue_key(*address(table)), schema.encode(table))
    tx.put(layout.version_key(table.number), table.stamp)


def remove(tx: Transaction, table: Table, now: float) -> None:
    """Delete a table's record; a job clears its rows once nobody reads them any more."""
    change_log.closed(tx, table, now)
    _count_change(tx)
    tx.delete(layout.catalogue_key(*address(table)))
    tx.delete(layout.version_key(table.number))
    reset_counters(tx, table.number, layout.BASE_SLOT)
    for index in table.indexes:
        tx.delete(layout.backfill_key(table.number, index.slot))
        reset_counters(tx, table.number, index.slot)
        if index.backfilling:
            discard(tx, layout.removed_entries_prefix(table.number, index.slot))
    if table.ttl is not None:
        tx.delete(layout.backfill_key(table.number, table.ttl.slot))
    _reset(tx, layout.expired_items_key(table.number))
    table_keys.abandon(tx, table.number)
    if not table.held:
        discard(tx, layout.table_rows_prefix(table.number))


def reset_counters(tx: Transaction, number: int, slot: int) -> None:
    """Bring a table's or index's counters to zero, where they take no space."""
    for key in (layout.count_key(number, slot), layout.size_key(number, slot)):
        _reset(tx, key)


def _reset(tx: Transaction, counter: bytes) -> None:
    tx.add(counter, -tx.counter(counter))


def discard(tx: Transaction, prefix: bytes) -> None:
    """Mark all rows with this prefix as garbage, for a job to clear."""
    tx.use_reserve()
    tx.put(layout.GARBAGE + prefix, b"")


def discard_index(tx: Transaction, table: Table, index: Index) -> None:
    """Clear away what is stored of an index that nothing is written to any more."""
    tx.delete(layout.backfill_key(table.number, index.slot))
    reset_counters(tx, table.number, index.slot)
    discard(tx, layout.removed_entries_prefix(table.number, index.slot))
    discard(tx, layout.rows_prefix(table.number, index.slot))


def discard_expiry(tx: Transaction, number: int, slot: int) -> None:
    """Clear away the expiry rows of a table whose TTL is switched off."""
    tx.delete(layout.backfill_key(number, slot))
    discard(tx, layout.rows_prefix(number, slot))


def next_number(tx: Transaction) -> int:
    """A table number that was never used before."""
    tx.add(layout.TABLE_NUMBER, 1)
    return tx.counter(layout.TABLE_NUMBER)


def current(tx: Transaction, table: Table) -> Table | None:
    """The record that this write must use: the planned one if it is still the newest, else the newest, else None."""
    stamp = tx.get(layout.version_key(table.number))
    if stamp is None:
        return None
    if stamp == table.stamp:
        return table
    newest = stored_table(tx, *address(table))
    return newest if newest is not None and newest.number == table.number else None
