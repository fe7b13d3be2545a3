"""Makes conditions and updates of resolved nodes that come from no expression: legacy parameters, PartiQL, DAX."""

from collections.abc import Iterable

from hashrange.core.expressions.condition import Condition, plan_condition
from hashrange.core.expressions.resolved import Action, Node, Values
from hashrange.core.expressions.update import Update, plan_update

_NO_VALUES: Values = {}


def condition(root: Node, values: Values = _NO_VALUES) -> Condition:
    """A condition from its root node; `values` are for the Parameters below it."""
    return Condition(plan_condition(root), values)


def update(actions: Iterable[Action], values: Values = _NO_VALUES) -> Update:
    """An update from actions with real names, whose paths must neither overlap nor conflict."""
    return Update(plan_update(tuple(actions)), values)
