"""Changing what auto scaling does: the job that carries it out is woken, on whichever server it runs."""

from collections.abc import Callable

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Write
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.api.scaling.resources import Resource
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction


def change(context: Context, resource: Resource, edit: Callable[[Transaction], Response]) -> Write:
    """Run a change in a transaction and announce it."""

    def step(tx: Transaction) -> Described:
        answer = edit(tx)
        catalogue.announce(tx)
        return Described(answer)

    place = (context.account_id, context.region, resource.table_name)
    return Write(step, after=lambda: context.catalogue.refresh(*place))
