"""Reading pages: one key range of a table or index, up to a limit of items and of bytes."""

import struct
from collections.abc import Callable
from functools import lru_cache

import msgspec

from hashrange.caches import BoundedCache
from hashrange.core import effort, items, partitions
from hashrange.core.expressions import Condition, Picker, matches_stored, matching_lines, picked_json
from hashrange.core.expressions.needles import LINE_END
from hashrange.core.keys import encoding, primary_key
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import PAGE_BYTES_MAX
from hashrange.core.partitions import WHOLE, Partitions
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.engine import Joined, Reader, RowsAhead

FIRST_ROWS = 32  # of a table or index whose rows nobody has read lately
ROWS_MAX = 128  # in one piece; none of them is large, so that no more than 8 MB are joined in vain
LARGE_BYTES = 16 * 1024  # reading smaller items is not counted, and the clock not looked at after each
FEW_ROWS = 8  # not worth joining
_RUN_BYTES_MAX = 512 * 1024  # of which parts are cut in one go: more would hold up other threads
Join = Callable[..., Joined | None]
# How large the rows of a table or index were on the page that was read last: a page of small ones is read in one piece.
_average_bytes: BoundedCache[bytes, int] = BoundedCache(4096)
_FIRST_SHARE = 4  # of a page's bytes at most a quarter in its first piece, if rows are as large as they were


# Where the rows of a table or index end: worked out for every page, and always the same.
_rows_end = lru_cache(maxsize=4096)(encoding.prefix_end)


class PageRequest(msgspec.Struct, kw_only=True):
    """What to read, and what to keep of it."""

    table: Table
    index: Index | None
    key_range: KeyRange
    limit: int | None = None
    reverse: bool = False
    start_after: bytes | None = None
    keep: Condition | None = None
    projection: Picker | None = None
    counted_only: bool = False
    fetch: bool = False  # a local index lacks attributes that are asked for: read the items themselves
    partitions: Partitions = WHOLE

    @property
    def first_key(self) -> bytes:
        """Where the reading begins, as key bytes of the table or index."""
        if self.start_after is not None:
            return self.start_after
        start, end = self.key_range.start, self.key_range.end
        if self.reverse and end:
            bounds = partitions.of(self.table, self.index)
            return max(start, bounds[partitions.last_before(bounds, end)])
        return start

    @property
    def lowest_key(self) -> bytes:
        """What no key of the page lies before."""
        start = self.key_range.start
        return start if self.reverse or self.start_after is None else max(start, self.start_after)


class Page(msgspec.Struct):
    """What was read: the kept items, and what there is to account for."""

    rows: list[bytes] = msgspec.field(
        default_factory=list
    )  # JSON of one item or more, or of the parts of them that a projection keeps, by commas
    count: int = 0
    scanned: int = 0
    last: Item | None = None
    sizes: dict[int, int] = msgspec.field(default_factory=dict)  # evaluated bytes by partition
    fetched: list[tuple[bytes, int]] = msgspec.field(
        default_factory=list
    )  # keys and sizes of the items fetched for a local index


