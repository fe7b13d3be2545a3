"""Salvage: copy what can be read of a damaged store into an empty one, where everything fits together again.

Of a table only its record and its items are copied. Index entries, counters and the sizes of item collections are made
from the items that are there, as if these had been put one by one. So damage to an index loses nothing, and an item
whose row is damaged is taken from an index that has all of its attributes.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

import msgspec

from hashrange.core import items, mutation, schema
from hashrange.core.keys import encoding, primary_key
from hashrange.core.mutation import Origin, PutCommand
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, copying, layout, store, token_rows
from hashrange.storage.copying import Copyable
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import Corrupt, DamagedRow
from hashrange.storage.verification.gaps import END, Readable, first_key, next_readable
from hashrange.storage.verification.rows import UNREADABLE
from hashrange.storage.verification.tables import Tables

_CHUNK_ROWS = 200
_CHUNK_BYTES = 4 * 1024 * 1024

Row = tuple[bytes, bytes]

# Made anew from what they belong to, or of no use in the copy. A backfill begins again.
_NOT_COPIED = (
    layout.TABLE_VERSION,
    layout.CATALOGUE_EPOCH,
    layout.GARBAGE,
    layout.TOKEN_EXPIRY,
    layout.BACKFILL,
    layout.REMOVED_ENTRY,
    layout.LEASE,
    layout.MIGRATION,
    layout.PAST,
    layout.CHARGES,
    layout.FAULTS,
)


class Source(Readable, Protocol):
    """A damaged store."""

    @property
    def description(self) -> str:
        """Name it, for people."""

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero."""


class Loss(msgspec.Struct):
    """What cannot be read."""

    rows: dict[bytes, str] = msgspec.field(default_factory=dict)  # by key: why
    gaps: list[tuple[bytes, bytes]] = msgspec.field(default_factory=list)  # ranges of keys on damaged pages

    def covers(self, key: bytes) -> bool:
        """Whether the row at this key was not read because of damage."""
        return key in self.rows or any(start <= key < end for start, end in self.gaps)


class Salvaged(msgspec.Struct):
    """The outcome."""

    tables: int = 0
    items: int = 0  # those that were recovered from an index included
    recovered: int = 0
    other_rows: int = 0
    lost: list[str] = msgspec.field(default_factory=list)  # for people


def salvage(source: Source, target: Copyable, report: Callable[[str, int], None]) -> Salvaged:
    """Copy what can be read; the target has to be empty, and is not usable before this is done."""
    copying.begin(f"the damaged store {source.description}", target)
    run = _Run(source, target, report)
    run.copy_control_rows()
    for table in run.tables.values():
        run.copy_items(table)
        run.recover_items(table)
    run.look_for_orphans()
    run.copy_counters()
    target.write(lambda tx: tx.delete(layout.MIGRATION))
    return run.outcome()


