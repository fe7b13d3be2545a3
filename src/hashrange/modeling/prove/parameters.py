"""Values for the parameters of a pattern: those of items that are there, their neighbours', and some of none."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from hashrange.modeling.conditions import comparisons
from hashrange.modeling.data.generation import Data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.data.values import nth_value
from hashrange.modeling.model import Attribute, Comparison, Condition, Model, Parameter, ReadPattern

Parameters = dict[str, object]
SETS_MAX = 12
SETS_MIN = 2
_EVALUATIONS_MAX = 5_000_000  # of conditions: a model with thousands of patterns gets fewer sets for each
_ABSENT = 7_000_001  # the number of a value that no item has
_RANGES = ("<", "<=", ">", ">=")


def parameter_sets(model: Model, pattern: ReadPattern, data: Data) -> list[Parameters]:
    """Several sets for a pattern, the last of which no item meets; one if it has no parameters."""
    rng = random.Random(f"{data.seed} {pattern.id}")  # noqa: S311 - data for a test
    uses = list(_uses(pattern.where)) + list(_uses(pattern.filter))
    attributes = _attributes(model, pattern)
    if not uses:
        return [{}]
    samples = [sample for name in pattern.entities for sample in data.samples.get(name, [])]
    # Items that have all that is asked for say more than those that have not.
    names = {comparison.attribute for comparison, _ in uses}
    able = [sample for sample in samples if names <= sample.values.keys()] or samples
    most = _EVALUATIONS_MAX // (len(model.reads) * max(len(samples), 1))
    chosen = _chosen(able, rng, min(max(most, SETS_MIN), SETS_MAX))
    sets = [
        _from_sample(uses, sample, able[rng.randrange(len(able))], at) for at, sample in enumerate(chosen)
    ]
    absent = {use.name: _absent(attributes.get(of.attribute)) for of, use in uses}
    return [_ordered(uses, absent | found) for found in (*sets, {})]


def _chosen(samples: Sequence[Sample], rng: random.Random, most: int) -> list[Sample]:
    """The first and the last, as they are at the ends of all ranges, and some in between."""
    if len(samples) <= most:
        return list(samples)
    return [samples[0], samples[-1], *rng.sample(samples, most - 2)]


def _attributes(model: Model, pattern: ReadPattern) -> Mapping[str, Attribute]:
    return {
        name: attribute
        for entity in reversed(pattern.entities)
        for name, attribute in model.entities[entity].attributes.items()
    }


def _uses(condition: Condition | None) -> Iterator[tuple[Comparison, Parameter]]:
    for comparison in comparisons(condition):
        for operand in comparison.operands:
            if isinstance(operand, Parameter):
                yield comparison, operand


def _from_sample(
    uses: Sequence[tuple[Comparison, Parameter]], sample: Sample, other: Sample, turn: int
) -> Parameters:
    """The values of an item; ranges begin at it, or at another item's value."""
    found: Parameters = {}
    for comparison, parameter in uses:
        source = other if comparison.operator in _RANGES and turn % 2 else sample
        if comparison.operator == "between" and parameter == comparison.operands[-1]:
            source = other
        value = source.values.get(comparison.attribute)
        if value is not None:
            found.setdefault(parameter.name, _operand(comparison, value, turn))
    return found


def _operand(comparison: Comparison, value: object, turn: int) -> object:
    match comparison.operator:
        case "begins_with" if isinstance(value, str | bytes):
            return value[: max(len(value) - turn % 3, 1)]
        case "contains" if isinstance(value, list | tuple):
            return value[0]
        case "contains" if isinstance(value, str):
            return value[: 1 + turn % 5]
        case _:
            return value


def _ordered(uses: Sequence[tuple[Comparison, Parameter]], found: Parameters) -> Parameters:
    """DynamoDB refuses BETWEEN with its bounds the wrong way round."""
    for comparison, _ in uses:
        names = [operand.name for operand in comparison.operands if isinstance(operand, Parameter)]
        if comparison.operator == "between" and len(names) == 2:
            low, high = found[names[0]], found[names[1]]
            if type(low) is type(high) and low > high:  # type: ignore[operator]
                found[names[0]], found[names[1]] = high, low
    return found


def _absent(attribute: Attribute | None) -> object:
    if attribute is None:
        return "absent"
    if attribute.values and attribute.type == "S":
        return "absent"
    return nth_value(attribute, _ABSENT, random.Random(0), in_key=True)  # noqa: S311 - data for a test
