"""Makes conditions and updates out of trees that came from no expression: legacy, PartiQL, DAX."""

from collections.abc import Iterable

from hashrange.core.expressions.condition import Condition, plan_condition
from hashrange.core.expressions.tree import Action, Node, Values
from hashrange.core.expressions.update import Update, plan_update

_NO_VALUES: Values = {}


def condition(root: Node, values: Values = _NO_VALUES) -> Condition:
    """A condition from a tree with real names; `values` are for the Parameters in it, if any."""
    return Condition(plan_condition(root), values)


def update(actions: Iterable[Action], values: Values = _NO_VALUES) -> Update:
    """An update from actions with real names, whose paths must neither overlap nor conflict."""
    return Update(plan_update(tuple(actions)), values)
