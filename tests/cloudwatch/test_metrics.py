"""Metrics: putting, listing and reading them, by statistics and by queries; and what becomes of old data."""

import json
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from clocked import MIDNIGHT
from hashrange.capacity.series import Place
from hashrange.core import effort, limits
from hashrange.services.cloudwatch import list_metrics, tokens
from hashrange.storage import custom_metric_rows, layout, metric_rows
from hashrange.storage.engine import Reader
from watching import Watched

RANGE = {"StartTime": MIDNIGHT - 3600, "EndTime": MIDNIGHT + 3600}
DAY = 86_400


def points(watched: Watched, metric: str = "m", *stats: str, period: int = 60, **more: Any) -> list[Any]:
    """The points of a metric, each as its time after midnight and its statistics."""
    plain = [
        stat for stat in stats or ("Sum",) if stat in {"SampleCount", "Average", "Sum", "Minimum", "Maximum"}
    ]
    extended = [stat for stat in stats if stat not in plain]
    request = {"Namespace": "Test", "MetricName": metric, "Period": period, **RANGE, **more}
    if plain:
        request["Statistics"] = plain
    if extended:
        request["ExtendedStatistics"] = extended
    answer = watched.ask("GetMetricStatistics", **request)
    return [
        (
            point["Timestamp"] - MIDNIGHT,
            *(point.get(stat, point.get("ExtendedStatistics", {}).get(stat)) for stat in stats or ("Sum",)),
        )
        for point in answer["Datapoints"]
    ]


def stat(metric: str = "m", name: str = "Sum", **more: Any) -> dict[str, Any]:
    return {"Metric": {"Namespace": "Test", "MetricName": metric}, "Period": 60, "Stat": name, **more}


def data(watched: Watched, *queries: dict[str, Any], **more: Any) -> list[Any]:
    answer = watched.ask("GetMetricData", MetricDataQueries=list(queries), **{**RANGE, **more})
    return [
        (one["Id"], one["Label"], [time - MIDNIGHT for time in one["Timestamps"]], one["Values"])
        for one in answer["MetricDataResults"]
    ]


def test_samples_are_added_up_by_the_minute(watched: Watched) -> None:
    watched.put("m", 1.0, 2.0)
    watched.put("m", 6.0, at=MIDNIGHT + 59)
    watched.put("m", 10.0, at=MIDNIGHT + 60)
    stats = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
    assert points(watched, "m", *stats) == [(0, 3.0, 3.0, 9.0, 1.0, 6.0), (60, 1.0, 10.0, 10.0, 10.0, 10.0)]
    assert points(watched, "m", *stats, period=300) == [(0, 4.0, 4.75, 19.0, 1.0, 10.0)]
    assert points(watched, "other") == []


def test_values_with_counts_and_sets_of_statistics(watched: Watched) -> None:
    given = {"SampleCount": 4.0, "Sum": 10.0, "Minimum": 1.0, "Maximum": 5.0}
    metric_data = [
        {"MetricName": "m", "Values": [1.0, 2.0], "Counts": [3.0, 0.5]},
        {"MetricName": "m", "Values": [7.0]},
        {"MetricName": "set", "StatisticValues": given},
        {"MetricName": "none", "Values": [1.0], "Counts": [0.0]},
    ]
    watched.ask("PutMetricData", Namespace="Test", MetricData=metric_data)
    assert points(watched, "m", "SampleCount", "Sum", "Maximum") == [(0, 4.5, 11.0, 7.0)]
    assert points(watched, "set", "SampleCount", "Average", "Minimum", "Maximum") == [(0, 4.0, 2.5, 1.0, 5.0)]
    assert points(watched, "set", "p50") == [(0, None)]  # nobody knows how those are distributed
    assert points(watched, "none") == []