class _Run:
    """One salvage."""

    def __init__(self, source: Source, target: Copyable, report: Callable[[str, int], None]) -> None:
        self._source = source
        self._target = target
        self._report = report
        self._loss = Loss()
        self._orphans: list[str] = []
        self._garbage: set[bytes] = set()
        self._salvaged = Salvaged()
        self._last_number = 0  # the highest table number that was seen
        self.tables: dict[int, Table] = {}

    def copy_control_rows(self) -> None:
        """Copy everything but items and what is made from them."""
        behind_rows, behind_settings = (encoding.prefix_end(one) for one in (layout.ROWS, layout.SETTING))
        # Settings first: keys of the key service are among them, under which the data keys of tables may be.
        for start, end in (
            (layout.SETTING, behind_settings),
            (b"", layout.ROWS),
            (behind_rows, layout.SETTING),
            (behind_settings, END),
        ):
            for chunk in _chunks(self._source, start, end, self._loss):
                self._target.write(partial(self._write_control_rows, chunk))
                self._salvaged.other_rows += len(chunk)
        self._salvaged.tables = len(self.tables)

    def _write_control_rows(self, chunk: Iterable[Row], tx: Transaction) -> None:
        for key, value in chunk:
            try:
                self._write_control_row(tx, key, value)
            except (*UNREADABLE, Corrupt) as error:
                self._loss.rows[key] = f"{type(error).__name__}: {error}"

    def _write_control_row(self, tx: Transaction, key: bytes, value: bytes) -> None:
        if key.startswith(layout.GARBAGE):
            self._garbage.add(key[len(layout.GARBAGE) :])
        elif key.startswith(layout.CATALOGUE):
            table = schema.decode(value)
            self.tables[table.number] = table
            catalogue.put_record(tx, table)
        elif not key.startswith(_NOT_COPIED):
            if key.startswith(layout.TOKEN):
                tx.put(token_rows.expiry_key(token_rows.unpack(value).expires_epoch_seconds, key), b"")
            tx.put(key, value)

    def copy_items(self, table: Table) -> None:
        """Put a table's items anew."""
        prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)
        for chunk in _chunks(self._source, prefix, encoding.prefix_end(prefix), self._loss):
            self._salvaged.items += self._target.write(partial(self._put_items, table, chunk))
            self._report("copied", self._salvaged.items)

    def _put_items(self, table: Table, chunk: Iterable[Row], tx: Transaction) -> int:
        count = 0
        for key, value in chunk:
            try:
                if _base_row(table, value) != key:
                    raise ValueError("the item's key is another one")
                _put_item(tx, table, value)
                count += 1
            except UNREADABLE as error:
                self._loss.rows[key] = f"{type(error).__name__}: {error}"
        return count

    def recover_items(self, table: Table) -> None:
        """Put lost items that an index has whole."""
        prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)
        is_concerned = any(key.startswith(prefix) for key in self._loss.rows) or self._loss.gaps
        for index in table.live_indexes:
            if index.projection == "ALL" and is_concerned:
                entries = layout.rows_prefix(table.number, index.slot)
                for chunk in _chunks(self._source, entries, encoding.prefix_end(entries), Loss()):
                    lost = list(self._lost_items(table, chunk))
                    recovered = self._target.write(partial(_put_missing, table, lost))
                    for key in recovered:
                        self._loss.rows.pop(key, None)
                    self._salvaged.recovered += len(recovered)
                    self._salvaged.items += len(recovered)

    def _lost_items(self, table: Table, chunk: Iterable[Row]) -> Iterator[Row]:
        """The rows of items that are damaged, by their entries in an index."""
        for _, value in chunk:
            try:
                key = _base_row(table, value)
            except UNREADABLE:
                continue
            if self._loss.covers(key):
                yield key, value

    def look_for_orphans(self) -> None:
        """Note the rows of tables whose records are lost: nobody knows what they are."""
        start: bytes | None = layout.ROWS
        while start is not None and start.startswith(layout.ROWS):
            key = first_key(self._source, start)
            if key is None:
                start = next_readable(self._source, start)
                continue
            if not key.startswith(layout.ROWS):
                return
            number, _ = layout.split_rows_key(key)
            prefix = layout.table_rows_prefix(number)
            if number not in self.tables and prefix not in self._garbage:
                self._orphans.append(f"all rows of table number {number}: there is no record of it")
            self._last_number = max(self._last_number, number)
            start = encoding.prefix_end(prefix)

    def copy_counters(self) -> None:
        """Copy the counters that are not made from items; no table number may be given twice."""
        try:
            counters = dict(self._source.counters())
        except Corrupt as error:
            self._orphans.append(f"counters: {error}")
            counters = {}
        last_number = max(counters.get(layout.TABLE_NUMBER, 0), self._last_number, *self.tables, 0)
        kept = {
            key: number
            for key, number in counters.items()
            if not key.startswith((layout.COUNT, layout.SIZE, layout.TABLE_NUMBER))
        }

        def step(tx: Transaction) -> None:
            for key, number in {**kept, layout.TABLE_NUMBER: last_number}.items():
                tx.add(key, number)

        self._target.write(step)

    def outcome(self) -> Salvaged:
        """What was copied, and what was not."""
        names = Tables(b"", self.tables, ())
        lost = self._salvaged.lost
        lost += [f"{_name(names, key)}: {reason}" for key, reason in sorted(self._loss.rows.items())]
        lost += [
            f"what is on a damaged page, from {_name(names, start)} to {_name(names, end)}"
            for start, end in self._loss.gaps
        ]
        lost += self._orphans
        return self._salvaged


def _name(tables: Tables, key: bytes) -> str:
    if key.startswith(layout.CATALOGUE):
        return "record of table " + "/".join(key[1:].decode(errors="replace").split("\0"))
    return tables.name(key)


def _base_row(table: Table, stored: bytes) -> bytes:
    key = primary_key.of_key(table, primary_key.key_of(table, items.decode(stored)))
    return store.row_key(table, key)


def _put_item(tx: Transaction, table: Table, stored: bytes) -> None:
    """Put an item with the time it was written at; that is no change that a stream would show."""
    item = items.decode(stored)
    command = PutCommand(primary_key.of_item(table, item), item, items.item_size(item))
    outcome = mutation.apply(table, command, None, Origin(items.stored_time(stored)))
    store.write(tx, changed(table, log=None), outcome)


def _put_missing(table: Table, rows: Iterable[Row], tx: Transaction) -> list[bytes]:
    missing = [(key, stored) for key, stored in rows if tx.get(key) is None]
    for _, stored in missing:
        _put_item(tx, table, stored)
    return [key for key, _ in missing]


def _chunks(source: Readable, start: bytes, end: bytes, loss: Loss) -> Iterator[list[Row]]:
    """The rows of a range that can be read, some at a time; what cannot be read is added to the loss."""
    rows_max = _CHUNK_ROWS
    while start < end:
        try:
            rows, damaged = source.read(partial(_chunk, start, end, rows_max))
        except Corrupt:
            rows_max //= 4
            if not rows_max:
                behind = min(next_readable(source, start) or end, end)
                loss.gaps.append((start, behind))
                start, rows_max = behind, _CHUNK_ROWS
            continue
        if damaged is not None:
            loss.rows[damaged.key] = str(damaged)
            start = damaged.key + b"\0"
        elif rows:
            start = rows[-1][0] + b"\0"
        else:
            return
        rows_max = _CHUNK_ROWS
        yield rows


def _chunk(start: bytes, end: bytes, rows_max: int, reader: Reader) -> tuple[list[Row], DamagedRow | None]:
    rows: list[Row] = []
    size = 0
    try:
        for row in reader.scan(start, end, limit=rows_max):
            rows.append(row)
            size += len(row[1])
            if size >= _CHUNK_BYTES:
                break
    except DamagedRow as damaged:
        return rows, damaged
    return rows, None
