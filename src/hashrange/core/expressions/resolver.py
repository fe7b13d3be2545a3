"""The expressions of one request: its names and values, which of them were used, and what is ready to run."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from hashrange.core import limits
from hashrange.core.expressions.checks import Check, Defined, Fault
from hashrange.core.expressions.condition import Condition, ConditionPlan, plan_condition
from hashrange.core.expressions.errors import ExpressionInvalid, Flaw
from hashrange.core.expressions.grammar import too_many_operators
from hashrange.core.expressions.parser import parse_condition, parse_projection, parse_update
from hashrange.core.expressions.project import Projection, projection
from hashrange.core.expressions.resolve import Scope, resolve_condition
from hashrange.core.expressions.resolve_update import resolve_paths, resolve_update
from hashrange.core.expressions.tree import Values
from hashrange.core.expressions.update import Update, UpdatePlan, plan_update
from hashrange.core.values import Value

ConditionKind = Literal["ConditionExpression", "FilterExpression", "KeyConditionExpression"]
Names = tuple[tuple[str, str], ...]
Ready = TypeVar("Ready")

_CACHED_SHAPES = 512
# What is kept is bounded in bytes too: longer texts and names are worked out anew each time.
_CACHED_CHARS_MAX = 512
_NOTHING: Mapping[str, Value] = {}


class _Maker(Protocol[Ready]):
    """A cached function that makes shapes."""

    __wrapped__: Callable[..., Ready]

    def __call__(self, text: str, names: Names, /) -> Ready: ...


class Shape(msgspec.Struct, Generic[Ready], frozen=True):
    """An expression with its names resolved: what is ready to run, and what the values must pass before."""

    # None where the names alone already break a rule; the checks then say which.
    ready: Ready | None
    names: frozenset[str]
    values: frozenset[str]
    checks: tuple[Check, ...]
    checks_if_defined: tuple[Check, ...]

    def checked(self, values: Values) -> Ready:
        """What is ready, after the checks in the service's order; undefined values are looked for only if any."""
        defined = self.values <= values.keys()
        for check in self.checks_if_defined if defined else self.checks:
            check.run(values)
        if self.ready is None:
            raise AssertionError(self.checks)
        return self.ready


def _shape(scope: Scope, prepare: Callable[[], Ready]) -> Shape[Ready]:
    faulty = any(isinstance(check, Fault) for check in scope.checks)
    return Shape(
        None if faulty else prepare(),
        frozenset(scope.used_names),
        frozenset(scope.used_values),
        tuple(scope.checks),
        tuple(check for check in scope.checks if not isinstance(check, Defined)),
    )


@lru_cache(maxsize=_CACHED_SHAPES)
def _condition_shape(text: str, names: Names) -> Shape[ConditionPlan]:
    return _condition(text, names, for_keys=False)


@lru_cache(maxsize=_CACHED_SHAPES)
def _key_condition_shape(text: str, names: Names) -> Shape[ConditionPlan]:
    return _condition(text, names, for_keys=True)


def _condition(text: str, names: Names, *, for_keys: bool) -> Shape[ConditionPlan]:
    parsed = parse_condition(text)
    scope = Scope(dict(names))
    root = resolve_condition(scope, parsed.condition)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
    return _shape(scope, lambda: plan_condition(root, for_keys=for_keys))


@lru_cache(maxsize=_CACHED_SHAPES)
def _update_shape(text: str, names: Names) -> Shape[UpdatePlan]:
    parsed = parse_update(text)
    scope = Scope(dict(names))
    actions = resolve_update(scope, parsed.actions)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
    return _shape(scope, lambda: plan_update(actions))


@lru_cache(maxsize=_CACHED_SHAPES)
def _projection_shape(text: str, names: Names) -> Shape[Projection]:
    parsed = parse_projection(text)
    scope = Scope(dict(names))
    paths = resolve_paths(scope, parsed.paths)
    return _shape(scope, lambda: projection(paths))


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
        make = _key_condition_shape if kind == "KeyConditionExpression" else _condition_shape
        return Condition(self._ready(make, kind, text), self._values)

    def update(self, text: str) -> Update:
        """An update, which makes one item of another."""
        return Update(self._ready(_update_shape, "UpdateExpression", text), self._values)

    def projection(self, text: str) -> Projection:
        """A projection, which keeps parts of an item."""
        return self._ready(_projection_shape, "ProjectionExpression", text)

    def value_checks(self) -> tuple[Check, ...]:
        """What these expressions still have to check with other values of the same names."""
        return tuple(check for shape in self._shapes for check in shape.checks_if_defined)

    def finish(self) -> None:
        """All names and all values must have been used by the expressions resolved so far."""
        if self._names:
            used = {name for shape in self._shapes for name in shape.names}
            _refuse_unused("Names", [name for name, _ in self._names if name not in used])
        if self._values:
            used = {name for shape in self._shapes for name in shape.values}
            _refuse_unused("Values", [name for name in self._values if name not in used])

    def _ready(self, make: _Maker[Shape[Ready]], kind: str, text: str) -> Ready:
        try:
            _check_size(kind, text)
            keep = self._small and len(text) <= _CACHED_CHARS_MAX
            shape = make(text, self._names) if keep else make.__wrapped__(text, self._names)
            self._shapes.append(shape)
            return shape.checked(self._values)
        except Flaw as flaw:
            raise flaw.in_parameter(kind) from None


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
