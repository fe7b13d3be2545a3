"""Expressions that were accepted once, ready for other values of the same names."""

from hashrange.core.expressions.condition import Condition
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.project import Projection
from hashrange.core.expressions.resolved import Values
from hashrange.core.expressions.update import Update
from hashrange.core.expressions.value_checks import Check


class WriteTemplate:
    """Everything about an update and a condition that the values do not change."""

    __slots__ = ("_checks", "_condition", "_update")

    def __init__(self, update: Update | None, condition: Condition | None, checks: tuple[Check, ...]) -> None:
        """Take what a `Binder` made; `checks` are those that it would run with new values."""
        self._update = None if update is None else update.plan
        self._condition = None if condition is None else condition.plan
        self._checks = checks

    def bind_or_none(self, values: Values) -> tuple[Update | None, Condition | None] | None:
        """The two with these values, canonical and of the same names; None if they are not right for them."""
        if not passes(self._checks, values):
            return None
        update = None if self._update is None else Update(self._update, values)
        condition = None if self._condition is None else Condition(self._condition, values)
        return update, condition


class QueryTemplate:
    """Everything about a query's filter and projection that the values do not change."""

    __slots__ = ("_checks", "_keep", "projection")

    def __init__(
        self, keep: Condition | None, projection: Projection | None, checks: tuple[Check, ...]
    ) -> None:
        """Take what a `Binder` made; `checks` are those of all expressions of the query."""
        self._keep = None if keep is None else keep.plan
        self._checks = checks
        self.projection = projection

    @property
    def filters(self) -> bool:
        """Whether there is a filter, so that `bind_or_none` is needed."""
        return self._keep is not None

    def bind_or_none(self, values: Values) -> Condition | None:
        """The filter with these values, canonical and of the same names; None if they are not right for it."""
        if self._keep is None or not passes(self._checks, values):
            return None
        return Condition(self._keep, values)


def passes(checks: tuple[Check, ...], values: Values) -> bool:
    """Whether values pass all checks; which one they fail is found by resolving anew."""
    try:
        for check in checks:
            check.run(values)
    except Flaw:
        return False
    return True
