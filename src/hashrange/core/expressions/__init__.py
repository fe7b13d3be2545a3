"""Condition, filter, key condition, projection and update expressions: text in, ready to run out."""

from hashrange.core.expressions.charge import update_charge
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.keys import KeyClause, key_condition
from hashrange.core.expressions.project import pick, projection, select_paths
from hashrange.core.expressions.resolver import ConditionKind, Resolver
from hashrange.core.expressions.tree import Condition, Path, Projection
from hashrange.core.expressions.update import Applied, Update, apply_update
from hashrange.core.values import Item

__all__ = [
    "Applied",
    "Condition",
    "ConditionKind",
    "ExpressionInvalid",
    "KeyClause",
    "Path",
    "Projection",
    "Resolver",
    "Update",
    "apply_update",
    "key_condition",
    "matches",
    "pick",
    "projection",
    "select_paths",
    "update_charge",
]


def matches(condition: Condition, item: Item) -> bool:
    """Whether an item (empty: none) meets a condition."""
    return condition.test(item, condition.values)
