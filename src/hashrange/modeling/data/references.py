"""References of made-up items to each other: to a parent, or to another that is there, of the same tenant."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from hashrange.modeling.data.samples import Sample
from hashrange.modeling.model import Attribute, Entity, Model
from hashrange.modeling.population import ancestry, identity, owner_of


class References:
    """Chooses for the items of one entity what their attributes refer to."""

    def __init__(
        self, model: Model, entity: Entity, samples: Mapping[str, list[Sample]], rng: random.Random
    ) -> None:
        self._model = model
        self._entity = entity
        self._samples = samples
        self._rng = rng
        self._relatives: dict[str, dict[tuple[object, ...], list[Sample]]] = {}
        own = identity(model, entity) if entity.parent is None else frozenset()
        self._owners = {
            name: None if name in own and attribute.refers is None else owner_of(model, entity, attribute)
            for name, attribute in entity.attributes.items()
        }

    def is_own(self, attribute: Attribute) -> bool:
        """Whether the attribute is no reference: its value is made for each item."""
        return self._owners[attribute.name] is None

    def other(
        self, attribute: Attribute, parent: Sample | None, chosen: dict[str, Sample | None]
    ) -> Sample | None:
        """What an attribute refers to, if it does. `chosen` is what other attributes of the item refer to."""
        owner = self._owners[attribute.name]
        if owner is None or attribute.values:
            return None
        # Of two references to accounts, as `source` and `target`, each is to one of its own.
        role = owner.name if attribute.name in owner.attributes else attribute.name
        if role not in chosen:
            chosen[role] = self._chosen(attribute, owner, parent)
        return chosen[role]

    def _chosen(self, attribute: Attribute, owner: Entity, parent: Sample | None) -> Sample | None:
        if parent is None:
            others: Sequence[Sample] = self._samples.get(owner.name, [])
        elif owner in ancestry(self._model, parent.entity) and not self._is_another(attribute, owner):
            return parent
        else:
            others = self._related(owner, parent)
        return self._rng.choice(others) if others else None

    def _is_another(self, attribute: Attribute, owner: Entity) -> bool:
        """Whether a reference is to another item than the parent, whose id the item has under its own name."""
        names = _own_identity(self._model, owner)
        return attribute.name not in owner.attributes and names <= self._entity.attributes.keys()

    def _related(self, owner: Entity, parent: Sample) -> Sequence[Sample]:
        """Those that have the same forebears: who has a task to do is of the tenant whose task it is."""
        samples = self._samples.get(owner.name, [])
        names = self._common_names(owner)
        if owner.name not in self._relatives:
            relatives = self._relatives.setdefault(owner.name, {})
            for sample in samples:
                relatives.setdefault(tuple(map(sample.values.get, names)), []).append(sample)
        return self._relatives[owner.name].get(tuple(map(parent.values.get, names)), samples)

    def _common_names(self, owner: Entity) -> list[str]:
        theirs = ancestry(self._model, owner)[1:]
        common = (entity for entity in ancestry(self._model, self._entity)[1:] if entity in theirs)
        return sorted({name for entity in common for name in identity(self._model, entity)})


def shared_value(model: Model, attribute: Attribute, other: Sample) -> object:
    """The value of a reference: the attribute of the same name, or the one that identifies the other item."""
    if attribute.name in other.entity.attributes:
        return other.values.get(attribute.name)
    names = _own_identity(model, other.entity)
    return other.values.get(next(iter(names))) if len(names) == 1 else None


def _own_identity(model: Model, entity: Entity) -> frozenset[str]:
    """What tells an item from others of the same parent: the parent's id is also in its key."""
    inherited = {name for ancestor in ancestry(model, entity)[1:] for name in ancestor.attributes}
    names = identity(model, entity)
    return names - inherited or names
