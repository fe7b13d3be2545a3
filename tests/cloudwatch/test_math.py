"""Metric math: what expressions give, and which are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.evaluate import Scope, evaluate
from hashrange.services.cloudwatch.math.parser import parse
from hashrange.services.cloudwatch.math.values import Series

START = 1_699_920_000  # a Tuesday


def series(*values: float | None, period: int = 60, label: str = "m") -> Series:
    points = {START + period * at: value for at, value in enumerate(values) if value is not None}
    return Series(label, period, points)


def result(expression: str, **values: Any) -> Any:
    """The values of a series in order, None for gaps; or of all series of a list; or a number."""
    metrics = {name: value for name, value in values.items() if isinstance(value, Series)}
    times = range(START, START + 240, 60)
    found: list[tuple[str, str, int]] = []

    def search(text: str, stat: str, period: int) -> list[Series]:
        found.append((text, stat, period))
        return [series(1.0, 2.0), series(10.0, 20.0)]

    value = evaluate(parse(expression), Scope(values, metrics, times, search))
    if isinstance(value, list):
        return [shown(one) for one in value]
    return shown(value) if isinstance(value, Series) else value


def shown(one: Series) -> list[float | None]:
    last = max(one.points, default=START - 60)
    return [one.points.get(time) for time in range(START, last + 1, 60)]


M = series(1.0, 2.0, 4.0)
N = series(2.0, None, 5.0, 6.0)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("10 - 4 - 3", 3.0),
        ("1.5e2 / .5", 300.0),
        ("1 < 2 AND 2 >= 3", 0.0),
        ("1 == 1 || 1 != 1", 1.0),
        ("m * 2", [2.0, 4.0, 8.0]),
        ("100 * (m / n)", [50.0, None, 80.0]),  # a point that one of them lacks is none
        ("m / (m - 1)", [None, 2.0, 4 / 3]),  # nor is a division by zero
        ("m > 1", [0.0, 1.0, 1.0]),
        ("m / PERIOD(m)", [1 / 60, 2 / 60, 4 / 60]),
        ("SUM(METRICS())", [3.0, 2.0, 9.0, 6.0]),
        ("SUM([m, n])", [3.0, 2.0, 9.0, 6.0]),
        ("SUM(METRICS('n'))", [2.0, None, 5.0, 6.0]),
        ("AVG([m, n])", [1.5, 2.0, 4.5, 6.0]),
        ("MAX([m, n])", [2.0, 2.0, 5.0, 6.0]),
        ("MIN([m, n])", [1.0, 2.0, 4.0, 6.0]),
        ("STDDEV([m, n])", [0.5, 0.0, 0.5, 0.0]),
        ("SUM(m)", 7.0),
        ("AVG(m)", 7 / 3),
        ("MAX(m) - MIN(m)", 3.0),
        ("m - AVG(m) > 0", [0.0, 0.0, 1.0]),
        ("FILL(n, 0)", [2.0, 0.0, 5.0, 6.0]),
        ("FILL(m, 9)", [1.0, 2.0, 4.0, 9.0]),
        ("FILL(n, REPEAT)", [2.0, 2.0, 5.0, 6.0]),
        ("FILL(n, LINEAR)", [2.0, 3.5, 5.0, 6.0]),
        ("FILL(n, m)", [2.0, 2.0, 5.0, 6.0]),
        ("FILL(METRICS(), 0)", [[1.0, 2.0, 4.0, 0.0], [2.0, 0.0, 5.0, 6.0]]),
        ("IF(m > 1, m, 0)", [0.0, 2.0, 4.0]),
        ("IF(m > 1, n)", [None, None, 5.0]),
        ("IF(1, m, n)", [1.0, 2.0, 4.0]),
        ("RATE(m)", [None, 1 / 60, 2 / 60]),
        ("DIFF(m)", [None, 1.0, 2.0]),
        ("DIFF_TIME(n)", [None, None, 120.0, 60.0]),
        ("RUNNING_SUM(m)", [1.0, 3.0, 7.0]),
        ("ABS(0 - m)", [1.0, 2.0, 4.0]),
        ("CEIL(m / 3) + FLOOR(m / 3)", [1.0, 1.0, 3.0]),
        ("LOG10(m * 10)", [1.0, 1.3010299956639813, 1.6020599913279625]),
        ("LOG(m - 1)", [None, 0.0, 1.0986122886681098]),
        ("DATAPOINT_COUNT(n)", 3.0),
        ("METRIC_COUNT(METRICS())", 2.0),
        ("MINUTE(m)", [0.0, 1.0, 2.0]),
        ("DAY(m) * 100 + HOUR(m)", [200.0, 200.0, 200.0]),
        ("YEAR(m) + MONTH(m) + DATE(m)", [2048.0, 2048.0, 2048.0]),
        ("EPOCH(m) - 1699920000", [0.0, 60.0, 120.0]),
        ("TIME_SERIES(5)", [5.0, 5.0, 5.0, 5.0]),
        ("FIRST(SORT(METRICS(), SUM, DESC))", [2.0, None, 5.0, 6.0]),
        ("LAST(SORT(METRICS(), MAX, DESC))", [1.0, 2.0, 4.0]),
        ("SORT(METRICS(), AVG, ASC, 1)", [[1.0, 2.0, 4.0]]),
        ("SLICE(METRICS(), 1)", [[2.0, None, 5.0, 6.0]]),
        ("SLICE(METRICS(), 0, 1)", [[1.0, 2.0, 4.0]]),
        ("REMOVE_EMPTY([m - m, IF(m > 9, m)])", [[0.0, 0.0, 0.0]]),
        ("SUM(SEARCH('x', 'Sum', 60))", [11.0, 22.0]),
        ("METRICS() * 2", [[2.0, 4.0, 8.0], [4.0, None, 10.0, 12.0]]),
        ("METRICS() - METRICS()", [[0.0, 0.0, 0.0], [0.0, None, 0.0, 0.0]]),
    ],
)
def test_what_expressions_give(expression: str, value: Any) -> None:
    assert result(expression, m=M, n=N) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1 +",
        "(1",
        "1)",
        "m n",
        "m $ n",
        "unknown + 1",
        "'text'",
        "NOTHING(m)",
        "SUM()",
        "SUM(1)",
        "PERIOD(1)",
        "PERIOD(m, n)",
        "FILL(m)",
        "FILL(m, METRICS())",
        "IF(m)",
        "IF(METRICS(), 1, 2)",
        "IF(m, METRICS(), 2)",
        "[1, 2]",
        "FIRST(m)",
        "FIRST([])",
        "SLICE(METRICS(), m)",
        "SORT(METRICS(), SUM, UP)",
        "SEARCH(m, 'Sum')",
        "TIME_SERIES(m)",
        "[m, n] + [m]",
        "(" * 1000 + "1" + ")" * 1000,
        "-" * 1000 + "1",
        "2" + "^2" * 500,
        "1" + "+1" * 1000,
        "ABS(" * 300 + "m" + ")" * 300,
    ],
)
def test_what_is_refused(expression: str) -> None:
    with pytest.raises(MathError):
        result(expression, m=M, n=N)


def test_numbers_that_grow_beyond_all_bounds_are_gaps() -> None:
    assert result("m ^ 100000", m=series(1.0, 2.0)) == [1.0]
    assert result("(0 - m) ^ 0.5", m=series(0.0, 2.0)) == [0.0]


@given(st.text("m n12.+-*/^()[],<>=&|'SUMIFABS ", max_size=40))
def test_rubbish_is_refused_and_never_breaks_anything(expression: str) -> None:
    try:
        value = result(expression, m=M, n=N)
    except MathError:
        return
    assert isinstance(value, float | list)