def test_percentiles_and_their_relatives(watched: Watched) -> None:
    watched.put("m", *(float(value) for value in range(1, 101)))
    ((_, *values),) = points(
        watched, "m", "p0", "p50", "p90", "p100", "tm90", "tc90", "TS(10%:)", "PR(:50)", "IQM"
    )
    low, middle, high, most, mean, count, total, share, between = values
    assert (low, most, count) == (1.0, 100.0, 90.0)
    for value, exact in ((middle, 50), (high, 90), (mean, 45.5), (total, 4995), (share, 50), (between, 50.5)):
        assert value == pytest.approx(exact, rel=0.06)
    assert points(watched, "m", "p99.9", "wm95", "TM(5:10)", "WM(10%:90%)")


@pytest.mark.parametrize(
    "wrong", ["p", "p101", "x99", "tm", "PR(10%:20%)", "TM(:)", "TM(1:2%)", "TM(a:b)", "p" * 300]
)
def test_statistics_that_there_are_none_of(watched: Watched, wrong: str) -> None:
    refused = watched.fails(
        "GetMetricStatistics", Namespace="n", MetricName="m", Period=60, ExtendedStatistics=[wrong], **RANGE
    )
    assert refused == (
        "InvalidParameterValueException",
        f"The value {wrong} for parameter Stat is not supported.",
    )


def test_units(watched: Watched) -> None:
    watched.put("m", 1.0, Unit="Seconds")
    request = {"Namespace": "Test", "MetricName": "m", "Period": 60, "Statistics": ["Sum"], **RANGE}
    assert watched.ask("GetMetricStatistics", **request)["Datapoints"][0]["Unit"] == "Seconds"
    assert points(watched, "m", Unit="Seconds") == [(0, 1.0)]
    assert points(watched, "m", Unit="Count") == []


def test_dimensions_identify_a_metric_in_any_order(watched: Watched) -> None:
    one, two = {"Name": "a", "Value": "1"}, {"Name": "b", "Value": "2"}
    watched.put("m", 1.0, Dimensions=[one, two])
    watched.put("m", 5.0, Dimensions=[one])
    assert points(watched, "m", Dimensions=[two, one]) == [(0, 1.0)]
    assert points(watched, "m", Dimensions=[one]) == [(0, 5.0)]
    assert points(watched, "m") == []


def test_listing(watched: Watched) -> None:
    one, two = {"Name": "a", "Value": "1"}, {"Name": "b", "Value": "2"}
    watched.put("m", 1.0, Dimensions=[one, two])
    watched.put("n", 1.0, Dimensions=[one])

    def listed(**request: Any) -> set[str]:
        return {metric["MetricName"] for metric in watched.ask("ListMetrics", **request)["Metrics"]}

    assert listed() == listed(Namespace="Test") == listed(Dimensions=[{"Name": "a"}]) == {"m", "n"}
    assert listed(MetricName="m") == listed(Dimensions=[two]) == {"m"}
    assert listed(Dimensions=[{"Name": "a", "Value": "2"}]) == listed(Namespace="Other") == set()
    watched.clock.advance(12 * 3600)
    assert listed(RecentlyActive="PT3H") == set()
    assert listed() == {"m", "n"}
    watched.clock.advance(14 * DAY)
    assert listed() == set()


