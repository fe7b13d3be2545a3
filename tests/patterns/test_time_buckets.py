"""Time buckets: a series over many partitions, in order, in either direction."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from faulty_client import StillRunner
from hashrange.patterns import BadCursor, Page, Table, TimeBuckets
from item_tables import unique

_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_HOURS = [_NOON + timedelta(hours=number) for number in range(30)]


@pytest.fixture(scope="module")
def series(client: Any, table: Table) -> str:
    """An event every hour for thirty hours, in buckets of six."""
    name = unique()
    with StillRunner(client) as runner:
        for number, at in enumerate(_HOURS):
            runner.run(buckets(table).put(name, at, f"e{number}", {"number": number}))
    return name


def buckets(table: Table) -> TimeBuckets:
    return TimeBuckets(table, timedelta(hours=6))


def numbers(pages: list[Page]) -> list[int]:
    return [item["number"] for page in pages for item in page.items]


@pytest.mark.parametrize("limit", [1, 4, 30])
@pytest.mark.parametrize("newest_first", [False, True])
def test_events_come_in_order_whatever_the_pages(
    table: Table, series: str, runner: StillRunner, limit: int, newest_first: bool
) -> None:
    pages: list[Page] = []
    while not pages or pages[-1].cursor is not None:
        cursor = pages[-1].cursor if pages else None
        query = buckets(table).query(
            series, _HOURS[3], _HOURS[25], newest_first=newest_first, limit=limit, cursor=cursor
        )
        pages.append(runner.run(query))
        assert len(pages) < 50
    expected = list(range(3, 25))  # the start is included, the end is not
    assert numbers(pages) == (expected[::-1] if newest_first else expected)


def test_a_time_is_the_same_moment_in_every_zone(table: Table, series: str, runner: StillRunner) -> None:
    start = _HOURS[7].astimezone(timezone(timedelta(hours=9)))
    page = runner.run(buckets(table).query(series, start, start + timedelta(microseconds=1)))
    assert numbers([page]) == [7]


def test_a_query_over_years_without_events_ends(table: Table, runner: StillRunner) -> None:
    start, end = datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 2, 1, tzinfo=UTC)
    pages = [runner.run(buckets(table).query("nothing", start, end))]
    assert pages[0].items == []
    assert pages[0].cursor is not None
    pages.append(runner.run(buckets(table).query("nothing", start, end, cursor=pages[0].cursor)))
    assert pages[1] == Page([], None)
    assert runner.run(buckets(table).query("nothing", end, start)) == Page([], None)


def test_events_expire(client: Any, table: Table, runner: StillRunner) -> None:
    kept, name = TimeBuckets(table, kept=timedelta(days=30)), unique()
    runner.run(kept.put(name, _NOON, "e", {}))
    (item,) = runner.run(kept.query(name, _NOON, _NOON + timedelta(days=1))).items
    assert item["expires_at"] == _NOON.timestamp() + 30 * 86_400


def test_what_is_refused(table: Table, series: str, runner: StillRunner) -> None:
    day = timedelta(days=1)
    with pytest.raises(ValueError, match="zone"):
        runner.run(buckets(table).put(series, datetime(2026, 1, 1), "e", {}))  # noqa: DTZ001
    with pytest.raises(ValueError, match="1970"):
        runner.run(buckets(table).put(series, datetime(1969, 1, 1, tzinfo=UTC), "e", {}))
    with pytest.raises(ValueError, match="second or more"):
        runner.run(TimeBuckets(table, timedelta(0)).query(series, _NOON, _NOON + day))
    for limit in (0, 1001):
        with pytest.raises(ValueError, match="1 to 1000"):
            runner.run(buckets(table).query(series, _NOON, _NOON + day, limit=limit))
    cursor = runner.run(buckets(table).query(series, _NOON, _NOON + day, limit=1)).cursor
    with pytest.raises(BadCursor):
        runner.run(buckets(table).query(series, _NOON, _NOON + 2 * day, limit=1, cursor=cursor))
