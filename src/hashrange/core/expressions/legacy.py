"""The parameters that expressions replaced, read into the same trees with the messages of their own time."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from hashrange.core.errors import Invalid
from hashrange.core.expressions import build, resolved
from hashrange.core.expressions.condition import Condition
from hashrange.core.expressions.key_clauses import KeyClause, KeyOperator
from hashrange.core.expressions.order import compare
from hashrange.core.expressions.project import Projection, projection
from hashrange.core.expressions.update import Update
from hashrange.core.values import Value, check_names

WRONG_COUNT = "Conditions can be of length 1 or 2 only"

_PREFIX = "One or more parameter values were invalid: "
_SETS = frozenset({"SS", "NS", "BS"})
_ORDERED = frozenset({"S", "N", "B"})

# How many values each operator takes; IN takes one or more.
_VALUE_COUNTS = {"NULL": 0, "NOT_NULL": 0, "BETWEEN": 2}
_VALUE_TYPES = {
    "LT": _ORDERED,
    "LE": _ORDERED,
    "GT": _ORDERED,
    "GE": _ORDERED,
    "IN": _ORDERED,
    "BETWEEN": _ORDERED,
    "BEGINS_WITH": frozenset({"S", "B"}),
    "CONTAINS": _ORDERED | {"BOOL", "NULL"},
    "NOT_CONTAINS": _ORDERED | {"BOOL", "NULL"},
}
_KEY_OPERATORS: dict[str, KeyOperator] = {
    "EQ": "=",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "BETWEEN": "BETWEEN",
    "BEGINS_WITH": "begins_with",
}


class Comparison(msgspec.Struct, frozen=True):
    """An element of KeyConditions, QueryFilter or ScanFilter."""

    operator: str
    values: Sequence[Value] = ()


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """An element of Expected: two generations of this parameter meet in one structure."""

    exists: bool | None = None
    value: Value | None = None
    operator: str | None = None
    values: Sequence[Value] | None = None


class AttributeUpdate(msgspec.Struct, frozen=True):
    """An element of AttributeUpdates."""

    action: str
    value: Value | None = None


def attributes_to_get(names: Sequence[str]) -> Projection:
    """AttributesToGet: whole attributes, each named once."""
    check_names(names)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Invalid(f"{_PREFIX}Duplicate value in attribute name: {name}")
        seen.add(name)
    return projection(resolved.Path((name,)) for name in names)


def expected(expectations: Mapping[str, Expectation], operator: str | None) -> Condition | None:
    """Expected: what the stored item must be like for a write to happen."""
    nodes = [_expectation(name, expectation) for name, expectation in expectations.items()]
    return _joined(nodes, operator)


def filter_conditions(comparisons: Mapping[str, Comparison], operator: str | None) -> Condition | None:
    """QueryFilter and ScanFilter: what an item must be like to be returned."""
    check_names(comparisons)
    nodes = []
    for name, comparison in comparisons.items():
        _check_values(comparison.operator, comparison.values)
        nodes.append(_node(name, comparison.operator, comparison.values))
    return _joined(nodes, operator)


def key_conditions(comparisons: Mapping[str, Comparison], *, attributes_max: int = 2) -> list[KeyClause]:
    """KeyConditions: at most one per key attribute; `attributes_max` is what the key may have."""
    check_names(comparisons)
    for comparison in comparisons.values():
        _check_values(comparison.operator, comparison.values)
    if not 1 <= len(comparisons) <= attributes_max:
        raise Invalid(WRONG_COUNT)
    clauses = []
    for name, comparison in comparisons.items():
        operator = _KEY_OPERATORS.get(comparison.operator)
        if operator is None:
            raise Invalid("Attempted conditional constraint is not an indexable operation")
        clauses.append(KeyClause(name, operator, tuple(comparison.values)))
    return clauses


def attribute_updates(updates: Mapping[str, AttributeUpdate]) -> Update:
    """AttributeUpdates: one action on each of some whole attributes."""
    check_names(updates)
    return build.update([_action(name, update) for name, update in updates.items()])


def _action(name: str, update: AttributeUpdate) -> resolved.Action:
    action, value = update.action, update.value
    path = resolved.Path((name,))
    if value is None:
        if action == "DELETE":
            return resolved.Remove(path)
        raise Invalid(f"{_PREFIX}Only DELETE action is allowed when no attribute value is specified")
    kind = next(iter(value))
    if action == "DELETE":
        if kind not in _SETS:
            raise Invalid(f"{_PREFIX}DELETE action with value is not supported for the type {kind}")
        return resolved.Delete(path, resolved.Literal(value), legacy=True)
    if action == "ADD":
        # Lists are not documented here, yet they are taken, and appended to.
        if kind not in _SETS and kind not in ("N", "L"):
            raise Invalid(f"{_PREFIX}ADD action is not supported for the type {kind}")
        return resolved.Add(path, resolved.Literal(value), legacy=True)
    return resolved.Set(path, resolved.Literal(value))


def _expectation(name: str, expectation: Expectation) -> resolved.Node:
    _check_expectation(name, expectation)
    value = expectation.value
    single = [] if value is None else [value]
    if expectation.operator is None:
        return _node(name, "NULL" if value is None else "EQ", single)
    values = single if expectation.values is None else expectation.values
    _check_values(expectation.operator, values)
    return _node(name, expectation.operator, values)


def _check_expectation(name: str, expectation: Expectation) -> None:
    """The two generations do not mix."""
    operator, exists = expectation.operator, expectation.exists
    valued, listed = expectation.value is not None, expectation.values is not None
    problem = None
    if operator is not None and operator not in _NODES:
        raise Invalid(f"{_PREFIX}Invalid comparison operator")
    if valued and listed:
        problem = "Value and AttributeValueList cannot be used together"
    elif operator is not None:
        if exists is not None:
            problem = "Exists and ComparisonOperator cannot be used together"
        elif not valued and not listed and operator not in ("NULL", "NOT_NULL"):
            problem = f"Value or AttributeValueList must be used with ComparisonOperator: {operator}"
    elif listed:
        problem = "AttributeValueList can only be used with a ComparisonOperator"
    elif exists is not False and not valued:
        problem = f"Value must be provided when Exists is {'null' if exists is None else 'true'}"
    elif exists is False and valued:
        problem = "Value cannot be used when Exists is false"
    if problem:
        raise Invalid(f"{_PREFIX}{problem} for Attribute: {name}")


def _check_values(operator: str, values: Sequence[Value]) -> None:
    """As many values as the operator takes, all of one type that it can work with."""
    count = len(values)
    if count == 0 if operator == "IN" else count != _VALUE_COUNTS.get(operator, 1):
        raise Invalid(f"{_PREFIX}Invalid number of argument(s) for the {operator} ComparisonOperator")
    kinds = [next(iter(value)) for value in values]
    if len(set(kinds)) > 1:
        raise Invalid(f"{_PREFIX}AttributeValues inside AttributeValueList must be of same type")
    allowed = _VALUE_TYPES.get(operator)
    for kind in kinds:
        if allowed is not None and kind not in allowed:
            raise Invalid(
                f"{_PREFIX}ComparisonOperator {operator} is not valid for {kind} AttributeValue type"
            )
    if operator == "BETWEEN" and (compare(values[0], values[1]) or 0) > 0:
        raise Invalid(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )


_Maker = Callable[[resolved.Path, Sequence[resolved.Literal]], resolved.Node]

_NODES: dict[str, _Maker] = {
    "EQ": lambda path, values: resolved.Compare("=", path, values[0]),
    "NE": lambda path, values: resolved.Compare("<>", path, values[0]),
    "LT": lambda path, values: resolved.Compare("<", path, values[0]),
    "LE": lambda path, values: resolved.Compare("<=", path, values[0]),
    "GT": lambda path, values: resolved.Compare(">", path, values[0]),
    "GE": lambda path, values: resolved.Compare(">=", path, values[0]),
    "NULL": lambda path, _: resolved.AttributeNotExists(path),
    "NOT_NULL": lambda path, _: resolved.AttributeExists(path),
    "CONTAINS": lambda path, values: resolved.Contains(path, values[0]),
    # Unlike NOT contains(), this one wants the attribute to be there.
    "NOT_CONTAINS": lambda path, values: resolved.And(
        (resolved.AttributeExists(path), resolved.Not(resolved.Contains(path, values[0])))
    ),
    "BEGINS_WITH": lambda path, values: resolved.BeginsWith(path, values[0]),
    "IN": lambda path, values: resolved.In(path, tuple(values)),
    "BETWEEN": lambda path, values: resolved.Between(path, values[0], values[1]),
}


def _node(name: str, operator: str, values: Sequence[Value]) -> resolved.Node:
    return _NODES[operator](resolved.Path((name,)), [resolved.Literal(value) for value in values])


def check_operator(operator: str | None) -> None:
    """ConditionalOperator joins by AND or OR; the service's message has another word for one of them."""
    if operator not in (None, "AND", "OR"):
        raise Invalid("Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]")


def _joined(nodes: list[resolved.Node], operator: str | None) -> Condition | None:
    if operator is not None and not nodes:
        raise Invalid("ConditionalOperator cannot be used without Filter or Expected")
    if operator is not None and len(nodes) == 1:
        raise Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
    check_operator(operator)
    if not nodes:
        return None
    if len(nodes) == 1:
        return build.condition(nodes[0])
    return build.condition(resolved.Or(tuple(nodes)) if operator == "OR" else resolved.And(tuple(nodes)))
