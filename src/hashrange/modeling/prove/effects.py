"""What a write pattern means: the items that it leaves behind, computed from the model alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hashrange.modeling.conditions import attributes_of, holds
from hashrange.modeling.data.samples import Key, Sample, key_of_wire, wire_of
from hashrange.modeling.data.values import NOW
from hashrange.modeling.key_values import about_item, key_of, stored_item
from hashrange.modeling.model import Entity, Model, Shard, WritePattern, WriteStep
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.sizes import table_keys
from hashrange.modeling.wire_values import WireItem
from hashrange.modeling.write_requests import changed_item

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Target:
    """The item that a step writes: what the application has of it, and what is stored (None: nothing)."""

    step: WriteStep
    sample: Sample
    before: Sample | None
    key: Key


@dataclass(frozen=True, slots=True)
class Effect:
    """What is to be stored behind each target, in their order, and whether the write is refused."""

    after: tuple[Sample | None, ...]
    refused: bool


def steps_of(pattern: WritePattern) -> list[WriteStep]:
    """One for each item."""
    return [step for step in pattern.steps for _ in range(step.count)]


def effect_of(model: Model, pattern: WritePattern, targets: Sequence[Target], parameters: Values) -> Effect:
    """A transaction is done as a whole or not at all; other writes each for themselves."""
    allowed = [is_allowed(model, target.step, target.before, parameters) for target in targets]
    refused = not all(allowed)
    after = tuple(
        _after(model, target, parameters)
        if may and not (refused and is_transaction(pattern))
        else target.before
        for target, may in zip(targets, allowed, strict=True)
    )
    return Effect(after, refused)


def is_transaction(pattern: WritePattern) -> bool:
    return pattern.transaction or any(step.action == "check" for step in pattern.steps)


def is_allowed(model: Model, step: WriteStep, stored: Sample | None, parameters: Values) -> bool:
    """Whether the step's condition holds for what is stored."""
    condition = step.condition
    if condition is None:
        return step.action != "check" or stored is not None
    partition_key = model.tables[model.entities[step.entity].table].partition_key.name
    return holds(
        about_item(condition, partition_key), {} if stored is None else stored.stored, parameters, NOW
    )


def _after(model: Model, target: Target, parameters: Values) -> Sample | None:
    match target.step.action:
        case "put":
            return target.sample
        case "delete":
            return None
        case "check":
            return target.before
        case _:
            return _updated(model, target, parameters)


def _updated(model: Model, target: Target, parameters: Values) -> Sample:
    if target.before is None:
        return _begun(model, target, parameters)
    entity = target.sample.entity
    source = target.before
    values = changed_item(entity, source.values, target.step.assignments, parameters, now=NOW)
    changed = {assignment.attribute for assignment in target.step.assignments}
    kept = {
        name: source.stored[name]
        for name in table_keys(model.tables[entity.table])
        if name in source.stored and name not in changed and not changed & _sources(entity, name)
    }
    stored = stored_item(model, entity, {**values, **kept}, now=NOW)
    return Sample(entity, values, stored, wire_of(model, entity, stored))


def _begun(model: Model, target: Target, parameters: Values) -> Sample:
    """An update makes an item that is not there: of its key, what is assigned, and the keys that follow from that."""
    entity, assignments = target.sample.entity, target.step.assignments
    values = changed_item(entity, {}, assignments, parameters, now=NOW)
    whole = changed_item(entity, target.sample.values, assignments, parameters, now=NOW)
    changed = {assignment.attribute for assignment in assignments}
    table = model.tables[entity.table]
    own = {key.name for key in AccessPath(table).key}
    keys = {
        name: value
        for name, key in table_keys(table).items()
        if (value := target.sample.stored.get(name) if name in own else key_of(entity, key, whole, now=NOW))
        is not None
        and (name in own or changed & _sources(entity, name))
    }
    stored = {**values, **keys}
    return Sample(entity, values, stored, _without_other_keys(wire_of(model, entity, stored), stored))


def _without_other_keys(wire: WireItem, stored: Values) -> WireItem:
    return {name: value for name, value in wire.items() if name in stored}


def _sources(entity: Entity, name: str) -> set[str]:
    template = template_of(entity, name)
    own = () if template is None else template.attributes
    return {*own, *attributes_of(entity.only_if.get(name))}


def drawn_keys(entity: Entity) -> set[str]:
    """Keys with a shard that is drawn at each write: only the engine's item says which."""
    return {
        name
        for name, template in entity.keys.items()
        if any(isinstance(piece, Shard) and piece.attribute is None for piece in template.pieces)
    }


def moved_key(model: Model, target: Target, after: Sample | None) -> bool:
    """Whether an update would have to give an item another key, which DynamoDB cannot."""
    return after is not None and key_of_wire(model, after.entity, after.wire) != target.key
