"""Statements that write, turned into the commands of the item operations."""

from functools import lru_cache

from hashrange.core import indexes
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Update, resolved
from hashrange.core.expressions.build import condition
from hashrange.core.expressions.condition import ConditionPlan, plan_condition
from hashrange.core.expressions.resolved import known_value
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import NESTING_LEVELS_MAX
from hashrange.core.mutation import CheckCommand, DeleteCommand, PutCommand, UpdateCommand
from hashrange.core.partiql import syntax
from hashrange.core.partiql.pinned import Pinned
from hashrange.core.partiql.prepared import Bound
from hashrange.core.schema import Table
from hashrange.core.values import Item, check_name, depth


def inserted_item(bound: Bound, statement: syntax.Insert) -> Item:
    """The item that an INSERT makes, after the checks that need no table."""
    item = {name: known_value(value, bound.values) for name, value in statement.item}
    for name, value in item.items():
        check_name(name)
        if depth(value) > NESTING_LEVELS_MAX:
            raise Invalid("Nesting Levels have exceeded supported limits")
    return item


def put(table: Table, item: Item, size: int) -> PutCommand:
    """INSERT: store the item where there is none yet."""
    key = primary_key.of_item(table, item)
    indexes.check_index_keys(table, item)
    return PutCommand(key, item, size, Condition(_missing(table.hash.name), {}))


def change(
    table: Table, key: Item, bound: Bound, update: Update, rest: tuple[resolved.Node, ...]
) -> UpdateCommand:
    """UPDATE: change the item, which must be there and meet the rest of the WHERE clause."""
    where = bound.where if rest else None
    key_paths.refuse_nested(table, table.indexes, update, where)
    plan = _present(table.hash.name)
    if where is not None:
        root, held = resolved.And((plan.root, where.root)), where.plan.test
        plan = ConditionPlan(
            root,
            where.plan.mentions,
            lambda item, values: bool(item) and held(item, values),
            looks=where.plan.looks,
        )
    return UpdateCommand(primary_key.of_key(table, key), key, update, Condition(plan, bound.values))


def delete(table: Table, key: Item, bound: Bound, rest: tuple[resolved.Node, ...]) -> DeleteCommand:
    """DELETE: remove the item, which must meet the rest of the WHERE clause if it is there."""
    where = bound.where if rest else None
    if where is None:
        return DeleteCommand(primary_key.of_key(table, key))
    key_paths.refuse_nested(table, table.indexes, where)
    root, held = resolved.Or((_missing(table.hash.name).root, where.root)), where.plan.test
    plan = ConditionPlan(
        root,
        where.plan.mentions,
        lambda item, values: not item or held(item, values),
        looks=where.plan.looks,
    )
    return DeleteCommand(primary_key.of_key(table, key), Condition(plan, bound.values))


def check_exists(table: Table, pinned: Pinned) -> None:
    """EXISTS must name one item and have a condition beside its key."""
    if not pinned.whole(table) or not pinned.rest:
        raise Invalid("EXISTS() must contain a single item read with additional condition")


def check(table: Table, pinned: Pinned, values: resolved.Values) -> CheckCommand:
    """EXISTS: check that an item meets the conditions beside its key."""
    rest = condition(resolved.And(pinned.rest), values)
    key_paths.refuse_nested(table, table.indexes, rest)
    return CheckCommand(primary_key.of_key(table, pinned.key), rest)


@lru_cache
def _missing(name: str) -> ConditionPlan:
    return plan_condition(resolved.AttributeNotExists(resolved.Path((name,))))


@lru_cache
def _present(name: str) -> ConditionPlan:
    return plan_condition(resolved.AttributeExists(resolved.Path((name,))))
