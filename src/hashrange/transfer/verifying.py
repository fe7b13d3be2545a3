"""Comparing both sides: how many items there are, and a checksum that does not depend on their order."""

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import orjson

from hashrange.core.errors import Refused
from hashrange.core.schema import Table
from hashrange.core.values import Malformed, canonical_item
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.reading import FilesSource
from hashrange.transfer.scanning import Pace, pages
from hashrange.transfer.wire_values import WireItem, from_wire
from hashrange.transfer.writing import Delete, Put

_BITS = 256
_ROWS_PER_COMMIT = 10_000


class Checksum(msgspec.Struct):
    """The sum of the hashes of all items: equal sets of items have equal sums, and nobody meets another by accident."""

    items: int = 0
    total: int = 0

    def add(self, digest: bytes) -> None:
        """Count an item."""
        self.items += 1
        self.total = (self.total + int.from_bytes(digest, "big")) % (1 << _BITS)

    def merge(self, other: "Checksum") -> None:
        """Count the items of another."""
        self.items += other.items
        self.total = (self.total + other.total) % (1 << _BITS)

    def __str__(self) -> str:
        """For people: enough to compare by eye."""
        return f"{self.items:,} items, checksum {self.total:064x}"


def item_digest(item: WireItem) -> bytes:
    """The hash of an item; equal items have the same, however an endpoint writes numbers or orders sets."""
    plain = from_wire(item)
    with suppress(Refused, Malformed):  # some endpoints take what the service would not
        plain = canonical_item(plain)
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).digest()


def of_table(endpoint: Endpoint, *, segments: int, pace: Pace, report: Callable[[int], None]) -> Checksum:
    """Read a whole table."""

    def of_segment(segment: int) -> Checksum:
        part = Checksum()
        for page in pages(endpoint, segment, segments, position=None, pace=pace):
            for item in page.items:
                part.add(item_digest(item))
            report(len(page.items))
        return part

    checksum = Checksum()
    with ThreadPoolExecutor(segments) as pool:
        for part in pool.map(of_segment, range(segments)):
            checksum.merge(part)
    return checksum


def of_files(source: FilesSource, table: Table, report: Callable[[int], None]) -> Checksum:
    """Read all files; what is left is what the last record of each key says."""
    if source.unique:
        checksum = Checksum()
        for change in source.changes(table):
            if isinstance(change.change, Put):
                checksum.add(item_digest(change.change.item))
            report(1)
        return checksum
    # A file, not a dictionary: there may be more keys than memory.
    with (
        tempfile.TemporaryDirectory(prefix="hashrange-verify-") as folder,
        closing(sqlite3.connect(Path(folder) / "digests")) as digests,
    ):
        return _of_last_records(digests, source, table, report)


def _of_last_records(
    digests: sqlite3.Connection, source: FilesSource, table: Table, report: Callable[[int], None]
) -> Checksum:
    digests.execute("PRAGMA journal_mode = OFF")
    digests.execute("PRAGMA synchronous = OFF")
    digests.execute("CREATE TABLE digest (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    for number, change in enumerate(source.changes(table)):
        match change.change:
            case Put(identity, item, _):
                digests.execute("REPLACE INTO digest VALUES (?, ?)", (identity, item_digest(item)))
            case Delete(identity, _):
                digests.execute("DELETE FROM digest WHERE key = ?", (identity,))
        report(1)
        if number % _ROWS_PER_COMMIT == 0:
            digests.commit()
    checksum = Checksum()
    for (digest,) in digests.execute("SELECT value FROM digest"):
        checksum.add(digest)
    return checksum
