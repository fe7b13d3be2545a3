"""Consumption: what a table has used up over some hours, and what it keeps, for a bill."""

import math
from itertools import islice

import msgspec

from hashrange.core.schema import Index, Table
from hashrange.storage import metric_rows, store
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.engine import Reader
from hashrange.storage.metric_rows import WantedSeries

HOURS_MAX = 360
# Up to so many hours back consumption is kept by so many seconds: see storage/metric_rows.py.
_PERIODS = ((24, 60), (120, 300), (HOURS_MAX, 3600))
_READS, _WRITES = "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"
_BACKUPS_MAX = 10_000  # of a region, that are looked at


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
    """Of a table. Times are epoch seconds; periods begin at multiples of their length, the last is not over yet.

    `recovery_since` is when point-in-time recovery was switched on, `stream_reads` counts the GetRecords requests of
    the table's present stream, and `backup_bytes` are those of its backups on demand.
    """

    table: str
    region: str
    table_class: str
    on_demand: bool
    start: int
    end: int
    period_seconds: int
    parts: list[Consumed]
    recovery_since: float | None = None
    stream_reads: int = 0
    backup_bytes: int = 0


def consumption(reader: Reader, table: Table, hours: int, now: float) -> Consumption:
    """What a table with all of its indexes has consumed."""
    period = next(seconds for most, seconds in _PERIODS if hours <= most)
    # A table of the same name that was there before is not in it.
    start = int(max(now - hours * 3600, table.created_at) // period) * period
    times = range(start, max(math.ceil(now), start + 1), period)
    wanted = {
        (owner, metric): _wanted(table, owner, metric, period)
        for owner in (None, *table.global_indexes)
        for metric in (_READS, _WRITES)
    }
    polls = _stream_polls(table, period)
    points = metric_rows.read_many(
        reader, table.account_id, table.region, (*wanted.values(), *polls), start, times.stop, now=now
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
        table.pitr_since,
        sum(point.n for series in polls for point in points[series]),
        _backup_bytes(reader, table),
    )


def _wanted(table: Table, index: Index | None, metric: str, period: int) -> WantedSeries:
    dimensions = {"TableName": table.name}
    if index is not None:
        dimensions["GlobalSecondaryIndexName"] = index.name
    return WantedSeries(metric, tuple(sorted(dimensions.items())), period)


def _stream_polls(table: Table, period: int) -> list[WantedSeries]:
    """The series with a sample for every GetRecords that was answered."""
    if table.stream_label is None:
        return []
    dimensions = {"TableName": table.name, "Operation": "GetRecords", "StreamLabel": table.stream_label}
    return [WantedSeries("ReturnedRecordsCount", tuple(sorted(dimensions.items())), period)]


def _backup_bytes(reader: Reader, table: Table) -> int:
    backups = islice(BACKUPS.of_region(reader, table.account_id, table.region), _BACKUPS_MAX)
    return sum(
        backup.size
        for _, backup in backups
        if backup.status == "AVAILABLE" and backup.source.table_id == table.table_id
    )
