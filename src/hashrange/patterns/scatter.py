"""Scatter-gather: one ordered page out of many item collections, which are read in parallel and merged."""

import heapq
from collections import deque
from collections.abc import Sequence

import msgspec

from hashrange.patterns.cursors import Page, cursor_of, position_of
from hashrange.patterns.errors import BadCursor
from hashrange.patterns.steps import SdkCall, Steps
from hashrange.patterns.tables import Span, Table, TablePage
from hashrange.patterns.values import Item, Scalar

LIMIT_MAX = 1_000
SHARDS_MAX = 256
_READ_AT_LEAST = 4


class _Shard:
    """One item collection: what was read of it and is not merged yet, and how to read on."""

    def __init__(self, number: int, partition: Scalar, span: Span, after: Item | None) -> None:
        self.number, self.partition, self.span = number, partition, span
        self.after: Item | None = after
        self.waiting: deque[Item] = deque()
        self.is_read = False

    @property
    def is_dry(self) -> bool:
        return not self.waiting and not self.is_read

    def take(self, page: TablePage) -> None:
        self.waiting.extend(page.items)
        self.after = page.last_key
        self.is_read = page.last_key is None


class _Place:
    """An item's place in the merge; in a descending one the comparison is the other way around."""

    __slots__ = ("forward", "rank")

    def __init__(self, rank: tuple[Scalar, int], *, forward: bool) -> None:
        self.rank, self.forward = rank, forward

    def __lt__(self, other: "_Place") -> bool:
        # Two texts compare by code points, which is the order of their UTF-8 and so the service's.
        return self.rank < other.rank if self.forward else other.rank < self.rank


class Scatter(msgspec.Struct, frozen=True):
    """A query over several partitions, in the order of sort keys; where those are equal, of partitions."""

    table: Table
    partitions: Sequence[str]
    span: Span
    limit: int

    def page(self, cursor: str | None) -> Steps[Page]:
        """One page. At most about twice its items are in memory, and one megabyte for each shard."""
        if not 1 <= self.limit <= LIMIT_MAX:
            raise ValueError(f"a page has 1 to {LIMIT_MAX} items")
        if not 1 <= len(self.partitions) <= SHARDS_MAX:
            raise ValueError(f"there are 1 to {SHARDS_MAX} shards")
        shards = self._shards(cursor)
        items: list[Item] = []
        last: tuple[Scalar, int] | None = None
        heap: list[tuple[_Place, _Shard]] = []
        yield from self._fill(shards)
        for shard in shards:
            self._push(heap, shard)
        while heap and len(items) < self.limit:
            place, shard = heapq.heappop(heap)
            items.append(shard.waiting.popleft())
            last = place.rank
            if shard.is_dry and len(items) < self.limit:
                yield from self._fill([shard])
            self._push(heap, shard)
        is_end = last is None or all(shard.is_read and not shard.waiting for shard in shards)
        return Page(items, None if is_end or last is None else cursor_of(self._name(), *last))

    def _fill(self, shards: Sequence[_Shard]) -> Steps[None]:
        """Read on in these shards, and again in those that gave nothing but are not at their end."""
        dry = [shard for shard in shards if shard.is_dry]
        while dry:
            pages = yield from self.table.query_all([self._query(shard) for shard in dry])
            for shard, page in zip(dry, pages, strict=True):
                shard.take(page)
            dry = [shard for shard in dry if shard.is_dry]

    def _query(self, shard: _Shard) -> SdkCall:
        # Items spread evenly: a shard's share of the page, and as much again, makes a second round rare.
        share = max(_READ_AT_LEAST, 2 * -(-self.limit // len(self.partitions)))
        return self.table.querying(
            shard.partition, shard.span, limit=min(share, self.limit), after=shard.after
        )

    def _push(self, heap: list[tuple[_Place, _Shard]], shard: _Shard) -> None:
        if shard.waiting:
            sort = shard.waiting[0][self.table.sort_key]
            heapq.heappush(heap, (_Place((sort, shard.number), forward=self.span.forward), shard))

    def _name(self) -> str:
        span = self.span
        return f"{self.table.name}/{self.partitions[0]}/{span.low!r}/{span.high!r}/{span.forward}"

    def _shards(self, cursor: str | None) -> list[_Shard]:
        """All shards, each from the cursor on.

        The cursor is the last item's sort key and shard. That is every shard's position: those up to this shard go on
        behind the key, the others at it. So it does not grow with the shards, and survives a change of their number.
        """
        if cursor is None:
            return [_Shard(number, name, self.span, None) for number, name in enumerate(self.partitions)]
        match position_of(self._name(), cursor):
            case [sort, int() as last] if self.span.has(sort):
                return [self._resumed(number, sort, last) for number in range(len(self.partitions))]
            case _:
                raise BadCursor("the cursor is damaged")

    def _resumed(self, number: int, sort: Scalar, last: int) -> _Shard:
        partition = self.partitions[number]
        if number == last or (number < last) is self.span.forward:
            return _Shard(number, partition, self.span, self.table.key(partition, sort))
        if self.span.forward:
            return _Shard(number, partition, Span(sort, self.span.high, forward=True), None)
        return _Shard(number, partition, Span(self.span.low, sort, forward=False), None)
