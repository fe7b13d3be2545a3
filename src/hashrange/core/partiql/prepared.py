"""Statements ready to run: parsed and compiled once per text, bound to the parameters of each request."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from hashrange.core import effort
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Picker, Projection, Update, projection
from hashrange.core.expressions.condition import ConditionPlan, plan_condition
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import Node, Values
from hashrange.core.expressions.update import UpdatePlan, plan_update
from hashrange.core.expressions.value_checks import Fault
from hashrange.core.partiql import columns, syntax
from hashrange.core.partiql.errors import Untranslatable
from hashrange.core.partiql.point_reads import Places, places
from hashrange.core.partiql.statement_grammar import statement
from hashrange.core.partiql.translation import translate
from hashrange.core.partiql.translator import Translator
from hashrange.core.values import Value

# Long statements hold their data as literals, so that they hardly come twice: they would only fill the cache.
_CACHE_ENTRIES_MAX = 256
_CACHED_CHARS_MAX = 1024
_MISMATCH = "Number of parameters in request and statement don't match."


class Prepared(msgspec.Struct, frozen=True):
    """Everything about a statement that its parameters do not change."""

    statement: syntax.Statement
    parameters: int
    checks: tuple[syntax.Check, ...]
    where: ConditionPlan | None
    update: UpdatePlan | None
    projection: Projection | None
    picker: Picker | None  # of the columns
    point: Places | None  # only for a SELECT of whole attributes by parameters alone


class Bound(msgspec.Struct, frozen=True):
    """A statement and the values of its parameters."""

    statement: syntax.Statement
    prepared: Prepared
    values: Values

    @property
    def where(self) -> Condition | None:
        """The condition of WHERE."""
        plan = self.prepared.where
        return None if plan is None else Condition(plan, self.values)

    @property
    def update(self) -> Update | None:
        """The update of SET and REMOVE."""
        plan = self.prepared.update
        return None if plan is None else Update(plan, self.values)


def bind(text: str, parameters: Sequence[Value]) -> Bound:
    """The statement with its parameters, after all checks that need no table."""
    try:
        prepared = prepare(text)
    except Untranslatable as fault:
        # The service misses a parameter when it comes across its `?`, and sees surplus ones at the end.
        if len(parameters) < fault.parameters:
            raise Invalid(_MISMATCH) from None
        raise
    if len(parameters) < prepared.parameters:
        raise Invalid(_MISMATCH)
    values = {f"?{at}": value for at, value in enumerate(parameters, 1)}
    try:
        for check in prepared.checks:
            check.run(values)
    except Flaw as flaw:
        raise Invalid(flaw.detail) from None
    if len(parameters) > prepared.parameters:
        raise Invalid(_MISMATCH)
    return Bound(prepared.statement, prepared, values)


def prepare(text: str) -> Prepared:
    """Parse and compile a statement, or take it from the cache."""
    return _prepare_cached(text) if len(text) <= _CACHED_CHARS_MAX else _prepare(text)


@lru_cache(maxsize=_CACHE_ENTRIES_MAX)
def _prepare_cached(text: str) -> Prepared:
    return _prepare(text)


def _prepare(text: str) -> Prepared:
    effort.spend_on_text(text)
    parsed, parameters = statement(text)
    translator = Translator()
    translated = translate(translator, parsed)
    # What a check will refuse for sure need not, and perhaps cannot, be planned.
    refused = any(isinstance(check, Fault) for check in translator.checks)
    where = None if refused else _where(translated)
    return Prepared(
        statement=translated,
        parameters=parameters,
        checks=tuple(translator.checks),
        where=None if where is None else plan_condition(where),
        update=plan_update(translated.actions)
        if isinstance(translated, syntax.Update) and not refused
        else None,
        projection=_projection(translated),
        picker=columns.picker(translated) if isinstance(translated, syntax.Select) else None,
        point=None if translator.checks else places(translated, parameters),
    )


def _where(parsed: syntax.Statement) -> Node | None:
    match parsed:
        case syntax.Insert():
            return None
        case syntax.Exists(select):
            return select.where
        case _:
            return parsed.where


def _projection(parsed: syntax.Statement) -> Projection | None:
    if isinstance(parsed, syntax.Exists):
        parsed = parsed.select
    if not isinstance(parsed, syntax.Select) or not parsed.columns:
        return None
    return projection(column.path for column in parsed.columns)
