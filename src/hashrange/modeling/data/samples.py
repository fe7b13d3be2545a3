"""Samples: made-up items, with the keys that their entity's templates give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hashrange.modeling.model import Entity, Model, WritePattern, WriteStep
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.requests import PutItem
from hashrange.modeling.wire_values import WireItem
from hashrange.modeling.write_requests import requests_for

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """An item: its own attributes, all that is stored, and that in DynamoDB's JSON."""

    entity: Entity
    values: Mapping[str, object]
    stored: Mapping[str, object]
    wire: WireItem


def wire_of(model: Model, entity: Entity, stored: Mapping[str, object]) -> WireItem:
    """An item as PutItem takes it."""
    put = WritePattern("put", (WriteStep("put", entity.name),))
    (request,) = requests_for(put, [stored], {}, model)
    if not isinstance(request, PutItem):
        raise TypeError(request.operation)
    return request.item


def key_of_wire(model: Model, entity: Entity, wire: WireItem) -> Key:
    """What tells an item from all others: its table, and its key there."""
    table = model.tables[entity.table]
    return (table.name, *(str(wire.get(key.name)) for key in AccessPath(table).key))
