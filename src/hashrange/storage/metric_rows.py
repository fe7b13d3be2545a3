"""The rows of metrics: what every worker of every server has counted, by table and minute.

All series of a table and minute are one row, so that a flush is small. A worker adds only to rows of its own, so that
no two of them ever wait for each other; readers add them up. It numbers its flushes, because an engine may not know
whether it has committed one, and the second attempt must not count again. See jobs/metrics.py for what becomes of old
rows. Metrics that belong to no table are those of the table with the empty name.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from hashrange.capacity.series import (
    Dimensions,
    Place,
    Point,
    Series,
    Statistics,
    parse_series,
    series_name,
)
from hashrange.capacity.tallies import Counted
from hashrange.core import effort
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.catalogue import stored_table
from hashrange.storage.engine import Reader, Transaction

MINUTE, FIVE_MINUTES, HOUR = RESOLUTIONS = (60, 300, 3600)
KEPT_SECONDS = 15 * 24 * 3600
SEEN_SECONDS = 6 * 3600  # how exactly the last sample of a series is known

SHARED = bytes(8)  # the worker of what has been added up, and of what jobs count
_WORKER_BYTES = 8
_TIME_BYTES = 8
_WORKERS_MAX = 10_000

# These have a sample of zero in every minute of a table in which nothing was consumed.
ZERO_FILLED = frozenset({"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"})


class Flush(NamedTuple):
    """What a worker wants to be written at once."""

    worker: bytes
    number: int
    tallies: Sequence[Counted]

    def reads(self) -> list[bytes]:
        """The rows that `write` looks at."""
        keys = [layout.METRIC_WORKER + self.worker]
        for tally in self.tallies:
            keys += _keys_of(tally, self.worker)
        return keys

    def write(self, tx: Transaction, now: float) -> None:
        """Add everything, unless it was added before."""
        marker = layout.METRIC_WORKER + self.worker
        stored = tx.get(marker)
        if stored is not None and _unpack_marker(stored)[0] == self.number:
            return
        for tally in self.tallies:
            add(tx, tally, self.worker)
        tx.put(marker, msgspec.msgpack.encode((self.number, int(now))))


_series = msgspec.msgpack.Decoder(Series)
_marker = msgspec.msgpack.Decoder(tuple[int, int])
_seen = msgspec.msgpack.Decoder(dict[str, int])
_encode = msgspec.msgpack.Encoder().encode
_unpack_marker = _marker.decode


def _place_key(place: Place, prefix: bytes) -> bytes:
    """The key, or its beginning, of the rows of one kind."""
    return prefix + f"{place.account_id}\0{place.region}\0{place.table_name}\0".encode()


def add(tx: Transaction, tally: Counted, worker: bytes = SHARED) -> None:
    """Add what was counted for one table and minute to the rows of a worker. Jobs do so in their own transactions."""
    row, total, seen = _keys_of(tally, worker)
    if tally.series:
        _merge_into(tx, row, tally.series)
        _note_series(tx, seen, tally)
    _merge_into(tx, total, {**tally.series, **tally.totals})


def add_samples(tx: Transaction, place: Place, now: float, samples: Mapping[str, float]) -> None:
    """Add one sample to each of some series, by their names: what jobs count, in their own transactions."""
    series = {name: Statistics(1, value, value, value) for name, value in samples.items()}
    add(tx, Counted(place, _aligned(now, MINUTE), series, {}))


def _keys_of(tally: Counted, worker: bytes) -> tuple[bytes, bytes, bytes]:
    place = tally.place
    return (
        _row_key(MINUTE, place, tally.time) + worker,
        _place_key(place, layout.METRIC_TOTAL) + worker,
        _place_key(place, layout.METRIC_SERIES),
    )


def _row_key(resolution: int, place: Place, time: int) -> bytes:
    return _place_key(place, _resolution(resolution)) + max(time, 0).to_bytes(_TIME_BYTES, "big")


def _resolution(resolution: int) -> bytes:
    return layout.METRIC + bytes([RESOLUTIONS.index(resolution)])


def _merge_into(tx: Transaction, key: bytes, series: Mapping[str, Statistics]) -> None:
    stored = tx.get(key)
    merged = {} if stored is None else _series.decode(stored)
    for name, statistics in series.items():
        merged.setdefault(name, Statistics()).merge(statistics)
    tx.put(key, _encode(merged))


def _note_series(tx: Transaction, key: bytes, tally: Counted) -> None:
    stored = tx.get(key)
    seen = {} if stored is None else _seen.decode(stored)
    news = {
        name: tally.time
        for name in tally.series
        if not seen.get(name, -SEEN_SECONDS) > tally.time - SEEN_SECONDS
    }
    if news:
        tx.put(key, _encode(seen | news))


def read_series(
    reader: Reader,
    account_id: str,
    region: str,
    metric: str,
    dimensions: Dimensions,
    start: float,
    end: float,
    period: int,
    *,
    now: float = math.inf,
) -> list[Point]:
    """The points of a metric of DynamoDB's from `start` to before `end`, by time; periods without samples are left out.

    The period is in seconds, a multiple of 60. Points begin at multiples of it. What is older than a day is kept by
    five minutes, and what is older than five days by the hour: its samples count for the period that those begin in.
    Where consumption is looked at, a table that is idle has samples of zero, up to `now`.
    """
    wanted = WantedSeries(metric, tuple(sorted(dimensions.items())), period)
    return read_many(reader, account_id, region, [wanted], start, end, now=now)[wanted]


class WantedSeries(NamedTuple):
    """A series to be read, with the length of its points."""

    metric: str
    dimensions: tuple[tuple[str, str], ...]  # by name
    period: int

    @property
    def table_name(self) -> str:
        """The table that it belongs to."""
        return dict(self.dimensions).get("TableName", "")


def read_many(
    reader: Reader,
    account_id: str,
    region: str,
    wanted: Iterable[WantedSeries],
    start: float,
    end: float,
    *,
    now: float = math.inf,
) -> dict[WantedSeries, list[Point]]:
    """What `read_series` gives, of many series: the rows of a table, which have all of its series, are read once."""
    tables: dict[str, list[WantedSeries]] = {}
    for one in dict.fromkeys(wanted):
        tables.setdefault(one.table_name, []).append(one)
    points: dict[WantedSeries, list[Point]] = {}
    for table_name, members in tables.items():
        points |= _read_table(reader, Place(account_id, region, table_name), members, start, end, now)
    return points


def _read_table(
    reader: Reader, place: Place, wanted: list[WantedSeries], start: float, end: float, now: float
) -> dict[WantedSeries, list[Point]]:
    gathered: list[tuple[str, int, dict[int, Point]]] = [
        (series_name(one.metric, dict(one.dimensions)), one.period, {}) for one in wanted
    ]
    earliest = min(_aligned(start, one.period) for one in wanted)
    for time, series in _rows(reader, place, earliest, end):
        for name, period, points in gathered:
            if (statistics := series.get(name)) is not None and time >= _aligned(start, period):
                at = _aligned(time, period)
                points.setdefault(at, Point(time=at)).merge(statistics)
    for one, (_, period, points) in zip(wanted, gathered, strict=True):
        if one.metric in ZERO_FILLED:
            times = range(_aligned(start, period), math.ceil(min(end, now)), period)
            _fill(reader, place, dict(one.dimensions), points, times)
    return {
        one: [points[time] for time in sorted(points)]
        for one, (_, _, points) in zip(wanted, gathered, strict=True)
    }


def _aligned(time: float, period: int) -> int:
    return int(time // period) * period


def _rows(reader: Reader, place: Place, start: float, end: float) -> Iterator[tuple[int, Series]]:
    for resolution in RESOLUTIONS:
        prefix = _place_key(place, _resolution(resolution))
        first = _row_key(resolution, place, int(start))
        last = _row_key(resolution, place, math.ceil(end))
        for key, stored in effort.counted(reader.scan(first, last)):
            yield int.from_bytes(key[len(prefix) : len(prefix) + _TIME_BYTES], "big"), _series.decode(stored)


def _fill(
    reader: Reader, place: Place, dimensions: Dimensions, points: dict[int, Point], times: range
) -> None:
    table = stored_table(reader, *place)
    index = dimensions.get("GlobalSecondaryIndexName")
    if table is None or (index is not None and index not in table.index_by_name):
        return
    if len(dimensions) > 1 + (index is not None):
        return
    for time in times:
        if time not in points and time + times.step > table.created_at:
            points[time] = Point(n=1, time=time)


def known_series(
    reader: Reader,
    account_id: str,
    region: str,
    *,
    since: float = 0,
    table_name: str | None = None,
    from_table: str = "",
) -> Iterator[tuple[str, dict[str, str]]]:
    """The metric and dimensions of every series with a sample since a time, by table; or of those of one table.

    `from_table` is the first table to be looked at.
    """
    prefix = layout.METRIC_SERIES + f"{account_id}\0{region}\0".encode()
    start = prefix + from_table.encode()
    if table_name is not None:
        start = prefix = _place_key(Place(account_id, region, table_name), layout.METRIC_SERIES)
    for key, stored in effort.counted(reader.scan(start, encoding.prefix_end(prefix))):
        name = key[len(layout.METRIC_SERIES) :].split(b"\0")[2].decode()
        for series, seen in _seen.decode(stored).items():
            if seen + SEEN_SECONDS >= since:
                yield parse_series(series, name)


def totals(reader: Reader, place: Place) -> Series:
    """Everything that was ever counted for a table."""
    prefix = _place_key(place, layout.METRIC_TOTAL)
    return _added_up(_series.decode(row) for _, row in reader.scan(prefix, encoding.prefix_end(prefix)))


def _added_up(rows: Iterable[Series]) -> Series:
    merged: Series = {}
    for row in rows:
        for name, statistics in row.items():
            merged.setdefault(name, Statistics()).merge(statistics)
    return merged


def check(key: bytes, value: bytes) -> None:
    """Raise what reading a damaged row raises."""
    match key[:1]:
        case layout.METRIC_WORKER:
            _marker.decode(value)
        case layout.METRIC_SERIES:
            _seen.decode(value)
        case _:
            _series.decode(value)


# What becomes of old rows.


class Old(NamedTuple):
    """How long rows of one resolution are kept, and what they become."""

    resolution: int
    kept_seconds: int
    becomes: int | None  # a resolution; None: they are deleted


AGES = (
    Old(MINUTE, 24 * 3600, FIVE_MINUTES),
    Old(FIVE_MINUTES, 5 * 24 * 3600, HOUR),
    Old(HOUR, KEPT_SECONDS, None),
)


def next_place(reader: Reader, resolution: int, behind: bytes) -> bytes | None:
    """The beginning of the keys of the next table that has rows of a resolution, behind that of another one."""
    prefix = _resolution(resolution)
    start = encoding.prefix_end(behind) if behind else prefix
    for key, _ in reader.scan(start, encoding.prefix_end(prefix), limit=1):
        return key[: -_TIME_BYTES - _WORKER_BYTES]
    return None


def age(tx: Transaction, old: Old, place_key: bytes, now: float, *, limit: int) -> int:
    """Have the oldest rows of a table become coarser ones, or delete them; give how many there were."""
    oldest = _aligned(now - old.kept_seconds, old.becomes or old.resolution)
    end = place_key + max(oldest, 0).to_bytes(_TIME_BYTES, "big")
    rows = list(tx.scan(place_key, end, limit=limit))
    coarser: dict[bytes, list[Series]] = {}
    for key, stored in rows:
        tx.delete(key)
        if old.becomes is not None:
            time = _aligned(int.from_bytes(key[len(place_key) : -_WORKER_BYTES], "big"), old.becomes)
            place = place_key[len(_resolution(old.resolution)) :]
            target = _resolution(old.becomes) + place + time.to_bytes(_TIME_BYTES, "big") + SHARED
            coarser.setdefault(target, []).append(_series.decode(stored))
    for key, parts in coarser.items():
        _merge_into(tx, key, _added_up(parts))
    return len(rows)


def forget_series(tx: Transaction, behind: bytes, before: float, *, limit: int) -> bytes | None:
    """Forget series whose last sample is gone, and the totals of what has none left; give where to go on."""
    start = behind + b"\0" if behind else layout.METRIC_SERIES
    last = None
    for key, stored in list(tx.scan(start, encoding.prefix_end(layout.METRIC_SERIES), limit=limit)):
        last = key
        seen = _seen.decode(stored)
        left = {name: time for name, time in seen.items() if time + SEEN_SECONDS >= before}
        if not left:
            tx.delete(key)
            totals_key = layout.METRIC_TOTAL + key[len(layout.METRIC_SERIES) :]
            tx.clear(totals_key, encoding.prefix_end(totals_key), limit=_WORKERS_MAX)
        elif left != seen:
            tx.put(key, _encode(left))
    return last


def fold_totals(tx: Transaction, worker: bytes, *, behind: bytes, limit: int) -> bytes | None:
    """Add the totals of a worker that is gone to the shared ones; give where to go on."""
    start = behind + b"\0" if behind else layout.METRIC_TOTAL
    last = None
    for key, stored in list(tx.scan(start, encoding.prefix_end(layout.METRIC_TOTAL), limit=limit)):
        last = key
        if key.endswith(worker):
            _merge_into(tx, key[:-_WORKER_BYTES] + SHARED, _series.decode(stored))
            tx.delete(key)
    return last


def silent_worker(reader: Reader, since: float) -> bytes | None:
    """A worker that has not written since a time; None if there is none."""
    for key, stored in reader.scan(layout.METRIC_WORKER, encoding.prefix_end(layout.METRIC_WORKER)):
        if _unpack_marker(stored)[1] < since:
            return key[len(layout.METRIC_WORKER) :]
    return None


def forget_worker(tx: Transaction, worker: bytes) -> None:
    """Forget a worker whose totals were added to the shared ones; if it comes back it begins anew."""
    tx.delete(layout.METRIC_WORKER + worker)
