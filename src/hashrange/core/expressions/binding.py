"""Binds the expressions of one request: its names and values, which of them were used, and what is ready to run."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from hashrange.core import effort, limits
from hashrange.core.expressions.condition import Condition, ConditionPlan, plan_condition
from hashrange.core.expressions.condition_grammar import too_many_operators
from hashrange.core.expressions.errors import ExpressionInvalid, Flaw
from hashrange.core.expressions.parser import parse_condition, parse_projection, parse_update
from hashrange.core.expressions.project import Projection, projection
from hashrange.core.expressions.resolve_condition import resolve_condition
from hashrange.core.expressions.resolve_update import resolve_paths, resolve_update
from hashrange.core.expressions.resolved import Values
from hashrange.core.expressions.scope import Scope
from hashrange.core.expressions.update import Update, UpdatePlan, plan_update
from hashrange.core.expressions.value_checks import Check, Defined, Fault
from hashrange.core.values import Value

ConditionKind = Literal["ConditionExpression", "FilterExpression", "KeyConditionExpression"]
Names = tuple[tuple[str, str], ...]
Plan = TypeVar("Plan")

_CACHE_ENTRIES_MAX = 512
# The caches are bounded in bytes too: expressions with longer texts or names are prepared anew for every request.
_CACHED_CHARS_MAX = 512
_NO_VALUES: Mapping[str, Value] = {}


class _Prepare(Protocol[Plan]):
    """A cached function that prepares expressions."""

    __wrapped__: Callable[..., Plan]

    def __call__(self, text: str, names: Names, /) -> Plan: ...


class Prepared(msgspec.Struct, Generic[Plan], frozen=True):
    """An expression with its names resolved: a plan to run, and the checks that the values must pass before."""

    # None where the names alone already break a rule; the checks then say which.
    plan: Plan | None
    names: frozenset[str]
    values: frozenset[str]
    checks: tuple[Check, ...]
    checks_if_defined: tuple[Check, ...]

    def checked_plan(self, values: Values) -> Plan:
        """The plan, after the checks in the service's order; those for missing values run only if one is missing."""
        defined = self.values <= values.keys()
        for check in self.checks_if_defined if defined else self.checks:
            check.run(values)
        if self.plan is None:
            raise AssertionError(self.checks)
        return self.plan


def _prepared(scope: Scope, compile_plan: Callable[[], Plan]) -> Prepared[Plan]:
    faulty = any(isinstance(check, Fault) for check in scope.checks)
    return Prepared(
        None if faulty else compile_plan(),
        frozenset(scope.used_names),
        frozenset(scope.used_values),
        tuple(scope.checks),
        tuple(check for check in scope.checks if not isinstance(check, Defined)),
    )


@lru_cache(maxsize=_CACHE_ENTRIES_MAX)
def _prepare_condition(text: str, names: Names) -> Prepared[ConditionPlan]:
    return _condition(text, names, for_keys=False)


@lru_cache(maxsize=_CACHE_ENTRIES_MAX)
def _prepare_key_condition(text: str, names: Names) -> Prepared[ConditionPlan]:
    return _condition(text, names, for_keys=True)


def _condition(text: str, names: Names, *, for_keys: bool) -> Prepared[ConditionPlan]:
    effort.spend_on_text(text)
    parsed = parse_condition(text)
    scope = Scope(dict(names))
    root = resolve_condition(scope, parsed.condition)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
    return _prepared(scope, lambda: plan_condition(root, for_keys=for_keys))


@lru_cache(maxsize=_CACHE_ENTRIES_MAX)
def _prepare_update(text: str, names: Names) -> Prepared[UpdatePlan]:
    effort.spend_on_text(text)
    parsed = parse_update(text)
    scope = Scope(dict(names))
    actions = resolve_update(scope, parsed.actions)
    if parsed.operators > limits.EXPRESSION_OPERATORS_MAX:
        scope.fault(too_many_operators().detail)
    return _prepared(scope, lambda: plan_update(actions))


@lru_cache(maxsize=_CACHE_ENTRIES_MAX)
def _prepare_projection(text: str, names: Names) -> Prepared[Projection]:
    effort.spend_on_text(text)
    parsed = parse_projection(text)
    scope = Scope(dict(names))
    paths = resolve_paths(scope, parsed.paths)
    return _prepared(scope, lambda: projection(paths))


class Binder:
    """The names and values of one request, or of one action of a transaction, for its expressions."""

    __slots__ = ("_cacheable", "_names", "_prepared", "_values")

    def __init__(self, names: Mapping[str, str] | None, values: Mapping[str, Value] | None) -> None:
        self._names: Names = tuple(names.items()) if names else ()
        self._values = values or _NO_VALUES
        self._cacheable = sum(len(name) for _, name in self._names) <= _CACHED_CHARS_MAX
        self._prepared: list[Prepared[Any]] = []

    def condition(self, kind: ConditionKind, text: str) -> Condition:
        """A condition, which an item meets or not."""
        prepare = _prepare_key_condition if kind == "KeyConditionExpression" else _prepare_condition
        return Condition(self._plan(prepare, kind, text), self._values)

    def update(self, text: str) -> Update:
        """An update, which makes one item of another."""
        return Update(self._plan(_prepare_update, "UpdateExpression", text), self._values)

    def projection(self, text: str) -> Projection:
        """A projection, which keeps parts of an item."""
        return self._plan(_prepare_projection, "ProjectionExpression", text)

    def value_checks(self) -> tuple[Check, ...]:
        """The checks that these expressions would run with other values of the same names."""
        return tuple(check for prepared in self._prepared for check in prepared.checks_if_defined)

    def finish(self) -> None:
        """Refuse the names and values that none of the expressions bound so far has used."""
        if self._names:
            used = {name for prepared in self._prepared for name in prepared.names}
            _refuse_unused("Names", [name for name, _ in self._names if name not in used])
        if self._values:
            used = {name for prepared in self._prepared for name in prepared.values}
            _refuse_unused("Values", [name for name in self._values if name not in used])

    def _plan(self, prepare: _Prepare[Prepared[Plan]], kind: str, text: str) -> Plan:
        try:
            _check_size(kind, text)
            if self._cacheable and len(text) <= _CACHED_CHARS_MAX:
                prepared = prepare(text, self._names)
            else:
                prepared = prepare.__wrapped__(text, self._names)
            self._prepared.append(prepared)
            return prepared.checked_plan(self._values)
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