@pytest.mark.parametrize(
    ("datum", "code", "message"),
    [
        ({}, "MissingRequiredParameterException", "The parameter MetricData.member.1.Value is required."),
        (
            {"Values": [1.0, 2.0], "Counts": [1.0]},
            "InvalidParameterValueException",
            "The parameters MetricData.member.1.Values and MetricData.member.1.Counts must be of the same size.",
        ),
        ({"Value": 1.0, "Unit": "Apples"}, "ValidationException", None),
        ({"Value": 2.0**361}, "InvalidParameterValueException", None),
        (
            {"Value": "NaN"},
            "InvalidParameterValueException",
            "The value NaN for parameter MetricData.member.1.Value is invalid.",
        ),
        ({"Value": 1.0, "StorageResolution": 30}, "InvalidParameterValueException", None),
        ({"Values": [1.0] * 151}, "InvalidParameterValueException", None),
        ({"Values": [1.0], "Counts": [-1.0]}, "InvalidParameterValueException", None),
        ({"Value": 1.0, "Timestamp": MIDNIGHT + 7201}, "InvalidParameterValueException", None),
        ({"Value": 1.0, "Timestamp": MIDNIGHT - 14 * DAY - 1}, "InvalidParameterValueException", None),
        ({"Value": 1.0, "Timestamp": 1e300}, "InvalidParameterValueException", None),
        ({"Value": 1.0, "Dimensions": [{"Name": "a", "Value": ""}]}, "ValidationException", None),
        (
            {"Value": 1.0, "Dimensions": [{"Name": str(at), "Value": "x"} for at in range(31)]},
            "ValidationException",
            None,
        ),
        (
            {"StatisticValues": {"SampleCount": 1.0, "Sum": 1.0, "Minimum": 2.0, "Maximum": 1.0}},
            "InvalidParameterValueException",
            None,
        ),
    ],
)
def test_samples_that_are_refused(
    watched: Watched, datum: dict[str, Any], code: str, message: str | None
) -> None:
    refused = watched.fails("PutMetricData", Namespace="Test", MetricData=[{"MetricName": "m", **datum}])
    assert refused[0] == code
    assert message in {None, refused[1]}


def test_the_bounds_of_a_request(watched: Watched) -> None:
    datum = {"MetricName": "m", "Value": 1.0}
    full = {"Values": [2.0**360] * limits.PUT_METRIC_VALUES_MAX}
    watched.ask("PutMetricData", Namespace="Test", MetricData=[datum] * limits.PUT_METRICS_MAX)
    watched.ask("PutMetricData", Namespace="Test", MetricData=[{"MetricName": "full", **full}])
    for at in (MIDNIGHT + 7200, MIDNIGHT - 14 * DAY):
        watched.put("m", 1.0, at=at)
    assert points(watched, "m", "SampleCount", EndTime=MIDNIGHT + 7260)[0] == (0, 1000.0)
    too_many = [datum] * (limits.PUT_METRICS_MAX + 1)
    assert (
        watched.fails("PutMetricData", Namespace="Test", MetricData=too_many)[0]
        == "InvalidParameterValueException"
    )
    assert (
        watched.fails("PutMetricData", Namespace="Test", MetricData=[])[0]
        == "MissingRequiredParameterException"
    )
    for namespace in ("AWS/DynamoDB", "AWS/Own"):
        refused = watched.fails("PutMetricData", Namespace=namespace, MetricData=[datum])
        assert refused[0] == "InvalidParameterValueException"


def test_ranges_of_time(watched: Watched) -> None:
    def refused(**request: Any) -> tuple[str, str | None]:
        base = {"Namespace": "n", "MetricName": "m", "Period": 60, "Statistics": ["Sum"], **RANGE}
        return watched.fails("GetMetricStatistics", **{**base, **request})

    order = (
        "InvalidParameterValueException",
        "The parameter StartTime must be less than the parameter EndTime.",
    )
    assert refused(EndTime=MIDNIGHT - 3600) == order
    assert refused(StartTime=MIDNIGHT - DAY, EndTime=MIDNIGHT + 60) == (
        "InvalidParameterCombinationException",
        (
            "You have requested up to 1441 datapoints, which exceeds the limit of 1440. You may reduce the datapoints "
            "requested by increasing Period, or decreasing the time range."
        ),
    )
    assert points(watched, StartTime=MIDNIGHT - DAY, EndTime=MIDNIGHT) == []
    assert refused(Period=61)[0] == refused(StartTime=-1.0)[0] == "InvalidParameterValueException"
    assert refused(EndTime=1e18)[0] == "InvalidParameterValueException"
    assert refused(Statistics=None)[0] == "InvalidParameterCombinationException"
    assert refused(Statistics=["p99"])[0] == "ValidationException"


