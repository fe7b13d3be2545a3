"""Items and parameters for a write pattern: such that its conditions hold, and such that they do not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from decimal import Decimal

from hashrange.modeling.conditions import comparisons
from hashrange.modeling.data.generation import FRESH_ATTEMPTS, Data, fresh_sample
from hashrange.modeling.data.samples import Key, Sample, key_of_wire
from hashrange.modeling.data.values import nth_value
from hashrange.modeling.model import (
    Assignment,
    Attribute,
    Comparison,
    Entity,
    Model,
    Parameter,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.prove.effects import Target, is_allowed, steps_of

_NEW = 1_000_003  # the number of a value that no item has
_TRIED_MAX = 500  # items that are looked at for one that meets a condition

Parameters = dict[str, object]


class TargetFinder:
    """Finds items for the steps of one pattern."""

    def __init__(self, model: Model, pattern: WritePattern, data: Data) -> None:
        self._model = model
        self._pattern = pattern
        self._data = data
        self._number = 0

    def met(self) -> tuple[list[Target], Parameters] | None:
        """Items for which every condition holds; None if there are none among those that were made up."""
        parameters: Parameters = {}
        targets: list[Target] = []
        for step in steps_of(self._pattern):
            target = self._meeting(step, parameters, {target.key for target in targets})
            if target is None:
                return None
            targets.append(target)
        for step in self._pattern.steps:
            self._fill_in(step, parameters)
        return targets, parameters

    def unmet(self, targets: list[Target], parameters: Parameters) -> list[Target] | None:
        """The same items but for one, for which its condition does not hold."""
        taken = {target.key for target in targets}
        for at, target in enumerate(targets):
            for candidate in self._candidates(target.step, taken):
                if not is_allowed(self._model, target.step, candidate.before, parameters):
                    return [*targets[:at], candidate, *targets[at + 1 :]]
        return None

    def _meeting(self, step: WriteStep, parameters: Parameters, taken: set[Key]) -> Target | None:
        for candidate in self._candidates(step, taken):
            chosen = _parameters_for(step, candidate.before or candidate.sample) | parameters
            if is_allowed(self._model, step, candidate.before, chosen):
                parameters.update(chosen)
                return candidate
        return None

    def _candidates(self, step: WriteStep, taken: set[Key]) -> Iterator[Target]:
        """A new item and those that are there; an application puts new ones, and changes old ones."""
        entity = self._model.entities[step.entity]
        self._number += FRESH_ATTEMPTS  # so that no two of a pattern are the same
        fresh = fresh_sample(self._model, entity, self._data, self._number, taken)
        if fresh is not None and step.action == "put":
            yield self._target(step, fresh, None)
        for sample in self._data.samples.get(entity.name, [])[:_TRIED_MAX]:
            target = self._target(step, sample, sample)
            if target.key not in taken:
                yield target
        if fresh is not None and step.action != "put":
            yield self._target(step, fresh, None)

    def _target(self, step: WriteStep, sample: Sample, before: Sample | None) -> Target:
        return Target(step, sample, before, key_of_wire(self._model, sample.entity, sample.wire))

    def _fill_in(self, step: WriteStep, parameters: Parameters) -> None:
        """Values for what is assigned, unless a condition has given them."""
        entity = self._model.entities[step.entity]
        for assignment in step.assignments:
            if isinstance(assignment.operand, Parameter):
                parameters.setdefault(assignment.operand.name, _assigned(assignment, entity))


def _parameters_for(step: WriteStep, sample: Sample) -> Parameters:
    """Values by which the item meets the condition, on the boundary where there is one."""
    chosen: Parameters = {}
    for comparison in comparisons(step.condition):
        for operand in comparison.operands:
            if isinstance(operand, Parameter):
                attribute = sample.entity.attributes.get(comparison.attribute)
                value = sample.values.get(comparison.attribute)
                chosen.setdefault(operand.name, _meeting_value(comparison, value, attribute))
    return chosen


def _meeting_value(comparison: Comparison, value: object, attribute: Attribute | None) -> object:
    if value is None:
        return _new_value(attribute)
    match comparison.operator, value:
        case ("<>", _):
            return _new_value(attribute)
        case ("<", int() | float() | Decimal()):
            return value + 1
        case (">", int() | float() | Decimal()):
            return value - 1
        case ("<", str()):
            return value + "z"
        case (">", str()):
            return value[:-1]
        case ("contains", list()):
            return value[0]
        case _:
            return value


def _new_value(attribute: Attribute | None) -> object:
    if attribute is None:
        return "new"
    return nth_value(attribute, _NEW, random.Random(0))  # noqa: S311 - data for a test


def _assigned(assignment: Assignment, entity: Entity) -> object:
    attribute = entity.attributes.get(assignment.attribute)
    match assignment.action:
        case "append":
            return "new"
        case "add" | "subtract" if attribute is None or attribute.type == "N":
            return 1
        case _:
            return _new_value(attribute)


def plain(parameters: Mapping[str, object]) -> str:
    """The parameters as a failure shows them."""
    return ", ".join(f"?{name} = {value!r}"[:80] for name, value in parameters.items()) or "no parameters"
