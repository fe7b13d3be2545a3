"""Bounds of conditions that cross: they describe nothing, and the service refuses a BETWEEN of them."""

from hashrange.modeling.conditions import comparisons, conjuncts, text_of
from hashrange.modeling.key_values import is_after
from hashrange.modeling.model import Comparison, Condition, Now, Operand, Place
from hashrange.modeling.problems import Problems


def check_bounds(condition: Condition | None, section: Place, member: str, problems: Problems) -> None:
    """Find bounds that are known now; those of parameters are the application's."""
    for comparison in comparisons(condition):
        if comparison.operator == "between" and _cross(*comparison.operands[:2]):
            place = problems.spot(section, member, comparison.attribute)
            problems.add(place, f"`{text_of(comparison)}` ends before it begins", "exchange its bounds")
    lows: dict[str, Comparison] = {}
    highs: dict[str, Comparison] = {}
    for part in conjuncts(condition):
        if isinstance(part, Comparison) and part.operator in (">", ">="):
            lows.setdefault(part.attribute, part)
        elif isinstance(part, Comparison) and part.operator in ("<", "<="):
            highs.setdefault(part.attribute, part)
    for name, low in lows.items():
        high = highs.get(name)
        if high is not None and _cross(low.operands[0], high.operands[0]):
            message = f"`{text_of(low)}` and `{text_of(high)}` hold for no value"
            problems.add(problems.spot(section, member, name), message, "exchange the bounds")


def _cross(low: Operand, high: Operand) -> bool:
    match low, high:
        case Now(), Now():
            return low.seconds_before < high.seconds_before
        case _:
            return is_after(low, high)
