"""What came of a request, before any protocol renders it.

A result holds what was found or written and can always say what that cost and which keys it touched, whether or not
the client asked for a report: capacity, metrics, audit and caches read `charges`, not the answer.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import msgspec

from hashrange.core import capacity
from hashrange.core.items import stored_size
from hashrange.core.limits import READ_UNIT_BYTES
from hashrange.core.mutation import Outcome
from hashrange.core.partitions import WHOLE, Partitions
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage.pages import Page


class Charge(msgspec.Struct, frozen=True):
    """Units consumed by touching one key, or one partition, of a table or index."""

    table: Table
    index: Index | None
    key: bytes  # of the item or index row; for pages the start of what was read of one partition
    units: float
    write: bool


class StreamRead(NamedTuple):
    """What was read of a stream."""

    table_name: str
    label: str
    records: int
    size_bytes: int
    age_seconds: float | None  # of the last record; None: there was none


class Result(msgspec.Struct, gc=False):
    """The outcome of a step. Nothing in it refers back to it, so the garbage collector need not follow it."""

    def charges(self) -> Iterator[Charge]:
        """What the request consumed, by table, index and key."""
        return iter(())

    def returned(self) -> int | None:
        """How many items a page has; None of what is no page."""
        return None

    def stream_read(self) -> StreamRead | None:
        """What was read of a stream, if this is about one."""
        return None


class Rendered(Result):
    """What is left of a result whose answer is made already: what it cost, and how much it was."""

    costs: Sequence[Charge]
    items: int | None = None
    stream: StreamRead | None = None
    refusals: Sequence[object] = ()  # of items that found no capacity: see api/throttling/refusals.py

    def charges(self) -> Iterator[Charge]:
        """As the result itself gave them."""
        yield from self.costs

    def returned(self) -> int | None:
        """As the result itself gave it."""
        return self.items

    def stream_read(self) -> StreamRead | None:
        """As the result itself gave it."""
        return self.stream


class Described(Result):
    """An answer that is a structure of the service's model: what the control operations give."""

    body: msgspec.Struct | None  # None: an answer without a body


class ItemRead(Result):
    """One item by its key; `picked` is the part of it that a projection keeps, as JSON."""

    table: Table
    table_name: str  # as the request named it: an ARN is echoed
    key: bytes
    stored: bytes | None
    picked: bytes | None = None
    consistent: bool = False
    factor: int = 1  # a transaction's read costs twice as much

    @property
    def size(self) -> int:
        """What the item counts for; 0 if there is none."""
        return 0 if self.stored is None else stored_size(self.stored)

    @property
    def units(self) -> float:
        """Read units."""
        if (
            self.stored is None or len(self.stored) <= READ_UNIT_BYTES
        ):  # JSON is never shorter than the item's size
            return self.factor * (1.0 if self.consistent else 0.5)
        return self.factor * capacity.read_units(self.size, consistent=self.consistent)

    def charges(self) -> Iterator[Charge]:
        """The one read."""
        yield Charge(self.table, None, self.key, self.units, write=False)


class KeyQueried(ItemRead):
    """What a Query for a whole key has found, which one item has at most: a page, but it costs what GetItem costs."""

    def returned(self) -> int | None:
        """The items of the page."""
        return 0 if self.stored is None else 1


class CollectionSize(NamedTuple):
    """The item collection that a write touched: its partition key and its bytes, local index entries included."""

    key: Item
    size: int


class ItemWritten(Result):
    """One item put, updated, deleted or checked; `attributes` is what the client asked to see of it."""

    table: Table
    table_name: str
    outcome: Outcome
    attributes: Item | None = None
    collection: CollectionSize | None = None  # only where it was asked for
    factor: int = 1  # a transaction's write costs the table twice as much, its indexes once

    @property
    def units(self) -> float:
        """Write units on the table itself."""
        return float(self.factor * self.outcome.units)

    @property
    def only_write(self) -> tuple[bytes, float] | None:
        """The item's key and units, if no index was written besides."""
        return None if self.outcome.index_diffs else (self.outcome.key, self.units)

    def charges(self) -> Iterator[Charge]:
        """The item's write, and the rows of indexes that came and went with it."""
        yield Charge(self.table, None, self.outcome.key, self.units, write=True)
        for diff in self.outcome.index_diffs:
            row = diff.after or diff.before
            key = b"" if row is None else row.key
            yield Charge(self.table, diff.index, key, float(diff.units), write=True)


class PlainWritten(Result):
    """Items put into or removed from a table, where nothing else was written: a batch's of one table, or one item."""

    attributes: ClassVar[None] = None
    collection: ClassVar[None] = None

    table: Table
    table_name: str
    keys: Sequence[bytes]
    units: Sequence[float]  # of each

    @property
    def only_write(self) -> tuple[bytes, float]:
        """The key and units of the one item that was written."""
        ((key,), (units,)) = self.keys, self.units
        return key, units

    def charges(self) -> Iterator[Charge]:
        """All writes."""
        for key, units in zip(self.keys, self.units, strict=True):
            yield Charge(self.table, None, key, units, write=True)


class ItemsRead(Result):
    """Several items by their keys, in the request's order: a batch or a transaction."""

    items: Sequence[ItemRead]

    def charges(self) -> Iterator[Charge]:
        """All reads."""
        for item in self.items:
            yield from item.charges()


class ItemsWritten(Result):
    """Several items, in the request's order: a batch or a transaction."""

    items: Sequence[ItemWritten | PlainWritten]

    def charges(self) -> Iterator[Charge]:
        """All writes."""
        for item in self.items:
            yield from item.charges()


class PageRead(Result):
    """One page of a table or index."""

    table: Table
    index: Index | None
    table_name: str
    start: bytes  # where the reading began; if several partitions may be read, what no key of the page lies before
    page: Page
    partitions: Partitions = WHOLE
    consistent: bool = False

    def returned(self) -> int | None:
        """The items of the page, also if only their number was asked for."""
        return self.page.count

    def first_of(self, partition: int) -> bytes:
        """Where the page begins in a partition."""
        return max(self.start, self.partitions[partition])

    def charges(self) -> Iterator[Charge]:
        """What was evaluated of each partition, and the items that a local index had to fetch."""
        page = self.page
        for number, size in page.sizes.items():
            units = capacity.read_units(size, consistent=self.consistent)
            yield Charge(self.table, self.index, self.first_of(number), units, write=False)
        for key, size in page.fetched:
            units = capacity.read_units(size, consistent=self.consistent)
            yield Charge(self.table, None, key, units, write=False)
