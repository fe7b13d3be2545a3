"""How many items of each entity are made: real proportions, scaled down to what a proof has room for."""

from __future__ import annotations

from collections.abc import Mapping

from hashrange.modeling.model import Entity, Model
from hashrange.modeling.population import ancestry
from hashrange.modeling.sizes import item_size

ITEMS_MAX = 20_000
BYTES_MAX = 50 * 1024 * 1024
_ROOTS_MIN = 8  # fewer parents would leave no room for an empty, a full and a usual collection


def amounts(model: Model, items: int) -> dict[str, int]:
    """Items by entity: no more than `items` together, nor than the room in bytes."""
    share = max(min(items, ITEMS_MAX) // max(len(model.entities), 1), 1)
    room = BYTES_MAX // max(len(model.entities), 1)
    totals: dict[str, int] = {}
    for entity in sorted(model.entities.values(), key=lambda entity: len(ancestry(model, entity))):
        most = min(share, max(int(room / max(item_size(model, entity).mean, 1)), 1))
        totals[entity.name] = max(1, int(min(_wanted(model, entity, totals, share), most)))
    return totals


def _wanted(model: Model, entity: Entity, totals: Mapping[str, int], share: int) -> float:
    if entity.parent is not None and entity.parent in totals:
        return entity.count * totals[entity.parent]
    return min(entity.count, max(share / _fan_out(model, entity), _ROOTS_MIN))


def _fan_out(model: Model, root: Entity) -> float:
    """The most items that one entity has for an item of the root."""
    largest = 1.0
    for entity in model.entities.values():
        lineage = ancestry(model, entity)
        if lineage[-1] is root:
            product = 1.0
            for member in lineage[:-1]:
                product = min(product * max(member.count, 1.0), 1e9)
            largest = max(largest, product)
    return largest
