"""Condition, filter, key condition, projection and update expressions: text in, ready to run out."""

from hashrange.core.expressions.condition import Condition, key_condition, matches, open_key_condition
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.keys import KeyClause, KeyOperator, OpenClause
from hashrange.core.expressions.project import Picker, Projection, pick, projection, select_paths
from hashrange.core.expressions.resolver import ConditionKind, Resolver
from hashrange.core.expressions.template import QueryTemplate, WriteTemplate
from hashrange.core.expressions.tree import Parameter, Path
from hashrange.core.expressions.update import Applied, Update, apply_update, update_charge

__all__ = [
    "Applied",
    "Condition",
    "ConditionKind",
    "ExpressionInvalid",
    "KeyClause",
    "KeyOperator",
    "OpenClause",
    "Parameter",
    "Path",
    "Picker",
    "Projection",
    "QueryTemplate",
    "Resolver",
    "Update",
    "WriteTemplate",
    "apply_update",
    "key_condition",
    "matches",
    "open_key_condition",
    "pick",
    "projection",
    "select_paths",
    "update_charge",
]
