"""The catalogue: which tables exist, in every region, and which version of each a write was planned against."""

from bisect import bisect_right
from collections.abc import Callable
from threading import Lock
from typing import Protocol

import msgspec

from hashrange.core import schema
from hashrange.core.keys import encoding
from hashrange.core.schema import Table
from hashrange.core.table_life import gone
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction

Place = tuple[str, str, str]  # account, region, name


class Notice(Protocol):
    """How several processes with one catalogue tell each other of changes."""

    def seen(self) -> bytes:
        """Something that differs whenever any of them has changed the catalogue."""

    def post(self) -> None:
        """Tell the others of a change, which is committed already."""


class Records(msgspec.Struct, frozen=True):
    """All table records of one snapshot, and how many changes had been made to them until then."""

    epoch: int
    tables: list[Table]


class Catalogue:
    """A cache of all table records. Steps that write check, inside their transaction, that theirs is current."""

    def __init__(self, engine: Engine, notice: Notice | None = None) -> None:
        self._engine = engine
        self._notice = notice
        self._seen = b""
        self._tables: dict[Place, Table] = {}
        self.epoch = 0
        # Requests and jobs refresh from different threads; the one that reads last must also write last.
        self._refreshing = Lock()
        self.on_change: Callable[[], None] | None = None
        self.reload()

    def reload(self) -> None:
        """Read every record anew."""
        with self._refreshing:
            self._take_over(self._engine.read(stored_records))

    def take_over(self, records: Records) -> None:
        """Replace everything by what was read elsewhere, unless that is older than what is here."""
        with self._refreshing:
            if records.epoch <= self.epoch:
                return
            self._take_over(records)
        if self.on_change is not None:
            self.on_change()

    def _take_over(self, records: Records) -> None:
        self._tables = {place(table): table for table in records.tables}
        self.epoch = records.epoch

    def catch_up(self) -> None:
        """Take over what other processes have changed since the last look."""
        if self._notice is None:
            return
        seen = self._notice.seen()
        if seen != self._seen:
            self.reload()
            self._seen = seen
            if self.on_change is not None:
                self.on_change()

    def find(self, account_id: str, region: str, name: str) -> Table | None:
        """The table of this name, if there is one."""
        if self._notice is not None:
            self.catch_up()
        return self._tables.get((account_id, region, name))

    def tables(self) -> list[Table]:
        """All tables of all regions."""
        self.catch_up()
        return list(self._tables.values())

    def names(self, account_id: str, region: str, *, after: str | None, limit: int, now: float) -> list[str]:
        """Names of tables in order, at most `limit` of them, behind the given one."""
        here = (account_id, region)
        names = sorted(
            table.name
            for table in self.tables()
            if (table.account_id, table.region) == here and not gone(table, now)
        )
        start = bisect_right(names, after) if after is not None else 0
        return names[start : start + limit]

    def refresh(self, account_id: str, region: str, name: str) -> Table | None:
        """Take over one record after its change was committed."""
        key = layout.catalogue_key(account_id, region, name)
        # Before this process answers from the new record, the others must know that they have an old one.
        if self._notice is not None:
            self._notice.post()
        with self._refreshing:
            epoch, stored = self._engine.read(lambda reader: (stored_epoch(reader), reader.get(key)))
            table = None if stored is None else schema.decode(stored)
            if epoch == self.epoch + 1:
                self.epoch = epoch  # this change was the only one since
            if table is None:
                self._tables.pop((account_id, region, name), None)
            else:
                self._tables[place(table)] = table
        if self.on_change is not None:
            self.on_change()
        return table


def place(table: Table) -> Place:
    """Where a table is found."""
    return table.account_id, table.region, table.name


def stored_table(reader: Reader, account_id: str, region: str, name: str) -> Table | None:
    """The record as this transaction sees it."""
    stored = reader.get(layout.catalogue_key(account_id, region, name))
    return None if stored is None else schema.decode(stored)


def stored_epoch(reader: Reader) -> int:
    """How many changes were made to the catalogue so far."""
    return int.from_bytes(reader.get(layout.CATALOGUE_EPOCH) or b"", "big")


def stored_records(reader: Reader) -> Records:
    """Everything as this snapshot shows it."""
    rows = reader.scan(layout.CATALOGUE, encoding.prefix_end(layout.CATALOGUE))
    return Records(stored_epoch(reader), [schema.decode(value) for _, value in rows])


def _count_change(tx: Transaction) -> None:
    tx.put(layout.CATALOGUE_EPOCH, (stored_epoch(tx) + 1).to_bytes(8, "big"))


def save(tx: Transaction, table: Table) -> None:
    """Write a record and its version."""
    _count_change(tx)
    tx.put(layout.catalogue_key(*place(table)), schema.encode(table))
    tx.put(layout.version_key(table.number), table.version.to_bytes(4, "big"))


def remove(tx: Transaction, table: Table) -> None:
    """Forget a table at once; its rows are cleared in the background."""
    _count_change(tx)
    tx.delete(layout.catalogue_key(*place(table)))
    tx.delete(layout.version_key(table.number))
    reset_counters(tx, table.number, layout.BASE_SLOT)
    for index in table.indexes:
        tx.delete(layout.backfill_key(table.number, index.slot))
        reset_counters(tx, table.number, index.slot)
    discard(tx, layout.table_rows_prefix(table.number))


def reset_counters(tx: Transaction, number: int, slot: int) -> None:
    """Bring a table's or index's counters to zero, where they take no space."""
    for key in (layout.count_key(number, slot), layout.size_key(number, slot)):
        tx.add(key, -tx.counter(key))


def discard(tx: Transaction, prefix: bytes) -> None:
    """Mark all rows with this prefix for clearing."""
    tx.put(layout.GARBAGE + prefix, b"")


def next_number(tx: Transaction) -> int:
    """A table number that was never used before."""
    tx.add(layout.TABLE_NUMBER, 1)
    return tx.counter(layout.TABLE_NUMBER)


def current(tx: Transaction, table: Table) -> Table | None:
    """The table as this write must see it: the planned record if it is still the newest, else the newest, else none."""
    version = tx.get(layout.version_key(table.number))
    if version is None:
        return None
    if int.from_bytes(version, "big") == table.version:
        return table
    newest = stored_table(tx, *place(table))
    return newest if newest is not None and newest.number == table.number else None
