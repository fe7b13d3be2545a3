"""Curves of a day: by their peak, its hour and its width, or hour by hour."""

from math import exp

from hashrange.modeling.model import Curve
from hashrange.modeling.problems import Problems, did_you_mean
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.members import Members, entries, scalars
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode
from hashrange.modeling.texts import TextInvalid

CURVES_MAX = 100
FLAT = Curve("flat")
_HOURS = 24
_WIDTHS_PER_SIGMA = 2.355  # a bell's width at half of its height


def read_curves(node: Node | None, problems: Problems) -> dict[str, Curve]:
    """All curves of the file."""
    return {
        name: read_curve(member, name, problems)
        for name, _, member in entries(node, "curves", problems, CURVES_MAX)
    }


def curve_of(node: Node, curves: dict[str, Curve], problems: Problems) -> Curve:
    """The curve of a rate: one of the file's by its name, or one of its own."""
    if not isinstance(node, ScalarNode):
        return read_curve(node, "own", problems)
    if node.text == FLAT.name:
        return FLAT
    if node.text not in curves:
        remedy = did_you_mean(node.text, [*curves, FLAT.name])
        problems.add(node.place, f"there is no curve `{node.text}`", remedy)
    return curves.get(node.text, FLAT)


def read_curve(node: Node, name: str, problems: Problems) -> Curve:
    """One curve; a flat one for one that is wrong."""
    try:
        if isinstance(node, SequenceNode):
            return Curve(name, _hourly(node, problems))
        members = Members(node, f"curve {name}", vocabulary.CURVE, problems)
        if isinstance(node, MappingNode):
            members.require("peak", "write peak: 4x for four times the average")
        peak = members.read("peak", quantities.factor, 1.0)
        hour = members.read("at", quantities.clock_hour, 12.0)
        width = members.read("width", quantities.seconds, 4 * 3600)
        return Curve(name, bell(peak, hour, width / 3600))
    except TextInvalid as error:
        problems.add(node.place, error.message, error.remedy)
        return Curve(name)


def _hourly(node: SequenceNode, problems: Problems) -> tuple[float, ...]:
    texts = scalars(node, "a curve", problems)
    if len(texts) != _HOURS:
        raise TextInvalid(f"a curve of {len(texts)} numbers", "write 24, one for each hour from midnight on")
    factors = [quantities.amount(scalar.text) for scalar in texts]
    mean = sum(factors) / _HOURS
    if mean == 0:
        raise TextInvalid("a curve of nothing but zeros", "write 1 for an average hour")
    return tuple(factor / mean for factor in factors)


def bell(peak: float, hour: float, width_hours: float) -> tuple[float, ...]:
    """Factors with a mean of 1 whose largest is `peak`: a bell around an hour on a level floor."""
    if peak < 1:
        raise TextInvalid(f"a peak of {peak:g}x", "a peak is at least the average, 1x")
    if not 1 <= width_hours <= 12:
        raise TextInvalid(f"a peak {width_hours:g} hours wide", "write a width from 1h to 12h")
    distances = [min(abs(at - hour), _HOURS - abs(at - hour)) for at in range(_HOURS)]
    heights = [exp(-0.5 * (distance * _WIDTHS_PER_SIGMA / width_hours) ** 2) for distance in distances]
    highest, mean = max(heights), sum(heights) / _HOURS
    most = highest / mean
    if peak > most:
        raise TextInvalid(
            f"a peak of {peak:g}x that is {width_hours:g} hours wide is more than the whole day's traffic",
            f"make it narrower, or {most:.1f}x at most",
        )
    slope = (peak - 1) / (highest - mean)
    return tuple(max(0.0, 1 + slope * (height - mean)) for height in heights)
