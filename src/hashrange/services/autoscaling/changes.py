"""Changing what auto scaling does: the job that carries it out is woken, on whichever server it runs."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Write
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.api.scaling import resources
from hashrange.api.scaling.resources import Resource, identified, object_not_found
from hashrange.services.autoscaling.structures import Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import target_id
from hashrange.storage.setting_rows import Place, SettingRows

T = TypeVar("T", bound=msgspec.Struct)


class Identifiers(Protocol):
    """What all requests about one capacity have."""

    service_namespace: ServiceNamespace
    resource_id: str
    scalable_dimension: ScalableDimension


def change(context: Context, resource: Resource, edit: Callable[[Transaction], Response]) -> Write:
    """Run a change in a transaction and announce it."""

    def step(tx: Transaction) -> Described:
        answer = edit(tx)
        catalogue.announce(tx)
        return Described(answer)

    place = (context.account_id, context.region, resource.table_name)
    return Write(step, after=lambda: context.catalogue.refresh(*place))


def delete(
    context: Context,
    request: Identifiers,
    record: tuple[SettingRows[T], str, str],
    remove: Callable[[Transaction, Place, T, float], None],
) -> Write:
    """Remove a target's record, which there must be: its rows, its name, and what errors call it."""
    rows, name, kind = record
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    place, now = resources.place_of(context), context.clock.now()

    def edit(tx: Transaction) -> Nothing:
        stored = rows.find(tx, place, target_id(resource.id, resource.dimension) + name)
        if stored is None:
            where = identified(resource.id, resource.dimension)
            label = kind.removeprefix("scaling ")
            raise object_not_found(f"No {kind} found for {where}, {label} name: {name}")
        remove(tx, place, stored, now)
        return Nothing()

    return change(context, resource, edit)
