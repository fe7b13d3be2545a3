"""What PartiQL asks for: every statement its own action, on the table or the index it names."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from hashrange.api.context import Context
from hashrange.api.partiql.statements import Parameterized, parameters
from hashrange.api.permissions import addressed, targets
from hashrange.api.permissions.items import (
    ALL,
    ALL_OLD,
    ENCLOSING,
    NONE,
    PROJECTED,
    RETURN_VALUES,
    SELECT,
    SPECIFIC,
)
from hashrange.api.permissions.needs import ItemKeys, Need, Partitions, Undetermined
from hashrange.api.permissions.targets import Target
from hashrange.core.errors import Invalid
from hashrange.core.expressions.mentions import action_paths, condition_paths
from hashrange.core.expressions.resolved import Node, Path, known_value
from hashrange.core.partiql import Bound, bind, prepare
from hashrange.core.partiql.branches import Decomposition
from hashrange.core.partiql.errors import Untranslatable
from hashrange.core.partiql.pinned import pin, written_key
from hashrange.core.partiql.selection import decompose
from hashrange.core.partiql.syntax import Delete, Exists, Insert, Select, Statement, Update

FULL_SCAN = "dynamodb:fulltablescan"
_RETURNED = {
    None: NONE,
    "ALL OLD": "ALL_OLD",
    "ALL NEW": "ALL_NEW",
    "MODIFIED OLD": "UPDATED_OLD",
    "MODIFIED NEW": "UPDATED_NEW",
}


def execute_statement(context: Context, request: Any) -> Iterator[Need]:
    """One statement."""
    return statement_needs(context, request)


def execute_transaction(context: Context, request: Any) -> Iterator[Need]:
    """All statements; one that is not allowed refuses them all."""
    for member in request.transact_statements:
        yield from statement_needs(context, member, enclosing="ExecuteTransaction")


def statement_needs(
    context: Context, request: Parameterized, *, enclosing: str | None = None
) -> Iterator[Need]:
    """The permissions for one statement. One that cannot be read needs none, for nothing will come of it."""
    try:
        statement = prepare(request.statement).statement
    except Untranslatable as fault:
        # What is wrong with it may depend on an index.
        if fault.target is not None and fault.target.table:
            yield targets.table(context, fault.target.table, fault.target.index).need(
                "dynamodb:PartiQLSelect", _UNTOLD
            )
        return
    except Invalid:
        return
    if statement.target.table:
        yield from _needs(context, request, statement, enclosing)


class _Untold:
    """The keys of a statement without a meaning."""

    def get(self, key: str, /) -> None:
        """None of them can be told."""
        raise Undetermined(key)


_UNTOLD = _Untold()


def _needs(
    context: Context, request: Parameterized, statement: Statement, enclosing: str | None
) -> Iterator[Need]:
    target = targets.table(context, statement.target.table, statement.target.index)
    enclosed = {} if enclosing is None else {ENCLOSING: enclosing}
    action = _action(statement)
    attributes = partial(_names, statement)
    if isinstance(statement, Select | Exists):
        select = statement.select if isinstance(statement, Exists) else statement
        for known in _answers(request, statement, select):
            keys = ItemKeys(
                {**known, **enclosed},
                partitions=lambda: _read_partitions(target, _bound(request), select),
                attributes=attributes,
                lazy={FULL_SCAN: lambda: _full_scan(target, _bound(request), select)},
            )
            yield target.need(action, keys)
        return
    for returned in _returned(request, statement):
        keys = ItemKeys(
            enclosed if returned is None else {RETURN_VALUES: returned, **enclosed},
            partitions=lambda: _written_partition(target, _bound(request)),
            attributes=attributes,
        )
        yield target.need(action, keys)


def _action(statement: Statement) -> str:
    match statement:
        case Insert():
            return "dynamodb:PartiQLInsert"
        case Update():
            return "dynamodb:PartiQLUpdate"
        case Delete():
            return "dynamodb:PartiQLDelete"
        case _:
            # EXISTS has no action of its own; it tells something about an item, as a SELECT does.
            return "dynamodb:PartiQLSelect"


def _bound(request: Parameterized) -> Bound:
    return bind(request.statement, parameters(request))


def _selected(select: Select) -> str:
    if select.columns:
        return SPECIFIC
    return ALL if select.target.index is None else PROJECTED


def _answers(request: Any, statement: Select | Exists, select: Select) -> Iterator[dict[str, str]]:
    """What a read returns; an EXISTS that fails may return the whole item, whatever its columns are."""
    yield {SELECT: _selected(select)}
    on_failure = getattr(request, "return_values_on_condition_check_failure", None)
    if isinstance(statement, Exists) and on_failure == ALL_OLD:
        yield {SELECT: ALL, RETURN_VALUES: ALL_OLD}


def _returned(request: Any, statement: Insert | Update | Delete) -> tuple[str | None, ...]:
    """What a write returns; an INSERT has no such key, except that it may return the item that is in its way."""
    asked = None if isinstance(statement, Insert) else _RETURNED[statement.returning]
    on_failure = getattr(request, "return_values_on_condition_check_failure", None)
    return (asked, ALL_OLD) if on_failure == ALL_OLD and asked != ALL_OLD else (asked,)


def _names(statement: Statement) -> Iterator[str]:
    """The attributes that a statement names."""
    match statement:
        case Exists(select):
            yield from _names(select)
        case Select():
            yield from _top(column.path for column in statement.columns)
            yield from _where(statement.where)
            yield from (term.attribute for term in statement.order)
        case Insert():
            yield from (name for name, _ in statement.item)
        case Update():
            for action in statement.actions:
                yield from _top(action_paths(action))
            yield from _where(statement.where)
        case Delete():
            yield from _where(statement.where)


def _where(where: Node | None) -> Iterator[str]:
    return iter(()) if where is None else _top(condition_paths(where))


def _top(paths: Any) -> Iterator[str]:
    path: Path
    for path in paths:
        yield str(path.parts[0])


def _decomposed(target: Target, bound: Bound, select: Select) -> Decomposition:
    if target.table is None or (target.index_name is not None and target.index is None):
        raise Undetermined
    return decompose(bound, select, target.table, target.index)


def _read_partitions(target: Target, bound: Bound, select: Select) -> Partitions:
    """The partitions that a SELECT reads; None if it has to look at all of them."""
    keyed = _decomposed(target, bound, select).keyed
    return None if keyed is None else addressed.of_values(target, (partition for partition, _ in keyed))


def _full_scan(target: Target, bound: Bound, select: Select) -> str:
    return "true" if _decomposed(target, bound, select).keyed is None else "false"


def _written_partition(target: Target, bound: Bound) -> Partitions:
    statement = bound.statement
    if target.table is None:
        raise Undetermined
    if isinstance(statement, Insert):
        item = {name: known_value(value, bound.values) for name, value in statement.item}
        return addressed.of_keys(target, (item,))
    if isinstance(statement, Update | Delete):
        pinned = pin(target.table, statement.where, bound.values)
        return addressed.of_keys(target, (written_key(target.table, pinned),))
    raise Undetermined
