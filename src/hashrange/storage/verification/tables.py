"""The tables of one snapshot, as the rows of a store must fit them."""

import msgspec

from hashrange.core import schema
from hashrange.core.keys import encoding
from hashrange.core.schema import Index, Table
from hashrange.storage import catalogue, layout
from hashrange.storage.engine import Reader
from hashrange.storage.errors import Corrupt


class Tables(msgspec.Struct, frozen=True):
    """All table records, and the prefixes of rows that a job is about to clear."""

    epoch: bytes  # changes with every change of a record
    by_number: dict[int, Table]
    garbage: tuple[bytes, ...]

    def name(self, key: bytes) -> str:
        """Name the row of a table or index for people, by the names of both."""
        if not key.startswith(layout.ROWS) or len(key) < layout.ROWS_PREFIX_BYTES:
            return layout.describe(key)
        number, slot = layout.split_rows_key(key)
        table = self.by_number.get(number)
        if table is None:
            return layout.describe(key)
        return f"{self.name_slot(number, slot)}, key {key[layout.ROWS_PREFIX_BYTES :].hex()}"

    def name_slot(self, number: int, slot: int) -> str:
        """Name a table or index for people."""
        table = self.by_number.get(number)
        if table is None:
            return f"table number {number}, slot {slot}"
        index = find_index(table, slot)
        place = f"table {table.name} ({table.region})"
        if table.ttl is not None and table.ttl.slot == slot:
            return f"{place}, expiry rows"
        return place if index is None else f"{place}, index {index.name}"

    def is_garbage(self, key: bytes) -> bool:
        """Whether a job will clear this row."""
        return key.startswith(self.garbage)


NO_TABLES = Tables(b"", {}, ())


def find_index(table: Table, slot: int) -> Index | None:
    """The index that has this slot."""
    return next((index for index in table.indexes if index.slot == slot), None)


def has_slot(table: Table, slot: int) -> bool:
    """Whether a slot belongs to an index or to the expiry rows."""
    return find_index(table, slot) is not None or (table.ttl is not None and table.ttl.slot == slot)


def read_tables(reader: Reader, known: Tables | None) -> Tables:
    """Read all records, or take those that are known if none has changed."""
    epoch = _epoch(reader)
    if known is not None and known.epoch == epoch and epoch:
        return known
    tables = []
    for key in _keys(reader, layout.CATALOGUE):
        try:
            stored = reader.get(key)
            if stored is not None:
                tables.append(schema.decode(stored))
        except (Corrupt, msgspec.MsgspecError):
            continue  # the walk reports it when it gets there
    garbage = tuple(key[len(layout.GARBAGE) :] for key in _keys(reader, layout.GARBAGE))
    return Tables(epoch, {table.number: table for table in tables}, garbage)


def _epoch(reader: Reader) -> bytes:
    try:
        return catalogue.stored_epoch(reader)
    except Corrupt:
        return b""


def _keys(reader: Reader, prefix: bytes) -> list[bytes]:
    """The keys with a prefix, those of damaged rows left out."""
    keys, start = [], prefix
    while True:
        try:
            for key, _ in reader.scan(start, encoding.prefix_end(prefix)):
                keys.append(key)
                start = key + b"\0"
        except Corrupt as error:
            damaged = getattr(error, "key", None)
            if damaged is None:
                return keys
            start = damaged + b"\0"
        else:
            return keys
