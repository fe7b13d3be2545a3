"""Every golden case: what an expression comes to, or the words in which it is refused."""

from typing import Any

import pytest

from core.expressions.golden import every_case, shared
from hashrange.core.errors import Invalid
from hashrange.core.expressions import (
    Binder,
    apply_update,
    key_condition,
    legacy,
    matches,
    pick,
    select_paths,
)
from hashrange.core.values import Item, canonical

CONDITIONS, FLAWS, PRECEDENCE = shared("conditions"), shared("flaws"), shared("precedence")
UPDATES, RETURNED, PROJECTIONS = shared("updates"), shared("returned_paths"), shared("projections")
KEYS, LEGACY = shared("key_conditions"), shared("legacy")


def binder(cases: dict[str, Any]) -> Binder:
    values = {name: canonical(value) for name, value in cases.get("values", {}).items()}
    return Binder(cases.get("names"), values)


def refusal(cases: dict[str, Any], parameter: str, text: str) -> str | None:
    """What the binder has against a text, without the name of the parameter."""
    try:
        if parameter == "UpdateExpression":
            binder(cases).update(text)
        elif parameter == "ProjectionExpression":
            binder(cases).projection(text)
        else:
            binder(cases).condition("FilterExpression", text)
    except Invalid as invalid:
        return invalid.message.removeprefix(f"Invalid {parameter}: ")
    return None


def changes(before: Item, after: Item) -> dict[str, Any]:
    return {name: after.get(name) for name in {**before, **after} if after.get(name) != before.get(name)}


@every_case("conditions")
def test_condition(group: dict[str, Any], text: str, holds: bool) -> None:
    condition = binder(CONDITIONS).condition("FilterExpression", text)
    assert matches(condition, CONDITIONS["item"]) is holds


@every_case("flaws")
def test_flaw(group: dict[str, Any], text: str, flaw: str | None) -> None:
    assert refusal(FLAWS, group["parameter"], text) == flaw


@every_case("precedence")
def test_of_two_flaws_the_service_reports_this_one(group: dict[str, Any], text: str, flaw: str) -> None:
    assert refusal(PRECEDENCE, group["parameter"], text) == flaw


@every_case("updates")
def test_update(group: dict[str, Any], text: str, outcome: Any) -> None:
    update = binder(UPDATES).update(text)
    if isinstance(outcome, str):
        with pytest.raises(Invalid) as refused:
            apply_update(update, UPDATES["item"])
        assert refused.value.message == outcome
    else:
        assert changes(UPDATES["item"], apply_update(update, UPDATES["item"]).item) == outcome


@every_case("returned_paths")
def test_returned_paths(group: dict[str, Any], text: str, old: Item, new: Item) -> None:
    applied = apply_update(binder(RETURNED).update(text), RETURNED["item"])
    assert select_paths(applied.paths, RETURNED["item"]) == old
    assert select_paths(applied.paths, applied.item) == new


@every_case("projections")
def test_projection(group: dict[str, Any], text: str, kept: Item) -> None:
    assert pick(binder(PROJECTIONS).projection(text), PROJECTIONS["item"]) == kept


@every_case("key_conditions")
def test_key_condition(group: dict[str, Any], text: str, clauses: Any) -> None:
    try:
        condition = binder(KEYS).condition("KeyConditionExpression", text)
        result: Any = [
            [clause.attribute, clause.operator, list(clause.operands)] for clause in key_condition(condition)
        ]
    except Invalid as invalid:
        result = invalid.message
    assert result == clauses


def legacy_values(conditions: dict[str, Any]) -> dict[str, Any]:
    """Conditions of a query or filter as handlers hand them over."""
    return {
        name: legacy.Comparison(
            condition["ComparisonOperator"],
            [canonical(value) for value in condition.get("AttributeValueList", ())],
        )
        for name, condition in conditions.items()
    }


def legacy_expectations(conditions: dict[str, Any]) -> dict[str, Any]:
    """Expectations as handlers hand them over."""
    return {
        name: legacy.Expectation(
            exists=condition.get("Exists"),
            value=condition.get("Value"),
            operator=condition.get("ComparisonOperator"),
            values=None
            if "AttributeValueList" not in condition
            else [canonical(value) for value in condition["AttributeValueList"]],
        )
        for name, condition in conditions.items()
    }


def legacy_updates(updates: dict[str, Any]) -> dict[str, Any]:
    """Updates as handlers hand them over."""
    return {
        name: legacy.AttributeUpdate(update.get("Action") or "PUT", update.get("Value"))
        for name, update in updates.items()
    }


@every_case("legacy", "filter_conditions", "expected")
def test_legacy_condition(group: dict[str, Any], conditions: Any, operator: str | None, outcome: Any) -> None:
    read = getattr(legacy, group["what"])
    try:
        typed = legacy_expectations if group["what"] == "expected" else legacy_values
        condition = read(typed(conditions), operator)
        result: Any = condition is None or matches(condition, LEGACY["item"])
    except Invalid as invalid:
        result = invalid.message
    assert result == outcome


@every_case("legacy", "key_conditions")
def test_legacy_key_conditions(group: dict[str, Any], conditions: Any, clauses: Any) -> None:
    try:
        result: Any = [
            [clause.attribute, clause.operator, list(clause.operands)]
            for clause in legacy.key_conditions(legacy_values(conditions))
        ]
    except Invalid as invalid:
        result = invalid.message
    assert result == clauses


@every_case("legacy", "attribute_updates")
def test_legacy_attribute_updates(group: dict[str, Any], updates: Any, outcome: Any) -> None:
    try:
        result: Any = changes(
            group["item"], apply_update(legacy.attribute_updates(legacy_updates(updates)), group["item"]).item
        )
    except Invalid as invalid:
        result = invalid.message
    assert result == outcome
