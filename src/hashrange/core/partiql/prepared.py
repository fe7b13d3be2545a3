"""Statements ready to run: parsed and compiled once per text, bound to the parameters of each request."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Projection, Update, projection
from hashrange.core.expressions.condition import ConditionPlan, plan_condition
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import Node, Values
from hashrange.core.expressions.update import UpdatePlan, plan_update
from hashrange.core.expressions.value_checks import Fault
from hashrange.core.partiql import ast
from hashrange.core.partiql.cursor import Cursor
from hashrange.core.partiql.parser import statement
from hashrange.core.values import Value

# Statements that are kept: long ones carry their data with them and are not seen again, and would fill the memory.
_KEPT_MAX = 256
_KEPT_CHARS_MAX = 1024


class Prepared(msgspec.Struct, frozen=True):
    """Everything about a statement that its parameters do not change."""

    statement: ast.Statement
    parameters: int
    checks: tuple[ast.Check, ...]
    where: ConditionPlan | None
    update: UpdatePlan | None
    projection: Projection | None


class Bound(msgspec.Struct, frozen=True):
    """A statement and the values of its parameters."""

    statement: ast.Statement
    prepared: Prepared
    values: Values

    @property
    def where(self) -> Condition | None:
        """What WHERE asks for."""
        plan = self.prepared.where
        return None if plan is None else Condition(plan, self.values)

    @property
    def update(self) -> Update | None:
        """What SET and REMOVE do."""
        plan = self.prepared.update
        return None if plan is None else Update(plan, self.values)


def bind(text: str, parameters: Sequence[Value]) -> Bound:
    """The statement with its parameters, after all checks that need no table."""
    prepared = prepare(text)
    if len(parameters) != prepared.parameters:
        raise Invalid("Number of parameters in request and statement don't match.")
    values = {f"?{at}": value for at, value in enumerate(parameters, 1)}
    try:
        for check in prepared.checks:
            check.run(values)
    except Flaw as flaw:
        raise Invalid(flaw.detail) from None
    return Bound(prepared.statement, prepared, values)


def prepare(text: str) -> Prepared:
    """Parse and compile a statement, unless that was done before."""
    return _kept(text) if len(text) <= _KEPT_CHARS_MAX else _prepare(text)


@lru_cache(maxsize=_KEPT_MAX)
def _kept(text: str) -> Prepared:
    return _prepare(text)


def _prepare(text: str) -> Prepared:
    cursor = Cursor(text)
    parsed = statement(cursor)
    where = _where(parsed)
    return Prepared(
        statement=parsed,
        parameters=cursor.parameters,
        checks=tuple(cursor.checks),
        where=None if where is None else plan_condition(where),
        update=_update(parsed, cursor.checks),
        projection=_projection(parsed),
    )


def _where(parsed: ast.Statement) -> Node | None:
    match parsed:
        case ast.Insert():
            return None
        case ast.Exists(select):
            return select.where
        case _:
            return parsed.where


def _update(parsed: ast.Statement, checks: Sequence[ast.Check]) -> UpdatePlan | None:
    """Paths that meet cannot be planned; a check refuses them before anyone asks for the plan."""
    if not isinstance(parsed, ast.Update) or any(isinstance(check, Fault) for check in checks):
        return None
    return plan_update(parsed.actions)


def _projection(parsed: ast.Statement) -> Projection | None:
    if isinstance(parsed, ast.Exists):
        parsed = parsed.select
    if not isinstance(parsed, ast.Select) or not parsed.columns:
        return None
    return projection(column.path for column in parsed.columns)
