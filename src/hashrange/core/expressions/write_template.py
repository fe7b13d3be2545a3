"""An update and its condition that the service accepted once, ready for other values of the same names."""

from hashrange.core.expressions.condition import Condition
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import Values
from hashrange.core.expressions.update import Update
from hashrange.core.expressions.value_checks import Check


class WriteTemplate:
    """Everything about the two that the values do not change."""

    __slots__ = ("_checks", "_condition", "_update")

    def __init__(self, update: Update, condition: Condition | None, checks: tuple[Check, ...]) -> None:
        """Take what a `Binder` made; `checks` are those that it would run with new values."""
        self._update = update.plan
        self._condition = None if condition is None else condition.plan
        self._checks = checks

    def bind_or_none(self, values: Values) -> tuple[Update, Condition | None] | None:
        """The two with these canonical values of the same names; None: a slower path says what is wrong with them."""
        try:
            for check in self._checks:
                check.run(values)
        except Flaw:
            return None
        condition = None if self._condition is None else Condition(self._condition, values)
        return Update(self._update, values), condition
