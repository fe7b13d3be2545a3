"""Time to live: when an item expires, by the number in the attribute that its table names.

An item is expired once the time, in whole seconds, is greater than the number. What it has behind the point does not
matter then: 17.9 is exceeded by 18, as 17 is. So a whole second stands for the number everywhere.
"""

from functools import lru_cache

import msgspec

from hashrange.core.expressions.condition import Condition, ConditionPlan, plan_condition
from hashrange.core.expressions.resolved import And, Compare, Parameter, Path
from hashrange.core.limits import EXPIRY_AGE_SECONDS_MAX
from hashrange.core.values import Item

# The end of the year 9999. A number beyond it is no time in seconds (milliseconds, most likely) and never comes.
_SECOND_DIGITS_MAX = 12
_SECOND_MAX = 253_402_300_799


class ExpiryWindow(msgspec.Struct, frozen=True):
    """The seconds of the items that may be deleted: `oldest` is the first of them, `end` is behind the last."""

    oldest: int
    end: int


def expiry_window(now: float, lag_seconds: int = 0) -> ExpiryWindow:
    """The window at a moment, for a service that deletes items so long after they have expired."""
    return ExpiryWindow(int(now) - EXPIRY_AGE_SECONDS_MAX + 1, int(now) - lag_seconds)


def expiry_second(item: Item, attribute: str) -> int | None:
    """The last second in which an item is not expired; None if it never expires."""
    value = item.get(attribute)
    number = None if value is None else value.get("N")
    if number is None:
        return None
    whole = number.partition(".")[0]
    if whole[0] == "-" or len(whole) > _SECOND_DIGITS_MAX:
        return None
    second = int(whole)
    return second if second <= _SECOND_MAX else None


def within(attribute: str, window: ExpiryWindow) -> Condition:
    """The condition that an item is still expired."""
    values = {":oldest": {"N": str(window.oldest)}, ":end": {"N": str(window.end)}}
    return Condition(_within(attribute), values)


@lru_cache(maxsize=256)
def _within(attribute: str) -> ConditionPlan:
    path = Path((attribute,))
    return plan_condition(
        And((Compare(">=", path, Parameter(":oldest")), Compare("<", path, Parameter(":end"))))
    )
