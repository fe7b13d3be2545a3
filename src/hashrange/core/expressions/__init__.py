"""Condition, filter, key condition, projection and update expressions: text in, ready to run out.

A text passes four phases, and each depends on less of the request than the next:

1. parse (text): `lexer`, `cursor`, `condition_grammar`, `parser`, `syntax_checks` make the nodes of `syntax`;
2. resolve (and names): `scope`, `resolve_condition`, `resolve_update` make the nodes of `resolved`, and note the
   `value_checks`;
3. bind (and values): `binding` runs the checks and gives a Condition, Update or Projection;
4. evaluate (and an item): `condition`, `evaluate_condition`, `update`, `evaluate_update`, `project`.

`build`, `legacy` and PartiQL start with nodes of `resolved`.
"""

from hashrange.core.expressions.binding import Binder, ConditionKind
from hashrange.core.expressions.condition import (
    Condition,
    key_condition,
    matches,
    matches_stored,
    matching,
    matching_lines,
    open_key_condition,
)
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.key_clauses import KeyClause, KeyOperator, OpenClause
from hashrange.core.expressions.project import (
    Picker,
    Projection,
    cut_decoded,
    pick,
    picked_json,
    projection,
    select_paths,
)
from hashrange.core.expressions.resolved import Parameter, Path
from hashrange.core.expressions.templates import QueryTemplate, WriteTemplate
from hashrange.core.expressions.update import Applied, Update, apply_update, update_charge, update_too_large

__all__ = [
    "Applied",
    "Binder",
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
    "Update",
    "WriteTemplate",
    "apply_update",
    "cut_decoded",
    "key_condition",
    "matches",
    "matches_stored",
    "matching",
    "matching_lines",
    "open_key_condition",
    "pick",
    "picked_json",
    "projection",
    "select_paths",
    "update_charge",
    "update_too_large",
]
