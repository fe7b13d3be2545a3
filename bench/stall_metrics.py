"""Costly requests for metrics, alarms, scaling and reports of keys, for bench/stalls.py."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import orjson
from stall_shapes import TABLE, Shape

_CLOUDWATCH = "GraniteServiceVersion20100801"
_SCALING = "AnyScaleFrontendService"
_NAMESPACE = "Stalls"
_SERIES = 100
_MINUTES = 300
_SHORT_LIVED_SERIES = 2_000
_ALARMS = 300
_CALL_DATA = 1000  # of one PutMetricData
_DAY = 86_400

Call = Callable[[str, bytes], tuple[int, bytes]]


def fill(call: Call) -> None:
    """Put samples and alarms, and have the keys of a table counted."""
    now = int(time.time())
    samples = [_datum(s, now - 60 * minute) for minute in range(_MINUTES) for s in range(_SERIES)]
    samples += [_datum(s, now) for s in range(_SERIES, _SERIES + _SHORT_LIVED_SERIES)]
    for number in range(0, len(samples), _CALL_DATA):
        _ask(call, f"{_CLOUDWATCH}.PutMetricData", _put(samples[number : number + _CALL_DATA]))
    for number in range(_ALARMS):
        _ask(call, f"{_CLOUDWATCH}.PutMetricAlarm", _alarm(number))
    _ask(call, "UpdateContributorInsights", {"TableName": TABLE, "ContributorInsightsAction": "ENABLE"})


def _ask(call: Call, target: str, request: dict[str, Any]) -> None:
    status, answer = call(target, orjson.dumps(request))
    if status != 200:
        raise SystemExit(f"{target}: {answer[:300].decode()}")


def _datum(series: int, timestamp: int) -> dict[str, Any]:
    return {**_metric(series), "Timestamp": timestamp, "Value": series + timestamp % 7}


def _metric(series: int) -> dict[str, Any]:
    return {"MetricName": "Load", "Dimensions": [{"Name": "Host", "Value": f"host-{series:05}"}]}


def _put(data: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Namespace": _NAMESPACE, "MetricData": data}


def _alarm(number: int) -> dict[str, Any]:
    return {
        "AlarmName": f"alarm-{number}",
        "Namespace": _NAMESPACE,
        **_metric(number % _SERIES),
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 1e9,
        "ComparisonOperator": "GreaterThanThreshold",
    }


def _new_series() -> dict[str, Any]:
    now = int(time.time())
    return _put([_datum(now % 10_000 * 1000 + s, now) for s in range(_CALL_DATA)])


def _many_values(data: int) -> dict[str, Any]:
    now = int(time.time())
    values = {"Values": [1.5**n for n in range(150)]}
    return _put([{**_metric(s), "Timestamp": now, **values} for s in range(data)])


def _stats(metrics: Iterable[dict[str, Any]], **members: Any) -> list[dict[str, Any]]:
    return [
        {"Id": f"m{number}", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}, **members}
        for number, metric in enumerate(metrics)
    ]


def _own() -> list[dict[str, Any]]:
    return [{"Namespace": _NAMESPACE, **_metric(s)} for s in range(_SERIES)]


def _of_table(count: int) -> list[dict[str, Any]]:
    dimensions = [{"Name": "TableName", "Value": TABLE}, {"Name": "Operation", "Value": "GetItem"}]
    metric = {"Namespace": "AWS/DynamoDB", "MetricName": "SuccessfulRequestLatency", "Dimensions": dimensions}
    return [metric] * count


def _data(queries: list[dict[str, Any]], seconds: int) -> dict[str, Any]:
    now = int(time.time())
    return {"MetricDataQueries": queries, "StartTime": now - seconds, "EndTime": now}


def _computed(count: int, expression: str, seconds: int) -> dict[str, Any]:
    """Expressions over a hundred series, all of which are returned."""
    queries = [{"Id": f"e{number}", "Expression": expression} for number in range(count)]
    return _data([*_stats(_own(), ReturnData=False), *queries], seconds)


def _alone(count: int, expression: str, seconds: int) -> dict[str, Any]:
    return _data([{"Id": f"e{number}", "Expression": expression} for number in range(count)], seconds)


def _cloudwatch(name: str, operation: str, body: Callable[[], dict[str, Any]]) -> Shape:
    return Shape(f"{operation}, {name}", f"{_CLOUDWATCH}.{operation}", body)


SHAPES: tuple[Shape, ...] = (
    _cloudwatch(
        "400 expressions, 100 series", "GetMetricData", lambda: _computed(400, "METRICS()*2", 5 * 3600)
    ),
    _cloudwatch(
        "40 expressions, 100 series", "GetMetricData", lambda: _computed(40, "METRICS()*2", 5 * 3600)
    ),
    _cloudwatch(
        "400 FILLs, 100 series", "GetMetricData", lambda: _computed(400, "FILL(METRICS(),0)", 3 * _DAY)
    ),
    _cloudwatch(
        "a sum of 200 lists", "GetMetricData", lambda: _computed(1, "+".join(["METRICS()"] * 200), 5 * 3600)
    ),
    _cloudwatch("90 TIME_SERIES", "GetMetricData", lambda: _alone(90, "TIME_SERIES(1)", 15 * _DAY)),
    _cloudwatch("500 TIME_SERIES", "GetMetricData", lambda: _alone(500, "TIME_SERIES(1)", 15 * _DAY)),
    _cloudwatch(
        "10 searches",
        "GetMetricData",
        lambda: _alone(10, f"SEARCH('{{{_NAMESPACE},Host}} host', 'Sum', 60)", 3600),
    ),
    _cloudwatch("500 metrics of 15 minutes", "GetMetricData", lambda: _data(_stats(_own() * 5), 900)),
    _cloudwatch("500 of a table", "GetMetricData", lambda: _data(_stats(_of_table(500)), 900)),
    _cloudwatch("100 series of 5 hours", "GetMetricData", lambda: _data(_stats(_own()), 5 * 3600)),
    _cloudwatch("2,100 series", "ListMetrics", lambda: {"Namespace": _NAMESPACE}),
    _cloudwatch("none fits", "ListMetrics", lambda: {"Namespace": "None"}),
    _cloudwatch("1,000 new series", "PutMetricData", _new_series),
    _cloudwatch("300 x 150 values", "PutMetricData", lambda: _many_values(300)),
    _cloudwatch("100", "DescribeAlarms", lambda: {"MaxRecords": 100}),
    _cloudwatch("none fits", "DescribeAlarms", lambda: {"ActionPrefix": "none"}),
    _cloudwatch("all", "DescribeAlarmHistory", dict),
    Shape(
        "DescribeScalingActivities",
        f"{_SCALING}.DescribeScalingActivities",
        lambda: {"ServiceNamespace": "dynamodb"},
    ),
    Shape("the metrics page", "/metrics", dict),
    Shape("the heat page", f"/_hashrange/heat?table={TABLE}", dict),
    Shape("the page of a day's keys", f"/_hashrange/insights?table={TABLE}&minutes=1440", dict),
)
