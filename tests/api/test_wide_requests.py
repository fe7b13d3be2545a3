"""Lists and maps that are far longer than any request needs: what looks at them does so once, and not for long."""

from typing import Any

import pytest

from hashrange.api.errors import ApiError
from hashrange.api.items import batch_get_item, batch_write_item, put_item
from hashrange.api.partiql import batch_execute_statement, execute_statement
from hashrange.api.protocol import shapes
from hashrange.api.protocol.shapes import Shape

_MOST = 50


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "ENTRIES_MAX", _MOST)


def _parameters(count: int) -> dict[str, Any]:
    return {"Statement": "SELECT", "Parameters": [{"L": [{"S": ""}] * 1000}] * count}


@pytest.mark.parametrize(
    ("shape", "at_most", "beyond"),
    [
        (
            put_item.SHAPE,
            {"Item": {f"a{number}": {"L": [{"S": ""}] * 1000} for number in range(_MOST)}},
            {"Item": {f"a{number}": {"S": ""} for number in range(_MOST + 1)}},
        ),
        (execute_statement.SHAPE, _parameters(_MOST), _parameters(_MOST + 1)),
        (
            batch_execute_statement.SHAPE,
            {"Statements": [_parameters(_MOST - 1)]},
            {"Statements": [_parameters(_MOST)]},
        ),
        (
            batch_get_item.SHAPE,
            {"RequestItems": {"table": {"Keys": [{}] * (_MOST - 1)}}},
            {"RequestItems": {"table": {"Keys": [{}] * _MOST}}},
        ),
        (
            batch_write_item.SHAPE,
            {"RequestItems": {"table": [{}] * (_MOST - 1)}},
            {"RequestItems": {"table": [{}] * _MOST}},
        ),
    ],
)
def test_both_sides_of_the_limit_of_entries(
    shape: Shape[Any], at_most: dict[str, Any], beyond: dict[str, Any]
) -> None:
    shape.refuse_many_entries(at_most)
    with pytest.raises(ApiError) as caught:
        shape.refuse_many_entries(beyond)
    assert (caught.value.code, caught.value.status) == ("RequestEntityTooLargeException", 413)


@pytest.mark.parametrize("sent", [[], 5, None, {"Item": 5}, {"Item": []}, {"Unknown": [1] * 1000}])
def test_what_has_another_form_is_left_to_others(sent: Any) -> None:
    put_item.SHAPE.refuse_many_entries(sent)


def test_no_more_violations_are_found_than_are_told() -> None:
    sent = {"RequestItems": {"n" * 1_000_000: {"Keys": [{}] * 1000, "ProjectionExpression": "a"}}}
    clean = {"RequestItems": {f"{number}": {} for number in range(1000)}}
    assert 0 < len(batch_get_item.SHAPE.violations(sent)) <= shapes.VIOLATIONS_MAX
    assert len(batch_get_item.SHAPE.violations(clean)) == shapes.VIOLATIONS_MAX


def test_a_path_has_only_the_beginning_of_a_long_name() -> None:
    (_, path, _) = batch_get_item.SHAPE.violations({"RequestItems": {"n" * 1_000_000: {}}})[-1]
    assert len(path) < 70_000
    assert path.endswith("n.member.\0Keys")