def read_page(reader: Reader, request: PageRequest) -> Page:
    """Read until the limit of items, the limit of bytes, or the end."""
    page = Page()
    slot = layout.BASE_SLOT if request.index is None else request.index.slot
    prefix = layout.rows_prefix(request.table.number, slot)
    rest = _Rest(*_range(prefix, request), request.limit or 0)
    meter = _Meter(page, prefix, request.partitions)
    if len(request.partitions) > 1:
        meter.begin(rest.start, rest.end, reverse=request.reverse)
    pasted = (
        request.keep is None and request.projection is None and not (request.fetch or request.counted_only)
    )
    joined = reader.joined
    few = 0 < rest.limit < FEW_ROWS or rest.end == rest.start + b"\x00"
    if joined is not None and not (few or request.fetch):
        _read_runs(joined, request, page, meter, rest, _first_rows(reader, prefix, rest.start))
        if page.scanned >= FEW_ROWS:
            _average_bytes.put(prefix, rest.size // page.scanned)
    _read_rows(reader, request, page, meter, rest, pasted=pasted)
    if rest.last is not None:
        key, stored = rest.last
        if stored is None:
            stored = reader.get(key) or b""
        page.last = primary_key.last_evaluated_key(request.table, request.index, items.decode(stored))
    meter.finish()
    if len(request.partitions) > 1:
        _visit(page, request, None if rest.last is None else rest.last[0][len(prefix) :])
    return page


def item_page(stored: bytes | None, picker: Picker | None = None) -> Page:
    """The page of a whole key, which one item has at most."""
    if stored is None:
        return Page(sizes={0: 0})
    row = items.stored_json(stored) if picker is None else picked_json(picker, stored)
    return Page(rows=[row], count=1, scanned=1, sizes={0: items.stored_size(stored)})


class _Rest(msgspec.Struct):
    """What is still to be read of a page."""

    start: bytes
    end: bytes
    limit: int  # 0: none
    size: int = 0  # of what was read so far
    over: bool = False
    last: tuple[bytes, bytes | None] | None = None  # the row that a limit was reached with


def _first_rows(reader: Reader, prefix: bytes, start: bytes) -> int:
    """How many rows to take at first: all that were read ahead, or as many as were small enough on the last page."""
    rows_ahead: RowsAhead | None = getattr(reader, "rows_ahead", None)
    if rows_ahead is not None:
        return rows_ahead(start) or FIRST_ROWS
    average = _average_bytes.get(prefix)
    if not average:
        return FIRST_ROWS
    return max(FEW_ROWS, min(ROWS_MAX, PAGE_BYTES_MAX // _FIRST_SHARE // average))


def _read_runs(
    joined: Join, request: PageRequest, page: Page, meter: "_Meter", rest: _Rest, rows_max: int
) -> None:
    """Take rows in one piece after the other, the first of `rows_max`, as long as they surely fit into the page."""
    reverse = request.reverse
    separator = b"," if request.keep is None else LINE_END
    computes = request.keep is not None or request.projection is not None
    while rows_max >= FEW_ROWS and not rest.over:
        start = max(rest.start, meter.start) if reverse else rest.start
        end = rest.end if reverse else min(rest.end, meter.bound)
        if rest.limit:
            rows_max = min(rows_max, rest.limit - page.scanned)
        run = joined(
            start, end, head=items.HEADER_BYTES, limit=rows_max, reverse=reverse, separator=separator
        )
        if run is None:
            return
        size = sum(_sizes(run.rows)(run.heads))
        if rest.size + size >= PAGE_BYTES_MAX or not _take_readable(request, page, run):
            return
        if run.rows:
            page.scanned += run.rows
            rest.size += size
            meter.size += size
            if reverse:
                rest.end = run.last
            else:
                rest.start = run.last + b"\x00"
        if rest.limit and page.scanned == rest.limit:
            rest.over, rest.last = True, (run.last, None)
        elif run.rows < rows_max:
            rest.over = start == rest.start if reverse else end == rest.end
            if not rest.over:
                _go_on(meter, rest, reverse=reverse)
        if page.scanned:
            rows_max = min(ROWS_MAX, (PAGE_BYTES_MAX - rest.size) * page.scanned // rest.size)
            if computes and run.rows and not rest.over and effort.page_is_due():
                rest.over, rest.last = True, (run.last, None)


def _take_readable(request: PageRequest, page: Page, run: Joined) -> bool:
    """Likewise; False also if a row is no JSON. Nobody has compared its checksum yet, and reading it alone does."""
    try:
        return _take(request, page, run)
    except msgspec.DecodeError:
        return False


def _take(request: PageRequest, page: Page, run: Joined) -> bool:
    """Keep of a run what is to be kept; False if its rows have to be read one by one."""
    if not run.rows:
        return True
    rest, keep, count = run.rest, request.keep, run.rows
    if keep is not None:
        rows = matching_lines(keep, rest)
        if rows is None:
            return False
        count = len(rows)
        if not (request.counted_only or request.projection is None):
            rest = b",".join(rows)
    if not request.counted_only and count:
        if request.projection is not None:
            if len(rest) > _RUN_BYTES_MAX:
                return False
            page.rows.append(request.projection.cut(rest))
        elif keep is None:
            page.rows.append(rest)
        else:
            page.rows += rows or ()
    page.count += count
    return True


def _go_on(meter: "_Meter", rest: _Rest, *, reverse: bool) -> None:
    """Go on behind a partition that was read to its end."""
    if reverse:
        rest.end = meter.previous()
    else:
        rest.start = meter.next()


@lru_cache(ROWS_MAX + 1)
def _sizes(count: int) -> Callable[[bytes], tuple[int, ...]]:
    """What reads the sizes from so many headers."""
    return struct.Struct(">" + items.HEADER_SIZE_FIELD * count).unpack


def _read_rows(
    reader: Reader, request: PageRequest, page: Page, meter: "_Meter", rest: _Rest, *, pasted: bool
) -> None:
    if rest.over:
        return
    paste, limit, header = page.rows.append, rest.limit, items.HEADER_BYTES
    scanned, size = page.scanned, rest.size
    left = limit - scanned if limit else None
    for key, stored in reader.scan(rest.start, rest.end, reverse=request.reverse, limit=left):
        grown = int.from_bytes(stored[1:5], "big")
        size += grown
        scanned += 1
        if not meter.start <= key < meter.bound:
            meter.move(key)
        meter.size += grown
        large = grown > LARGE_BYTES
        if large:
            effort.spend(len(stored) >> 2)  # to copy it
        if pasted:
            paste(stored[header:])
        else:
            _keep(reader, request, page, stored)
        if scanned == limit or size >= PAGE_BYTES_MAX:
            rest.last = key, stored
            break
        if (large or not scanned & 15) and not pasted and effort.page_is_due():
            # The client goes on with another request: one alone may not compute for ever.
            rest.last = key, stored
            break
    if pasted:
        page.count += scanned - page.scanned
    page.scanned = scanned


class _Meter:
    """Adds up what is read by partition, looking for a key's partition only where it leaves the last one."""

    __slots__ = ("_bounds", "_page", "_partition", "_prefix", "bound", "size", "start")

    def __init__(self, page: Page, prefix: bytes, bounds: Partitions) -> None:
        self._page = page
        self._prefix = prefix
        self._bounds = bounds
        self._partition = 0
        self.size = 0
        self.start = prefix
        self.bound = self._end_of(0)

    def begin(self, start: bytes, end: bytes, *, reverse: bool) -> None:
        """Go to the partition that a range is read from first."""
        prefix = self._prefix
        if not reverse:
            self._go_to(partitions.number_of(self._bounds, start[len(prefix) :]))
        elif end.startswith(prefix):
            self._go_to(partitions.last_before(self._bounds, end[len(prefix) :]))
        else:
            self._go_to(len(self._bounds) - 1)

    def next(self) -> bytes:
        """Go on to the next partition; gives where it begins."""
        self.finish()
        self._go_to(self._partition + 1)
        return self.start

    def previous(self) -> bytes:
        """Go on to the partition before; gives where it ends."""
        self.finish()
        self._go_to(self._partition - 1)
        return self.bound

    def _end_of(self, partition: int) -> bytes:
        if partition == len(self._bounds) - 1:
            return _rows_end(self._prefix)
        return self._prefix + self._bounds[partition + 1]

    def move(self, key: bytes) -> None:
        """Go on to the partition of this key."""
        self.finish()
        self._go_to(partitions.number_of(self._bounds, key[len(self._prefix) :]))

    def _go_to(self, partition: int) -> None:
        self._partition = partition
        self.size = 0
        self.start = self._prefix + self._bounds[partition]
        self.bound = self._end_of(partition)

    def finish(self) -> None:
        """Enter what was read of the partition; of several, one that was only passed is entered by `_visit`."""
        if self.size or len(self._bounds) == 1:
            self._page.sizes[self._partition] = self.size


def _range(prefix: bytes, request: PageRequest) -> tuple[bytes, bytes]:
    start = prefix + request.key_range.start
    end = prefix + request.key_range.end if request.key_range.end else _rows_end(prefix)
    if request.start_after is not None:
        if request.reverse:
            end = min(end, prefix + request.start_after)
        else:
            start = max(start, prefix + request.start_after + b"\x00")
    return start, end


def _keep(reader: Reader, request: PageRequest, page: Page, stored: bytes) -> None:
    if request.fetch:
        stored = _fetched(reader, request.table, page, stored)
    if request.keep is not None and not matches_stored(request.keep, stored):
        return
    page.count += 1
    if request.counted_only:
        return
    if request.projection is None:
        page.rows.append(items.stored_json(stored))
    else:
        page.rows.append(picked_json(request.projection, stored))


def _fetched(reader: Reader, table: Table, page: Page, stored: bytes) -> bytes:
    key = primary_key.of_key(table, primary_key.key_of(table, items.decode(stored)))
    whole = reader.get(layout.rows_prefix(table.number, layout.BASE_SLOT) + key)
    # Index row and item are written in one commit, and this is one snapshot: the item is there.
    item = stored if whole is None else whole
    page.fetched.append((key, items.stored_size(item)))
    return item


def _visit(page: Page, request: PageRequest, last_key: bytes | None) -> None:
    """A minimum is charged for every partition that is passed, empty ones too."""
    bounds = request.partitions
    low = partitions.number_of(bounds, request.lowest_key)
    high = _last_partition(request)
    if last_key is not None:
        if request.reverse:
            low = partitions.number_of(bounds, last_key)
        else:
            high = partitions.number_of(bounds, last_key)
    for partition in range(low, high + 1):
        page.sizes.setdefault(partition, 0)


def _last_partition(request: PageRequest) -> int:
    """Which partition the page's last possible key belongs to."""
    if request.reverse and request.start_after is not None:
        return partitions.last_before(request.partitions, request.start_after)
    if request.key_range.end:
        return partitions.last_before(request.partitions, request.key_range.end)
    return len(request.partitions) - 1
