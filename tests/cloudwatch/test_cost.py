"""What a request for metric data costs is told before anything is read; what would be too much is refused."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocked import MIDNIGHT
from hashrange.core import limits
from hashrange.services.cloudwatch import metrics
from hashrange.services.cloudwatch.math.cost import Estimate, Size, together
from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.evaluate import Scope, evaluate
from hashrange.services.cloudwatch.math.parser import parse
from hashrange.services.cloudwatch.math.tree import Node
from hashrange.services.cloudwatch.math.values import Series, Value
from hashrange.storage.custom_metric_rows import CustomStatistics
from watching import Watched

DAY = 86_400
START = int(MIDNIGHT)
SEARCH = {"Id": "s", "Expression": "SEARCH('{Test}', 'Sum', 60)", "ReturnData": False}


def expressions(expression: str, count: int) -> list[dict[str, Any]]:
    return [{"Id": f"e{at}", "Expression": expression, "ReturnData": at == 0} for at in range(count)]


def stats(count: int) -> list[dict[str, Any]]:
    return [
        {
            "Id": f"m{at}",
            "ReturnData": False,
            "MetricStat": {
                "Metric": {"Namespace": "Test", "MetricName": f"m{at}"},
                "Period": 60,
                "Stat": "Sum",
            },
        }
        for at in range(count)
    ]


HEAVY = {
    "an expression over a list, often": [SEARCH, *expressions("s * 2", 499)],
    "many operators": [SEARCH, *expressions("s" + "+s" * 390, 1)],
    "a list of many lists": [SEARCH, *expressions("SUM([" + ",".join(["s"] * 390) + "])", 1)],
    "all metrics, often": [*stats(100), *expressions("SUM(METRICS())", 400)],
    "all metrics, looked for by a text that none has": [
        *stats(100),
        *expressions("[" + ",".join(["METRICS('x')"] * 38) + "]", 400),
    ],
    "lists that double": [
        SEARCH,
        {"Id": "d0", "Expression": "[s, s]", "ReturnData": False},
        *({"Id": f"d{at}", "Expression": f"[d{at - 1}, d{at - 1}]"} for at in range(1, 40)),
    ],
    "a list that is returned often": [
        SEARCH,
        *({"Id": f"e{at}", "Expression": "s", "ReturnData": True} for at in range(499)),
    ],
    "series that are made": expressions("+".join(["TIME_SERIES(1)"] * 20), 400),
    "gaps that are filled": [SEARCH, *expressions("FILL(FILL(s, 0), REPEAT)", 20)],
}


@pytest.fixture
def hundred(watched: Watched) -> Watched:
    """A hundred metrics with a sample each."""
    data = [{"MetricName": f"m{at}", "Value": 1.0, "Timestamp": MIDNIGHT - 60} for at in range(100)]
    watched.ask("PutMetricData", Namespace="Test", MetricData=data)
    return watched


@pytest.mark.parametrize("queries", HEAVY.values(), ids=HEAVY)
def test_too_much_is_refused_before_anything_is_read(
    hundred: Watched, queries: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: object) -> None:
        raise AssertionError("points were read")

    monkeypatch.setattr(metrics.Store, "all_points", unread)
    request = {"MetricDataQueries": queries, "StartTime": MIDNIGHT - DAY, "EndTime": MIDNIGHT}
    code, message = hundred.fails("GetMetricData", **request)
    assert code == "ValidationException"
    assert str(message).startswith("You have requested up to ")
    assert f"exceeds the limit of {limits.METRIC_MATH_POINTS_MAX}." in str(message)


def test_a_dashboard_is_not_too_much(hundred: Watched) -> None:
    queries = [SEARCH, *stats(100), *expressions("100 * SUM(METRICS()) / SUM(s)", 5)]
    request = {"MetricDataQueries": queries, "StartTime": MIDNIGHT - DAY, "EndTime": MIDNIGHT}
    (shown,) = hundred.ask("GetMetricData", **request)["MetricDataResults"]
    assert shown["Values"] == [100.0]


def test_all_expressions_together_have_a_length(watched: Watched) -> None:
    request = {"StartTime": MIDNIGHT - 60, "EndTime": MIDNIGHT}
    long = expressions("TIME_SERIES(1" + " " * 1983 + ")", 101)
    code, message = watched.fails("GetMetricData", MetricDataQueries=long, **request)
    assert (code, "201697 characters" in str(message)) == ("ValidationException", True)
    watched.ask("GetMetricData", MetricDataQueries=long[:100], **request)


ALARM = {
    "AlarmName": "a",
    "EvaluationPeriods": 1,
    "Threshold": 1.0,
    "ComparisonOperator": "GreaterThanThreshold",
}


def test_alarms_have_small_expressions(watched: Watched) -> None:
    many = expressions("m0", 11)
    assert watched.fails("PutMetricAlarm", **ALARM, Metrics=[*stats(1), *many]) == (
        "ValidationException",
        "Metrics list must not have more than 10 expressions.",
    )
    long = [*stats(1), *expressions("m0" + "+m0" * 380, 1)]
    watched.ask("PutMetricAlarm", **ALARM, Metrics=long)
    daily = {**ALARM, "EvaluationPeriods": 1438}
    code, message = watched.fails("PutMetricAlarm", **daily, Metrics=long)
    assert (code, "exceeds the limit of 200000" in str(message)) == ("ValidationException", True)


def series(count: int, period: int) -> Series:
    return Series("m", period, {START + at * period: float(at) for at in range(count)})


VALUES: dict[str, Value] = {
    "m": series(10, 60),
    "n": series(3, 300),
    "l": [series(4, 60), series(2, 120)],
    "k": [series(1, 60), series(5, 60)],
}
SEARCHED = [series(7, 60), series(9, 60), series(2, 60)]
SECONDS = 900

leaves = st.sampled_from(["m", "n", "l", "k", "1", "METRICS()", "METRICS('n')", "SEARCH('x', 'Sum', 60)"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one = (
        "-({})",
        "SUM({})",
        "FILL({}, 0)",
        "FILL({}, LINEAR)",
        "ABS({})",
        "RUNNING_SUM({})",
        "SLICE({}, 1)",
        "[{}]",
    )
    two = ("({} + {})", "[{}, {}]", "FILL({}, {})", "IF({}, {})", "MAX({}, {})", "({} > {})")
    return st.one_of(
        st.builds(str.format, st.sampled_from(one), inner),
        st.builds(str.format, st.sampled_from(two), inner, inner),
        st.just("TIME_SERIES(2)"),
    )


def size(value: Value) -> Size:
    if isinstance(value, float):
        return Size()
    members = value if isinstance(value, list) else [value]
    return together([Size(1, len(one.points), one.period) for one in members])


@given(st.recursive(leaves, grown, max_leaves=8))
def test_an_expression_gives_no_more_than_was_estimated(expression: str) -> None:
    read = {name: value for name, value in VALUES.items() if isinstance(value, Series)}

    def metrics_with(text: str) -> Size:
        return together([size(value) for name, value in read.items() if text in name])

    def search(_: Sequence[Node]) -> Size:
        return size(SEARCHED)

    estimate = Estimate(metrics_with, search, SECONDS, 60)
    estimate.sizes |= {name: size(value) for name, value in VALUES.items()}
    node = parse(expression)
    estimated = estimate.of(node)
    scope = Scope(VALUES, read, range(START, START + SECONDS, 60), lambda *_: SEARCHED)
    try:
        given_size = size(evaluate(node, scope))
    except MathError:
        return
    assert given_size.points <= estimated.points
    assert given_size.series <= estimated.series


@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=2000))
def test_a_histogram_has_a_bounded_number_of_buckets(values: list[float]) -> None:
    statistics = CustomStatistics()
    for value in values:
        statistics.add(value, 1.0)
    assert len(statistics.histogram) <= 512
    assert sum(statistics.histogram.values()) == len(values) == statistics.n


def test_high_percentiles_survive_a_histogram_that_is_full() -> None:
    statistics = CustomStatistics()
    for exponent in range(-1000, 1000):
        statistics.add(1.2**exponent, 1.0)
    top = statistics.samples()[-100:]
    assert [
        round(value / 1.2**exponent, 1) for (value, _), exponent in zip(top, range(900, 1000), strict=True)
    ] == [1.0] * 100