def test_queries(watched: Watched) -> None:
    watched.put("m", 1.0)
    watched.put("m", 2.0, at=MIDNIGHT + 60)
    watched.put("n", 4.0, at=MIDNIGHT + 60)
    queries = (
        {"Id": "m", "MetricStat": stat()},
        {"Id": "n", "MetricStat": stat("n"), "ReturnData": False},
        {"Id": "e", "Expression": "f * 2", "Label": "twice"},  # refers to what comes behind it
        {"Id": "f", "Expression": "m + FILL(n, 0)"},
    )
    assert data(watched, *queries, ScanBy="TimestampAscending") == [
        ("m", "m", [0, 60], [1.0, 2.0]),
        ("e", "twice", [0, 60], [2.0, 12.0]),
        ("f", "f", [0, 60], [1.0, 6.0]),
    ]
    assert data(watched, queries[0]) == [("m", "m", [60, 0], [2.0, 1.0])]  # newest first
    assert data(watched, {"Id": "x", "MetricStat": stat("none")}) == [("x", "none", [], [])]


def test_search(watched: Watched) -> None:
    for shop in ("ulm", "bonn"):
        watched.put("Sales", 1.0, Dimensions=[{"Name": "Shop", "Value": shop}])
        watched.put(
            "Sales", 1.0, Dimensions=[{"Name": "Shop", "Value": shop}, {"Name": "Till", "Value": "1"}]
        )
    watched.put("Returns", 1.0, Dimensions=[{"Name": "Shop", "Value": "ulm"}])

    def found(expression: str) -> list[str]:
        return [
            label
            for _, label, _, _ in data(
                watched, {"Id": "s", "Expression": f"SEARCH('{expression}', 'Sum', 60)"}
            )
        ]

    assert found('{Test,Shop} MetricName="Sales"') == ["bonn Sales", "ulm Sales"]
    assert found("{Test,Shop} ulm") == ["ulm Returns", "ulm Sales"]
    assert found('{Test,Shop,Till} Shop="bonn"') == ["bonn 1 Sales"]
    assert found("{Other,Shop}") == []
    assert len(found('Namespace="Test" AND sales')) == 4
    total = {"Id": "t", "Expression": "SUM(SEARCH('{Test,Shop}', 'Sum', 60))"}
    assert data(watched, total) == [("t", "t", [0], [3.0])]


def test_more_searches_than_a_request_may_have(watched: Watched) -> None:
    def searching(count: int) -> dict[str, Any]:
        searches = " + ".join(["SUM(SEARCH('{Test}', 'Sum', 60))"] * count)
        return {"Id": "s", "Expression": searches}

    assert data(watched, searching(limits.SEARCHES_MAX)) == [("s", "s", [], [])]
    refused = watched.fails("GetMetricData", MetricDataQueries=[searching(limits.SEARCHES_MAX + 1)], **RANGE)
    assert refused == (
        "ValidationException",
        "Error in expression 's': There are more than 10 searches in the request",
    )


