"""The expressions of one request: its names and values, which of them were used, and what is ready to run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar

from hashrange.core import limits
from hashrange.core.expressions.checks import Check, Defined, Fault
from hashrange.core.expressions.conditions import too_many_operators
from hashrange.core.expressions.errors import ExpressionInvalid, Flaw
from hashrange.core.expressions.evaluate import compile_condition
from hashrange.core.expressions.parser import parse_condition, parse_projection, parse_update
from hashrange.core.expressions.project import projection
from hashrange.core.expressions.resolve import Scope, resolve_condition
from hashrange.core.expressions.resolve_update import resolve_paths, resolve_update
from hashrange.core.expressions.tree import Action, And, Condition, Node, Projection, Test, Values
from hashrange.core.expressions.update import Plan, Update, plan
from hashrange.core.values import Value

ConditionKind = Literal["ConditionExpression", "FilterExpression", "KeyConditionExpression"]
Names = tuple[tuple[str, str], ...]
Ready = TypeVar("Ready")

_CACHED_SHAPES = 1024
# What is kept is bounded in bytes too: longer texts and names are worked out anew each time.
_CACHED_CHARS_MAX = 1024
_NOTHING: Mapping[str, Value] = {}


class _Maker(Protocol[Ready]):
    """A cached function that makes shapes."""

    __wrapped__: Callable[..., Ready]

    def __call__(self, text: str, names: Names, /) -> Ready: ...


@dataclass(frozen=True, slots=True)
class Shape(Generic[Ready]):
    """An expression with its names resolved: everything about it that the values do not change."""

    ready: Ready
    names: frozenset[str]
    values: frozenset[str]
    attributes: frozenset[str]
    checks: tuple[Check, ...]
    checks_if_defined: tuple[Check, ...]

    def check(self, values: Values) -> None:
        """Run the checks in the service's order; undefined values are looked for only if there are any."""
        defined = self.values <= values.keys()
        for check in self.checks_if_defined if defined else self.checks:
            check.run(values)


def _shape(scope: Scope, ready: Ready) -> Shape[Ready]:
    return Shape(
        ready,
        frozenset(scope.used_names),
        frozenset(scope.used_values),
        frozenset(scope.attributes),
        tuple(scope.checks),
        tuple(check for check in scope.checks if not isinstance(check, Defined)),
    )


@lru_cache(maxsize=_CACHED_SHAPES)
def _condition_shape(text: str, names: Names) -> Shape[tuple[Node, Test]]:
    parsed = parse_condition(text)
    scope = Scope(dict(names))
    root = resolve_condition(scope, parsed.condition)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
        root = And(())
    return _shape(scope, (root, compile_condition(root)))


@lru_cache(maxsize=_CACHED_SHAPES)
def _update_shape(text: str, names: Names) -> Shape[tuple[tuple[Action, ...], Plan]]:
    parsed = parse_update(text)
    scope = Scope(dict(names))
    actions = resolve_update(scope, parsed.actions)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
    faulty = any(isinstance(check, Fault) for check in scope.checks)
    return _shape(scope, (actions, plan(() if faulty else actions)))


@lru_cache(maxsize=_CACHED_SHAPES)
def _projection_shape(text: str, names: Names) -> Shape[Projection]:
    parsed = parse_projection(text)
    scope = Scope(dict(names))
    paths = resolve_paths(scope, parsed.paths)
    return _shape(scope, projection(() if scope.checks else paths))


class Resolver:
    """The expressions of one request, or of one action of a transaction."""

    __slots__ = ("_names", "_shapes", "_small", "_values")

    def __init__(self, names: Mapping[str, str] | None, values: Mapping[str, Value] | None) -> None:
        self._names: Names = tuple(names.items()) if names else ()
        self._values = values or _NOTHING
        self._small = sum(len(name) for _, name in self._names) <= _CACHED_CHARS_MAX
        self._shapes: list[Shape[Any]] = []

    def condition(self, kind: ConditionKind, text: str) -> Condition:
        """A condition, which an item meets or not."""
        shape = self._shape(_condition_shape, kind, text)
        root, test = shape.ready
        return Condition(root, self._values, shape.attributes, test)

    def update(self, text: str) -> Update:
        """An update, which makes one item of another."""
        shape = self._shape(_update_shape, "UpdateExpression", text)
        actions, plan = shape.ready
        return Update(actions, self._values, shape.attributes, plan)

    def projection(self, text: str) -> Projection:
        """A projection, which keeps parts of an item."""
        return self._shape(_projection_shape, "ProjectionExpression", text).ready

    def finish(self) -> None:
        """All names and all values must have been used by the expressions resolved so far."""
        if self._names:
            used = {name for shape in self._shapes for name in shape.names}
            _refuse_unused("Names", [name for name, _ in self._names if name not in used])
        if self._values:
            used = {name for shape in self._shapes for name in shape.values}
            _refuse_unused("Values", [name for name in self._values if name not in used])

    def _shape(self, make: _Maker[Shape[Ready]], kind: str, text: str) -> Shape[Ready]:
        try:
            _check_size(kind, text)
            keep = self._small and len(text) <= _CACHED_CHARS_MAX
            shape = make(text, self._names) if keep else make.__wrapped__(text, self._names)
            shape.check(self._values)
        except Flaw as flaw:
            raise flaw.in_parameter(kind) from None
        self._shapes.append(shape)
        return shape


def _check_size(kind: str, text: str) -> None:
    if not text:
        raise Flaw("The expression can not be empty;")
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if length > limits.EXPRESSION_BYTES_MAX:
        # Only these two say how long the text is (seen on the service).
        told = f" expression size: {length}" if kind in ("FilterExpression", "ConditionExpression") else ""
        raise Flaw(f"Expression size has exceeded the maximum allowed size;{told}")


def _refuse_unused(which: str, unused: list[str]) -> None:
    if unused:
        raise ExpressionInvalid(
            f"Value provided in ExpressionAttribute{which} unused in expressions: "
            f"keys: {{{', '.join(unused)}}}"
        )
