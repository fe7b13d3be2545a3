"""Reading pages: one stretch of a table or index, up to a limit of items and of bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from hashrange.core import capacity, items, keys, primary_key, reads
from hashrange.core.expressions import Condition, Projection, matches, pick
from hashrange.core.limits import PAGE_BYTES_MAX
from hashrange.core.reads import Stretch
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.engine import Reader


@dataclass(slots=True, kw_only=True)
class PageRequest:
    """What to read, and what to keep of it."""

    table: Table
    index: Index | None
    stretch: Stretch
    limit: int | None = None
    reverse: bool = False
    start_after: bytes | None = None
    keep: Condition | None = None
    projection: Projection | None = None
    counted_only: bool = False
    fetch: bool = False  # a local index lacks attributes that are asked for: read the items themselves
    partitions: int = 1


@dataclass(slots=True)
class Page:
    """What was read: the kept items as JSON, and what there is to account for."""

    rows: list[bytes] = field(default_factory=list)
    count: int = 0
    scanned: int = 0
    last: Item | None = None
    sizes: dict[int, int] = field(default_factory=dict)  # evaluated bytes by partition
    fetched: list[int] = field(default_factory=list)  # sizes of the items fetched for a local index

    def units(self, *, consistent: bool) -> float:
        """Read units of what was evaluated: rounded once per partition visited."""
        return sum(capacity.read_units(size, consistent=consistent) for size in self.sizes.values())

    def fetch_units(self, *, consistent: bool) -> float:
        """Read units of the items fetched from the table, each rounded by itself."""
        return sum(capacity.read_units(size, consistent=consistent) for size in self.fetched)


def read_page(reader: Reader, request: PageRequest) -> Page:
    """Read until the limit of items, the limit of bytes, or the end."""
    page = Page()
    slot = layout.BASE_SLOT if request.index is None else request.index.slot
    prefix = layout.rows_prefix(request.table.number, slot)
    meter = _Meter(page, prefix, request.partitions)
    pasted = (
        request.keep is None and request.projection is None and not (request.fetch or request.counted_only)
    )
    paste, limit, header = page.rows.append, request.limit or 0, items.HEADER_BYTES
    scanned = size = 0
    for key, stored in _rows(reader, prefix, request):
        grown = int.from_bytes(stored[1:header], "big")
        size += grown
        scanned += 1
        if key >= meter.bound:
            meter.move(key)
        meter.size += grown
        if pasted:
            paste(stored[header:])
        else:
            _keep(reader, request, page, stored)
        if scanned == limit or size >= PAGE_BYTES_MAX:
            page.last = reads.last_evaluated_key(request.table, request.index, items.decode(stored))
            break
    page.scanned = scanned
    if pasted:
        page.count = scanned
    meter.finish()
    if request.partitions > 1:
        _visit(page, request, key[len(prefix) :] if page.last is not None else None)
    return page


class _Meter:
    """Adds up what is read by partition, looking at a key's hash only where a new partition begins."""

    __slots__ = ("_page", "_partition", "_partitions", "_prefix", "bound", "size")

    def __init__(self, page: Page, prefix: bytes, partitions: int) -> None:
        self._page = page
        self._prefix = prefix
        self._partitions = partitions
        self._partition = 0
        self.size = 0
        self.bound = self._end_of(0)

    def _end_of(self, partition: int) -> bytes:
        if partition == self._partitions - 1:
            return keys.after(self._prefix)
        return self._prefix + reads.partition_start(partition + 1, self._partitions)

    def move(self, key: bytes) -> None:
        """Go on to the partition of this key."""
        self.finish()
        self._partition = reads.partition_of(key[len(self._prefix) :], self._partitions)
        self.size = 0
        self.bound = self._end_of(self._partition)

    def finish(self) -> None:
        """Enter what was read of the partition; of several, one that was only passed is entered by `_visit`."""
        if self.size or self._partitions == 1:
            self._page.sizes[self._partition] = self.size


def _rows(reader: Reader, prefix: bytes, request: PageRequest) -> Iterator[tuple[bytes, bytes]]:
    start = prefix + request.stretch.start
    end = prefix + request.stretch.end if request.stretch.end else keys.after(prefix)
    if request.start_after is not None:
        if request.reverse:
            end = min(end, prefix + request.start_after)
        else:
            start = max(start, prefix + request.start_after + b"\x00")
    return reader.scan(start, end, reverse=request.reverse, limit=request.limit)


def _keep(reader: Reader, request: PageRequest, page: Page, stored: bytes) -> None:
    if request.fetch:
        stored = _fetched(reader, request.table, page, stored)
    item = None
    if request.keep is not None:
        item = items.decode(stored)
        if not matches(request.keep, item):
            return
    page.count += 1
    if request.counted_only:
        return
    if request.projection is None:
        page.rows.append(items.stored_json(stored))
    else:
        page.rows.append(orjson.dumps(pick(request.projection, item or items.decode(stored))))


def _fetched(reader: Reader, table: Table, page: Page, stored: bytes) -> bytes:
    key = primary_key.of_key(table, primary_key.key_of(table, items.decode(stored)))
    whole = reader.get(layout.rows_prefix(table.number, layout.BASE_SLOT) + key)
    # Index row and item are written in one commit, and this is one snapshot: the item is there.
    found = stored if whole is None else whole
    page.fetched.append(items.stored_size(found))
    return found


def _visit(page: Page, request: PageRequest, last_key: bytes | None) -> None:
    """A scan is charged a minimum for every partition it passes, empty ones too."""
    first = request.start_after if request.start_after is not None else request.stretch.start
    low = reads.partition_of(first, request.partitions)
    if last_key is not None:
        high = reads.partition_of(last_key, request.partitions)
    elif request.stretch.end:
        end = int.from_bytes(request.stretch.end[:8].ljust(8, b"\x00"), "big")
        high = max(end - 1, 0) * request.partitions >> 64
    else:
        high = request.partitions - 1
    for partition in range(low, high + 1):
        page.sizes.setdefault(partition, 0)
