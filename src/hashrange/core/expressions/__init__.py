"""Condition, filter, key condition, projection and update expressions: text in, ready to run out."""

from hashrange.core.expressions.condition import Condition, key_condition, matches
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.keys import KeyClause
from hashrange.core.expressions.project import Projection, pick, projection, select_paths
from hashrange.core.expressions.resolver import ConditionKind, Resolver
from hashrange.core.expressions.tree import Path
from hashrange.core.expressions.update import Applied, Update, apply_update, update_charge

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
