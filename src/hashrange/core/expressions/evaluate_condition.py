"""Compiles resolved conditions into functions of an item: once per expression, to be called once per item."""

from base64 import b64decode
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import assert_never

from hashrange.core import effort
from hashrange.core import values as attribute_values
from hashrange.core.expressions import resolved
from hashrange.core.expressions.document_paths import find
from hashrange.core.expressions.order import compare
from hashrange.core.values import Item, Value

Test = Callable[[Item, resolved.Values], bool]
Getter = Callable[[Item, resolved.Values], Value | None]

_ORDERS: dict[str, Callable[[int, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_RUN = 8192
_SET_MEMBERS = {"S": "SS", "N": "NS", "B": "BS"}


def compile_condition(node: resolved.Node) -> Test:
    """The condition as a function of an item and the request's values."""
    match node:
        case resolved.And(conditions):
            return _all(list(map(compile_condition, conditions)))
        case resolved.Or(conditions):
            return _any(list(map(compile_condition, conditions)))
        case resolved.Not(inner):
            return _not(compile_condition(inner))
        case resolved.Equivalent(inner, others):
            return _equivalent(compile_condition(inner), [_truth(other) for other in others])
        case resolved.Compare(comparator, left, right):
            return _compare(comparator, left, right)
        case resolved.Between(operand, lower, upper):
            return _between(getter(operand), getter(lower), getter(upper))
        case resolved.In(operand, candidates):
            return _in(getter(operand), [getter(candidate) for candidate in candidates])
        case resolved.AttributeExists(path):
            return _exists(getter(path))
        case resolved.AttributeNotExists(path):
            return _not(_exists(getter(path)))
        case resolved.AttributeType(operand, type_name):
            return _has_type(getter(operand), getter(type_name))
        case resolved.BeginsWith(operand, prefix):
            return _pairwise(getter(operand), getter(prefix), begins_with)
        case resolved.Contains(operand, member):
            return _pairwise(getter(operand), getter(member), contains)
        case _:
            assert_never(node)


def getter(operand: resolved.Operand) -> Getter:
    """The operand as a function of an item and the request's values; None where there is nothing."""
    match operand:
        case resolved.Path((str(name),)):
            return lambda item, _values: item.get(name)
        case resolved.Path(parts):
            return lambda item, _values: find(item, parts)
        case resolved.Literal(value):
            return lambda _item, _values: value
        case resolved.Parameter(name):
            return lambda _item, values: values[name]
        case resolved.Size(inner):
            return _size(getter(inner))
        case _:
            assert_never(operand)


def _all(tests: list[Test]) -> Test:
    if len(tests) == 2:
        first, second = tests
        return lambda item, values: first(item, values) and second(item, values)

    def test(item: Item, values: resolved.Values) -> bool:
        for inner in tests:  # noqa: SIM110 - a generator costs more than the tests it runs
            if not inner(item, values):
                return False
        return True

    return test


def _any(tests: list[Test]) -> Test:
    def test(item: Item, values: resolved.Values) -> bool:
        for inner in tests:  # noqa: SIM110 - a generator costs more than the tests it runs
            if inner(item, values):
                return True
        return False

    return test


def _not(inner: Test) -> Test:
    return lambda item, values: not inner(item, values)


def _equivalent(test: Test, others: list[Getter]) -> Test:
    def holds(item: Item, values: resolved.Values) -> bool:
        truth = {"BOOL": test(item, values)}
        return any(other(item, values) == truth for other in others)

    return holds


def _truth(other: resolved.Node | resolved.Operand) -> Getter:
    """A condition as the boolean that it is; an operand may be anything."""
    if isinstance(other, resolved.Operand):
        return getter(other)
    test = compile_condition(other)
    return lambda item, values: {"BOOL": test(item, values)}


def _compare(comparator: str, left: resolved.Operand, right: resolved.Operand) -> Test:
    first, second = getter(left), getter(right)
    match comparator:
        case "=":
            return _equal(left, right)
        case "<>":
            return _not(_equal(left, right))
        case _:
            order = _ORDERS[comparator]

    def test(item: Item, values: resolved.Values) -> bool:
        low, high = first(item, values), second(item, values)
        if low is None or high is None:
            return False
        difference = compare(low, high)
        return difference is not None and order(difference, 0)

    return test


def _equal(left: resolved.Operand, right: resolved.Operand) -> Test:
    """Canonical values are equal when their dicts are; a missing attribute equals nothing, not even another one."""
    match left, right:
        case (resolved.Path((str(name),)), resolved.Parameter(parameter)) | (
            resolved.Parameter(parameter),
            resolved.Path((str(name),)),
        ):
            return lambda item, values: item.get(name) == values[parameter]
        case _:
            first, second = getter(left), getter(right)

    def test(item: Item, values: resolved.Values) -> bool:
        value = first(item, values)
        return value is not None and value == second(item, values)

    return test


def _between(operand: Getter, lower: Getter, upper: Getter) -> Test:
    def test(item: Item, values: resolved.Values) -> bool:
        value, low, high = operand(item, values), lower(item, values), upper(item, values)
        if value is None or low is None or high is None:
            return False
        above, below = compare(low, value), compare(value, high)
        return above is not None and below is not None and above <= 0 and below <= 0

    return test


def _in(operand: Getter, candidates: list[Getter]) -> Test:
    def test(item: Item, values: resolved.Values) -> bool:
        value = operand(item, values)
        return value is not None and any(value == candidate(item, values) for candidate in candidates)

    return test


def _exists(operand: Getter) -> Test:
    return lambda item, values: operand(item, values) is not None


def _has_type(operand: Getter, type_name: Getter) -> Test:
    def test(item: Item, values: resolved.Values) -> bool:
        value, name = operand(item, values), type_name(item, values)
        return value is not None and name is not None and name.get("S") in value

    return test


def _pairwise(first: Getter, second: Getter, rule: Callable[[Value, Value], bool]) -> Test:
    def test(item: Item, values: resolved.Values) -> bool:
        left, right = first(item, values), second(item, values)
        return left is not None and right is not None and rule(left, right)

    return test


def begins_with(value: Value, prefix: Value) -> bool:
    """Whether a string or binary starts with another."""
    if "S" in value and "S" in prefix:
        return bool(value["S"].startswith(prefix["S"]))
    if "B" in value and "B" in prefix:
        return b64decode(value["B"]).startswith(b64decode(prefix["B"]))
    return False


def contains(container: Value, member: Value) -> bool:
    """Whether a string or binary has a part, or a set or list an element."""
    if "L" in container:
        elements = container["L"]
        return member in elements if len(elements) <= _RUN else _in_runs(elements, member)
    ((kind, content),) = member.items()
    if kind == "S" and "S" in container:
        return content in container["S"]
    if kind == "B" and "B" in container:
        return b64decode(content) in b64decode(container["B"])
    members = container.get(_SET_MEMBERS.get(kind, ""))
    return members is not None and content in members


def _in_runs(elements: list[Value], member: Value) -> bool:
    """Look through a long list run by run: one look at all of it would hold up all other threads meanwhile."""
    for start in range(0, len(elements), _RUN):
        effort.spend(0)  # what it costs was counted for the whole condition
        if member in elements[start : start + _RUN]:
            return True
    return False


def _size(operand: Getter) -> Getter:
    def get(item: Item, values: resolved.Values) -> Value | None:
        value = operand(item, values)
        length = None if value is None else size(value)
        return None if length is None else {"N": str(length)}

    return get


def size(value: Value) -> int | None:
    """The length that the size function gives; None for the types that have none."""
    ((kind, content),) = value.items()
    if kind == "S":
        # UTF-16 units (measured); every code point beyond the first plane is two of them.
        return len(content) if content.isascii() else len(content.encode("utf-16-le", "surrogatepass")) // 2
    if kind == "B":
        return attribute_values.binary_size(content)
    if kind in ("N", "BOOL", "NULL"):
        return None
    return len(content)
