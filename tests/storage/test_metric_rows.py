"""The rows of metrics: several workers, attempts that are repeated, and ageing."""

import random
from functools import partial

from hashrange.capacity.series import Place, Statistics, merged, parse_series, series_name
from hashrange.capacity.tallies import Counted
from hashrange.clock import ManualClock
from hashrange.jobs.metrics import AgeMetrics
from hashrange.storage import layout, metric_rows
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.metric_rows import Flush, WantedSeries

NOW = 1_699_920_000
PLACE = Place("000000000000", "eu-west-1", "orders")
DAY = 24 * 3600
UNITS = "ConsumedReadCapacityUnits"


def counted(time: int, *values: float, place: Place = PLACE, metric: str = "UserErrors") -> Counted:
    statistics = Statistics()
    for value in values:
        statistics.add(value)
    return Counted(place, time // 60 * 60, {metric: statistics}, {})


def points(engine: Engine, *, start: float, end: float, period: int = 60) -> list[tuple[int, int, float]]:
    dimensions = {"TableName": PLACE.table_name}
    series = engine.read(
        lambda reader: metric_rows.read_series(
            reader, *PLACE[:2], "UserErrors", dimensions, start, end, period
        )
    )
    return [(point.time, point.n, point.sum) for point in series]


def count_rows(reader: Reader, prefix: bytes) -> int:
    return sum(1 for _ in reader.scan(prefix, bytes([prefix[0] + 1])))


def test_workers_are_added_up(engine: Engine) -> None:
    for worker in (b"worker-1", b"worker-2"):
        for number in (1, 2):
            flush = Flush(worker, number, [counted(NOW, 1.0, 3.0), counted(NOW + 60, 5.0)])
            engine.write(partial(flush.write, now=NOW))
    assert points(engine, start=NOW, end=NOW + 120) == [(NOW, 8, 16.0), (NOW + 60, 4, 20.0)]
    assert points(engine, start=NOW, end=NOW + 120, period=300) == [(NOW, 12, 36.0)]
    assert points(engine, start=NOW + 60, end=NOW + 120) == [(NOW + 60, 4, 20.0)]


def test_many_series_are_read_as_each_by_itself(engine: Engine) -> None:
    other = PLACE._replace(table_name="customers")
    tallies = [
        counted(NOW + 60 * minute, float(minute), place=place, metric=metric)
        for minute in range(12)
        for place in (PLACE, other)
        for metric in ("UserErrors", "SystemErrors")
    ]
    engine.write(partial(Flush(b"worker-1", 1, tallies).write, now=NOW))
    wanted = [
        WantedSeries(metric, (("TableName", name),), period)
        for metric in ("UserErrors", "SystemErrors", "Nothing")
        for name in ("orders", "customers")
        for period in (60, 120, 300)
    ]
    start, end = NOW + 150, NOW + 700
    many = engine.read(lambda reader: metric_rows.read_many(reader, *PLACE[:2], wanted, start, end))
    assert many == {
        one: engine.read(
            lambda reader, one=one: metric_rows.read_series(
                reader, *PLACE[:2], one.metric, dict(one.dimensions), start, end, one.period
            )
        )
        for one in wanted
    }
    assert [len(many[one]) for one in wanted[:3]] == [10, 5, 3]


def test_a_flush_that_is_repeated_counts_once(engine: Engine) -> None:
    flush = Flush(b"worker-1", 1, [counted(NOW, 1.0)])
    for _ in range(3):
        engine.write(partial(flush.write, now=NOW))
    assert points(engine, start=NOW, end=NOW + 60) == [(NOW, 1, 1.0)]
    assert engine.read(lambda reader: metric_rows.totals(reader, PLACE))["UserErrors"].n == 1


def test_series_have_names_that_can_be_read() -> None:
    dimensions = {"TableName": "orders", "Operation": "GetRecords", "StreamLabel": "2026-01-01T00:00:00.000"}
    name = series_name("ReturnedBytes", dimensions)
    assert parse_series(name, "orders") == ("ReturnedBytes", dimensions)
    assert parse_series("UserErrors", "") == ("UserErrors", {})


def test_known_series_are_listed_until_they_are_old(engine: Engine) -> None:
    engine.write(partial(Flush(b"worker-1", 1, [counted(NOW, 1.0)]).write, now=NOW))
    listed = engine.read(lambda reader: list(metric_rows.known_series(reader, *PLACE[:2], since=NOW - 60)))
    assert listed == [("UserErrors", {"TableName": "orders"})]
    later = NOW + 15 * DAY
    assert engine.read(lambda reader: list(metric_rows.known_series(reader, *PLACE[:2], since=later))) == []


def run_round(engine: Engine, now: float) -> None:
    job = AgeMetrics(engine)
    while job.step(now) < 1:
        pass


def test_old_rows_become_coarser_and_nothing_is_lost(engine: Engine) -> None:
    source = random.Random(7)
    tables = [PLACE._replace(table_name=f"table-{number}") for number in range(3)]
    values: dict[Place, list[tuple[int, float]]] = {place: [] for place in tables}
    for number in range(600):
        place, time = source.choice(tables), NOW - source.randrange(20 * DAY)
        values[place].append((time, float(number)))
        worker = source.choice((b"worker-1", b"worker-2"))
        flush = Flush(worker, number, [counted(time, float(number), place=place)])
        engine.write(partial(flush.write, now=time))
    run_round(engine, NOW)
    for place in tables:
        kept = [value for time, value in values[place] if time // 3600 * 3600 >= NOW - 15 * DAY]
        dimensions = {"TableName": place.table_name}
        series = engine.read(
            lambda reader, dimensions=dimensions: metric_rows.read_series(
                reader, *PLACE[:2], "UserErrors", dimensions, NOW - 30 * DAY, NOW, 60
            )
        )
        total = merged(series)
        assert (total.n, total.sum, total.max) == (len(kept), sum(kept), max(kept))
        assert all(point.time % 300 == 0 for point in series if point.time < NOW - DAY)
        assert all(point.time % 3600 == 0 for point in series if point.time < NOW - 5 * DAY)
        everything = engine.read(partial(metric_rows.totals, place=place))["UserErrors"]
        assert everything.n == len(values[place])


def test_after_fifteen_days_nothing_is_left(engine: Engine) -> None:
    for number in range(300):
        place = PLACE._replace(table_name=f"table-{number}")
        flush = Flush(b"worker-1", number, [counted(NOW + number, 1.0, place=place)])
        engine.write(partial(flush.write, now=NOW))
    for days in (2, 7, 17):
        run_round(engine, NOW + days * DAY)
    prefixes = (layout.METRIC, layout.METRIC_TOTAL, layout.METRIC_SERIES, layout.METRIC_WORKER)
    left = engine.read(lambda reader: [count_rows(reader, prefix) for prefix in prefixes])
    assert left == [0, 0, 0, 0]


def test_idle_minutes_of_a_table_that_is_not_there_have_no_samples(engine: Engine) -> None:
    dimensions = {"TableName": "nothing"}
    assert (
        engine.read(
            lambda reader: metric_rows.read_series(
                reader, *PLACE[:2], UNITS, dimensions, NOW, NOW + 300, 60, now=NOW + 300
            )
        )
        == []
    )


def test_the_totals_of_workers_that_are_gone_are_kept(engine: Engine) -> None:
    clock = ManualClock(float(NOW))
    for worker in (b"worker-1", b"worker-2"):
        engine.write(partial(Flush(worker, 1, [counted(NOW, 2.0)]).write, now=clock.now()))
    run_round(engine, NOW + 3600)
    assert engine.read(lambda reader: count_rows(reader, layout.METRIC_TOTAL)) == 1
    assert engine.read(lambda reader: count_rows(reader, layout.METRIC_WORKER)) == 0
    # One that was only idle comes back.
    engine.write(partial(Flush(b"worker-1", 2, [counted(NOW + 3600, 2.0)]).write, now=NOW + 3600))
    assert engine.read(lambda reader: metric_rows.totals(reader, PLACE))["UserErrors"].sum == 6.0
