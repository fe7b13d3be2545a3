"""Made-up items of all entities. Children have their parents' values, references are to items that are there."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from hashrange.core.errors import Refused
from hashrange.modeling.data.amounts import amounts
from hashrange.modeling.data.references import References, shared_value
from hashrange.modeling.data.samples import Key, Sample, key_of_wire, wire_of
from hashrange.modeling.data.values import NOW, nth_value
from hashrange.modeling.key_values import stored_item
from hashrange.modeling.model import Attribute, Distribution, Entity, Model
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import ancestry, identity

ITEMS = 3000
FRESH_ATTEMPTS = 20
_GENERATED = ("uuid", "ulid")
_TIMES = ("timestamp", "epoch", "date")
_CLASH_CHARS_MAX = 400


@dataclass(slots=True)
class Data:
    """All samples by entity, and by key; `clashes` says which entities make the same key, and cannot both be there."""

    seed: int
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    by_key: dict[Key, Sample] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)

    def all(self) -> Iterator[Sample]:
        return iter(self.by_key.values())

    def replace(self, key: Key, sample: Sample | None) -> None:
        """Have another item at a key, or none."""
        before = self.by_key.pop(key, None)
        if before is not None:
            samples = self.samples[before.entity.name]
            self.samples[before.entity.name] = [other for other in samples if other is not before]
        if sample is not None:
            self.by_key[key] = sample
            self.samples.setdefault(sample.entity.name, []).append(sample)


def make_data(model: Model, *, seed: int = 1, items: int = ITEMS) -> Data:
    """The items of a model; the same seed gives the same."""
    data = Data(seed)
    totals = amounts(model, items)
    for entity in _in_order(model):
        _Maker(model, data, entity).make(totals[entity.name])
    return data


def _in_order(model: Model) -> list[Entity]:
    """Entities behind those that they refer to; where these go round in a circle, one has to begin."""
    ordered: dict[str, Entity] = {}
    waiting: set[str] = set()

    def add(entity: Entity) -> None:
        if entity.name in ordered or entity.name in waiting:
            return
        waiting.add(entity.name)
        for other in (entity.parent, *(attribute.refers for attribute in entity.attributes.values())):
            if other is not None and other in model.entities:
                add(model.entities[other])
        ordered[entity.name] = entity

    for entity in sorted(model.entities.values(), key=lambda entity: len(ancestry(model, entity))):
        add(entity)
    return list(ordered.values())


class _Maker:
    """Makes the items of one entity."""

    def __init__(self, model: Model, data: Data, entity: Entity) -> None:
        self._model = model
        self._data = data
        self._entity = entity
        self._rng = random.Random(f"{data.seed} {entity.name}")  # noqa: S311 - data for a test
        self._in_keys = {name for template in entity.keys.values() for name in template.attributes}
        self._references = References(model, entity, data.samples, self._rng)
        self._ids = [
            name
            for name, attribute in entity.attributes.items()
            if attribute.format in _GENERATED
            and not attribute.distinct
            and self._references.is_own(attribute)
        ]

    def make(self, count: int) -> None:
        samples = self._data.samples.setdefault(self._entity.name, [])
        for number, parent in enumerate(self._parents(count)):
            sample = self.sample(number, parent)
            if sample is not None and self._keep(sample):
                samples.append(sample)
        if samples and self._ids and self._is_told_apart_by_time():
            self._note_clash(self._clash_of_ids(self._ids[0]), samples[0])

    def _is_told_apart_by_time(self) -> bool:
        """Whether a key is made of a time and of what several items share: made-up ones need not meet to clash."""
        names = identity(self._model, self._entity)
        own = [
            attribute
            for name in names
            if (attribute := self._entity.attributes.get(name)) is not None
            and self._references.is_own(attribute)
            and not (attribute.values or attribute.distinct or attribute.type == "BOOL")
        ]
        return bool(own) and all(attribute.format in _TIMES for attribute in own)

    def _clash_of_ids(self, name: str) -> str:
        return f"items of {self._entity.name} with another {name} have the same key"

    def _parents(self, count: int) -> Sequence[Sample | None]:
        """The parent of each item. One parent has no children, and a few have many where the spread says so."""
        parents = self._data.samples.get(self._entity.parent or "", [])
        if not parents:
            return [None] * count
        fertile = parents[:-1] or parents
        return self._rng.choices(fertile, _weights(self._entity.spread, len(fertile)), k=count)

    def sample(self, number: int, parent: Sample | None) -> Sample | None:
        """The n-th item; None if it cannot be stored, which the data notes."""
        values = self._values(number, parent)
        stored = stored_item(self._model, self._entity, values, now=NOW)
        try:
            wire = wire_of(self._model, self._entity, stored)
        except (Refused, ValueError) as error:
            note = f"{self._entity.name} has keys that cannot be stored: {error}"
            if note not in self._data.rejected:
                self._data.rejected.append(note)
            return None
        return Sample(self._entity, values, stored, wire)

    def _values(self, number: int, parent: Sample | None) -> dict[str, object]:
        chosen: dict[str, Sample | None] = {}
        values: dict[str, object] = {}
        for name, attribute in self._entity.attributes.items():
            if attribute.optional and self._rng.random() < attribute.optional:
                continue
            value = self._value(attribute, number, parent, chosen)
            if value is not None or attribute.type == "NULL":
                values[name] = value
        return values

    def _value(
        self, attribute: Attribute, number: int, parent: Sample | None, chosen: dict[str, Sample | None]
    ) -> object:
        other = self._references.other(attribute, parent, chosen)
        if other is not None:
            return shared_value(self._model, attribute, other)
        if attribute.values or attribute.type == "BOOL":
            number = self._rng.randrange(1000)
        elif attribute.distinct:
            number %= attribute.distinct
        return nth_value(attribute, number, self._rng, in_key=attribute.name in self._in_keys)

    def _keep(self, sample: Sample) -> bool:
        """Whether the sample's key is a new one. Neither entities nor items with ids of their own may share one."""
        key = key_of_wire(self._model, self._entity, sample.wire)
        there = self._data.by_key.setdefault(key, sample)
        if there is sample:
            return True
        if there.entity is not self._entity:
            self._note_clash(
                f"{there.entity.name} and {self._entity.name} have items with the same key", sample
            )
        elif (name := self._differing_id(sample, there)) is not None:
            self._note_clash(self._clash_of_ids(name), sample)
        return False

    def _note_clash(self, clash: str, sample: Sample) -> None:
        if not any(other.startswith(clash) for other in self._data.clashes):
            names = [key.name for key in AccessPath(self._model.tables[self._entity.table]).key]
            texts = [f"{name} = {sample.stored.get(name)}" for name in names]
            self._data.clashes.append(f"{clash}: {', '.join(texts)}"[:_CLASH_CHARS_MAX])

    def _differing_id(self, sample: Sample, other: Sample) -> str | None:
        """An identifier that is made for each item, and tells apart what the key does not."""
        return next((name for name in self._ids if sample.values.get(name) != other.values.get(name)), None)


def _weights(spread: Distribution, count: int) -> list[float]:
    exponent = min(max(spread.exponent, 0.0), 20.0) if spread.kind == "zipf" else 0.0
    return [(rank + 1) ** -exponent for rank in range(count)]


def fresh_sample(
    model: Model, entity: Entity, data: Data, number: int, taken: Container[Key] = frozenset()
) -> Sample | None:
    """An item that is not there yet, beside a parent that is; None if the entity has no keys left for it."""
    maker = _Maker(model, data, entity)
    number += 2 * len(
        data.samples.get(entity.name, [])
    )  # behind those that are there, and the few that were dropped
    parents = data.samples.get(entity.parent or "", [])
    for attempt in range(number, number + FRESH_ATTEMPTS):
        sample = maker.sample(attempt, parents[attempt % len(parents)] if parents else None)
        if sample is None:
            continue
        key = key_of_wire(model, entity, sample.wire)
        if key not in data.by_key and key not in taken:
            return sample
    return None