def test_expressions_that_compute_for_too_long_are_refused(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As any other request is, and on a thread where they hold up nobody."""
    monkeypatch.setattr(effort, "REQUEST_SECONDS", 0.0)
    long = {"StartTime": MIDNIGHT - 15 * DAY, "EndTime": MIDNIGHT}
    row = [{"Id": f"e{at}", "Expression": "TIME_SERIES(1) + TIME_SERIES(2)"} for at in range(20)]
    refused = watched.fails("GetMetricData", MetricDataQueries=row, **long)
    assert refused == ("ValidationException", effort.EXHAUSTED)


def test_pages_of_metrics(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_metrics, "LIST_METRICS_MAX", 3)
    for table in ("", "one", "two"):
        place = Place(*watched.place, table)
        samples = dict.fromkeys(("A", "B", "C", "D"), 1.0)
        watched.engine.write(partial(metric_rows.add_samples, place=place, now=MIDNIGHT, samples=samples))
    for number in range(7):
        watched.put(f"m{number}", 1.0)
    listed: list[str] = []
    token: dict[str, str] = {}
    while True:
        page = watched.ask("ListMetrics", **token)
        assert len(page["Metrics"]) <= 3
        listed += [json.dumps(metric) for metric in page["Metrics"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert len(listed) == len(set(listed)) == 19
    for rubbish in ("{}x", '{"table": "\\ud800"}', '{"digest": "x"}', '{"number": null}', "[]", ""):
        forged = tokens.token(rubbish, (None, None, None, None))
        assert watched.fails("ListMetrics", NextToken=forged)[0] == "InvalidNextToken"


def test_pages_of_points(watched: Watched) -> None:
    for minute in range(5):
        watched.put("m", float(minute), at=MIDNIGHT + 60 * minute)
        watched.put("n", 10.0 + minute, at=MIDNIGHT + 60 * minute)
    queries = [{"Id": name, "MetricStat": stat(name)} for name in ("m", "none", "n")]
    request = {"MetricDataQueries": queries, "MaxDatapoints": 4, "ScanBy": "TimestampAscending", **RANGE}
    values: list[float] = []
    statuses = []
    token: dict[str, str] = {}
    while True:
        page = watched.ask("GetMetricData", **request, **token)
        assert sum(len(one["Values"]) for one in page["MetricDataResults"]) <= 4
        for one in page["MetricDataResults"]:
            values += one["Values"]
            statuses.append((one["Id"], one["StatusCode"]))
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert values == [0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 13.0, 14.0]
    assert statuses[0] == ("m", "PartialData")
    assert statuses[-1] == ("n", "Complete")
    other = {**request, "StartTime": MIDNIGHT}
    first = watched.ask("GetMetricData", **request)
    assert watched.fails("GetMetricData", **other, NextToken=first["NextToken"])[0] == "InvalidNextToken"
    assert (
        watched.fails("GetMetricData", **{**request, "MaxDatapoints": 0})[0]
        == "InvalidParameterValueException"
    )


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([{"Id": "A", "MetricStat": stat()}], "pattern"),
        ([{"Id": "a", "MetricStat": stat()}] * 2, "not unique"),
        ([{"Id": "a"}], "exactly one of"),
        ([{"Id": "a", "MetricStat": stat(), "Expression": "1"}], "exactly one of"),
        ([{"Id": "a", "Expression": "b"}], "Unknown id [b]"),
        ([{"Id": "a", "Expression": "a + 1"}], "refers to itself"),
        (
            [{"Id": "a", "Expression": "b"}, {"Id": "b", "Expression": "c"}, {"Id": "c", "Expression": "a"}],
            "refers to itself",
        ),
        ([{"Id": "a", "Expression": "1 +"}], "Error in expression 'a'"),
        ([{"Id": "a", "Expression": "1 + 1"}], "single value"),
        ([{"Id": "a", "Expression": "NOTHING(1)"}], "Unsupported function NOTHING"),
        ([{"Id": "a", "MetricStat": stat(name="p200")}], "p200"),
        ([{"Id": "a", "MetricStat": stat(Period=61)}], "multiple of 60"),
        ([{"Id": "a", "MetricStat": {**stat(), "Metric": {}}}], "Namespace"),
        ([{"Id": f"a{at}", "MetricStat": stat()} for at in range(501)], "greater than 500"),
    ],
)
def test_queries_that_are_refused(watched: Watched, queries: list[Any], message: str) -> None:
    code, told = watched.fails("GetMetricData", MetricDataQueries=queries, **RANGE)
    assert code in {"ValidationException", "InvalidParameterValueException"}
    assert message in str(told)


def test_expressions_may_refer_to_each_other_in_a_long_row(watched: Watched) -> None:
    watched.put("m", 1.0)
    row = [{"Id": f"e{at}", "Expression": f"e{at + 1} + 1", "ReturnData": False} for at in range(1, 499)]
    first = {"Id": "e0", "Expression": "e1"}
    last = {"Id": "e499", "MetricStat": stat(), "ReturnData": False}
    assert data(watched, first, *row, last) == [("e0", "e0", [0], [499.0])]


def test_more_points_than_a_request_may_read(watched: Watched) -> None:
    long = {"StartTime": MIDNIGHT - 15 * DAY, "EndTime": MIDNIGHT}
    # What is not consumption is kept by longer periods when it is old: three thousand points at most.
    queries = [{"Id": f"a{at}", "MetricStat": stat()} for at in range(200)]
    assert "exceeds the limit of 500000" in str(
        watched.fails("GetMetricData", MetricDataQueries=queries, **long)[1]
    )
    assert len(data(watched, *queries[:100], **long)) == 100
    consumed = {"Namespace": "AWS/DynamoDB", "MetricName": "ConsumedReadCapacityUnits"}
    queries = [{"Id": f"a{at}", "MetricStat": {**stat(), "Metric": consumed}} for at in range(24)]
    assert "exceeds the limit of 500000" in str(
        watched.fails("GetMetricData", MetricDataQueries=queries, **long)[1]
    )


def _checked(reader: Reader) -> int:
    """How many rows of clients' metrics there are, all of which can be read."""
    rows = list(reader.scan(layout.CUSTOM_METRIC, layout.CUSTOM_SERIES + b"\xff"))
    for key, value in rows:
        custom_metric_rows.check(key, value)
    return len(rows)


def _put_minutes(watched: Watched, metric: str, minutes: int) -> None:
    samples = [
        {"MetricName": metric, "Value": 1.0, "Timestamp": MIDNIGHT + 60 * minute} for minute in range(minutes)
    ]
    for at in range(0, minutes, 500):
        watched.clock.advance(500 * 60)
        watched.ask("PutMetricData", Namespace="Test", MetricData=samples[at : at + 500])


def test_nothing_is_left_behind_of_what_grew_old_while_the_server_was_stopped(watched: Watched) -> None:
    _put_minutes(watched, "m", 1500)
    _put_minutes(watched, "n", 300)
    watched.clock.advance(30 * DAY)
    for _ in range(100):
        if watched.compacting.step(watched.clock.now()) > 1:
            break
    assert watched.engine.read(_checked) == 0


def test_old_data_is_added_up_in_small_steps_and_stays_the_same(watched: Watched) -> None:
    _put_minutes(watched, "m", 1500)
    watched.clock.advance(6 * DAY)
    sizes = [watched.engine.read(_checked)]
    while watched.compacting.step(watched.clock.now()) < 1:
        sizes.append(watched.engine.read(_checked))
        days = points(watched, "m", "SampleCount", period=DAY, EndTime=MIDNIGHT + 2 * DAY)
        assert sum(count for _, count in days) == 1500
    assert max(before - after for before, after in pairwise(sizes)) <= 200
    assert watched.engine.read(_checked) == 26  # hours, and the series itself


def test_old_data_is_kept_by_longer_periods_and_then_forgotten(watched: Watched) -> None:
    for minute in range(120):
        watched.put("m", float(minute), at=MIDNIGHT + 60 * minute)
    stats = ("SampleCount", "Sum", "Minimum", "Maximum")
    hours = points(watched, "m", *stats, period=3600, EndTime=MIDNIGHT + 7200)
    assert hours == [(0, 60.0, 1770.0, 0.0, 59.0), (3600, 60.0, 5370.0, 60.0, 119.0)]
    for age, rows in ((DAY, 120), (DAY + 7200, 24), (5 * DAY + 7200, 2)):
        watched.clock.advance(MIDNIGHT + age - watched.clock.now())
        watched.compacting.step(watched.clock.now())
        assert points(watched, "m", *stats, period=3600, EndTime=MIDNIGHT + 7200) == hours
        assert len(points(watched, "m", EndTime=MIDNIGHT + 7200)) == rows
    assert watched.engine.read(_checked) == 3  # two rows and the series itself
    watched.clock.advance(15 * DAY)
    watched.compacting.step(watched.clock.now())
    watched.compacting.step(watched.clock.now())
    assert watched.ask("ListMetrics")["Metrics"] == []
