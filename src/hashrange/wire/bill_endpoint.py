"""What a table has consumed: `hashrange bill` reads it here, and puts prices to it."""

import math

import msgspec

from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage import metric_rows, store
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.metric_rows import WantedSeries
from hashrange.wire.table_pages import Answer, Fields, TableFinder, TablePage, WrongFields, unavailable

PATH = b"/_hashrange/bill"
HOURS, HOURS_MAX = 24, 360
# Up to so many hours back consumption is kept by so many seconds: see storage/metric_rows.py.
_PERIODS = ((24, 60), (120, 300), (HOURS_MAX, 3600))
_READS, _WRITES = "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"


class Consumed(msgspec.Struct, frozen=True):
    """Of a table (no index) or one of its indexes: units of each period, and what is stored now.

    A local index has no units of its own: the table pays them.
    """

    index: str | None
    items: int
    size_bytes: int
    reads: list[float] = []
    writes: list[float] = []


class Consumption(msgspec.Struct, frozen=True):
    """The answer. Times are epoch seconds; periods begin at multiples of their length, the last is not over yet."""

    table: str
    region: str
    table_class: str
    on_demand: bool
    start: int
    end: int
    period_seconds: int
    parts: list[Consumed]


class BillEndpoint(TablePage):
    """Answers `GET /_hashrange/bill?table=NAME`."""

    path = PATH
    rule = b"ask for a table: /_hashrange/bill?table=NAME, with &hours=NUMBER\n"

    def __init__(self, engine: Engine, clock: Clock, finder: TableFinder) -> None:
        super().__init__(finder)
        self._engine = engine
        self._clock = clock

    def show(self, table: Table, _index: Index | None, fields: Fields, answer: Answer) -> None:
        """Answer when the rows have been read, for the table with all of its indexes."""
        hours = _hours(fields)

        def done(body: bytes | None, _error: BaseException | None) -> None:
            if body is None:
                unavailable(answer)
            else:
                answer(b"200 OK", body)

        def read(reader: Reader) -> bytes:
            return msgspec.json.encode(_consumption(reader, table, hours, self._clock.now())) + b"\n"

        self._engine.submit_read(read, done, more=True)


def _hours(fields: Fields) -> int:
    text = fields.get("hours", [str(HOURS)])[0]
    hours = int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else 0
    if not 1 <= hours <= HOURS_MAX:
        raise WrongFields(f"hours are from 1 to {HOURS_MAX}")
    return hours


def _consumption(reader: Reader, table: Table, hours: int, now: float) -> Consumption:
    period = next(seconds for most, seconds in _PERIODS if hours <= most)
    # A table of the same name that was there before is not in it.
    start = int(max(now - hours * 3600, table.created_at) // period) * period
    times = range(start, max(math.ceil(now), start + 1), period)
    owners = (None, *table.global_indexes)
    wanted = {
        (owner, metric): _wanted(table, owner, metric, period)
        for owner in owners
        for metric in (_READS, _WRITES)
    }
    points = metric_rows.read_many(
        reader, table.account_id, table.region, wanted.values(), start, times.stop, now=now
    )

    def units(owner: Index | None, metric: str) -> list[float]:
        sums = {point.time: point.sum for point in points[wanted[owner, metric]]}
        return [sums.get(time, 0.0) for time in times]

    parts = [
        Consumed(
            None if owner is None else owner.name,
            store.row_count(reader, table, owner),
            store.size_bytes(reader, table, owner),
            *(() if owner is not None and owner.local else (units(owner, _READS), units(owner, _WRITES))),
        )
        for owner in (None, *table.index_by_name.values())
    ]
    return Consumption(
        table.name,
        table.region,
        table.table_class or "STANDARD",
        table.on_demand,
        max(start, int(table.created_at)),
        math.ceil(now),
        period,
        parts,
    )


def _wanted(table: Table, index: Index | None, metric: str, period: int) -> WantedSeries:
    dimensions = {"TableName": table.name}
    if index is not None:
        dimensions["GlobalSecondaryIndexName"] = index.name
    return WantedSeries(metric, tuple(sorted(dimensions.items())), period)
