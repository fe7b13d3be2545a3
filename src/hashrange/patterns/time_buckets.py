"""Time buckets: a series whose partition changes with time, so that none of them grows without end."""

from datetime import UTC, datetime, timedelta

import msgspec

from hashrange.patterns.cursors import Page, cursor_of, position_of
from hashrange.patterns.errors import BadCursor
from hashrange.patterns.steps import Steps, procedure
from hashrange.patterns.tables import Span, Table
from hashrange.patterns.values import Item, Scalar

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
LIMIT_MAX = 1_000
BUCKETS_PER_PAGE_MAX = 100  # a page over years without a single item still ends


class TimeBuckets(msgspec.Struct, frozen=True):
    """Events of a series in partitions `series#start` of one width, sorted by `time#id`, in microseconds.

    Where one series is written faster than 1,000 items a second, give it several names, or shard it.
    """

    table: Table
    width: timedelta = timedelta(days=1)
    kept: timedelta | None = None

    @procedure
    def put(self, series: str, at: datetime, event_id: str, item: Item) -> Steps[None]:
        """Store an event; the same id at the same time replaces it. With `kept`, TTL deletes it by `expires_at`."""
        stored = {**item, **self._key(series, at, event_id)}
        if self.kept is not None:
            stored["expires_at"] = int((at + self.kept).timestamp())
        yield from self.table.write(self.table.putting(stored))

    @procedure
    def query(
        self,
        series: str,
        start: datetime,
        end: datetime,
        *,
        newest_first: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Steps[Page]:
        """Events from the start up to, not including, the end. A page with a cursor may have few items, even none."""
        if not 1 <= limit <= LIMIT_MAX:
            raise ValueError(f"a page has 1 to {LIMIT_MAX} items")
        first, last = _microseconds(start), _microseconds(end) - 1
        name = f"{self.table.name}/{series}/{first}/{last}/{newest_first}/{self._width}"
        span = Span(f"{first:017d}#", f"{last:017d}$", forward=not newest_first)
        bucket, after = self._position(name, cursor, last if newest_first else first)
        if after is not None and not span.has(after):
            raise BadCursor("the cursor is damaged")
        step = -self._width if newest_first else self._width
        items: list[Item] = []
        for _ in range(BUCKETS_PER_PAGE_MAX):
            if last < first or not first - first % self._width <= bucket <= last:
                return Page(items, None)
            partition = f"{series}#{bucket:017d}"
            key = self.table.key(partition, after) if after is not None else None
            page = yield from self.table.query(partition, span, limit=limit - len(items), after=key)
            items += page.items
            after = page.last_key[self.table.sort_key] if page.last_key else None
            bucket += 0 if page.last_key else step
            if len(items) == limit:
                break
        return Page(items, cursor_of(name, bucket, *(() if after is None else (after,))))

    def _position(self, name: str, cursor: str | None, start: int) -> tuple[int, Scalar | None]:
        """The bucket to begin with, and the sort key in it to begin behind."""
        if cursor is None:
            return start - start % self._width, None
        match position_of(name, cursor):
            case [int() as bucket]:
                return bucket, None
            case [int() as bucket, str() as after]:
                return bucket, after
            case _:
                raise BadCursor("the cursor is damaged")

    @property
    def _width(self) -> int:
        if self.width < timedelta(seconds=1):
            raise ValueError("a bucket has a second or more")
        return self.width // _MICROSECOND

    def _key(self, series: str, at: datetime, event_id: str) -> Item:
        moment = _microseconds(at)
        return self.table.key(f"{series}#{moment - moment % self._width:017d}", f"{moment:017d}#{event_id}")


def _microseconds(at: datetime) -> int:
    """Since 1970; a time without a zone is refused, since it means another moment on another machine."""
    if at.tzinfo is None:
        raise ValueError("a time needs its zone")
    moment = (at - _EPOCH) // _MICROSECOND
    if not 0 <= moment < 10**17:
        raise ValueError("a time is after 1970")
    return moment
