"""TransactGetItems: read up to a hundred items as of one moment."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.items.parameters import read_projection, refuse_idle_names
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    Request,
    ReturnConsumedCapacity,
    Structure,
    TableName,
)
from hashrange.api.table_names import data_table, ready_table
from hashrange.api.transactions import cancellation, reads
from hashrange.api.transactions.cancellation import Reason
from hashrange.api.transactions.reads import Lookup
from hashrange.core import values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Projection
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import TRANSACT_ITEMS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item


class Get(Structure, kw_only=True):
    """One item to read."""

    key: AttributeMap
    table_name: TableName
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None


class TransactGetItem(Structure, kw_only=True):
    """One element of the transaction."""

    get: Get


class TransactGetItems(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    transact_items: Annotated[list[TransactGetItem], Meta(min_length=1, max_length=TRANSACT_ITEMS_MAX)]


SHAPE = Shape(TransactGetItems)


def transact_get_items(context: Context, request: TransactGetItems) -> Plan:
    """Look up a request as most are, or check all keys and projections, then find the tables."""
    gets = [element.get for element in request.transact_items]
    plain = _plain_lookups(context, gets)
    if plain is not None:
        return reads.plan(context, plain)
    checked = [_check(get) for get in gets]
    tables = [data_table(context, get.table_name) for get in gets]
    outcomes = [
        _lookup(get.table_name, table, key, projection)
        for get, table, (key, projection) in zip(gets, tables, checked, strict=True)
    ]
    lookups = [outcome for outcome in outcomes if isinstance(outcome, Lookup)]
    cancellation.refuse_duplicates([(lookup.table, lookup.key) for lookup in lookups])
    cancellation.cancel_on(cancellation.first_only(outcomes))
    return reads.plan(context, lookups)


def _plain_lookups(context: Context, gets: list[Get]) -> list[Lookup] | None:
    """Whole items by keys with which nothing is wrong; None: the long way has to judge."""
    lookups: list[Lookup] = []
    for get in gets:
        if get.projection_expression is not None or get.expression_attribute_names is not None:
            return None
        table = ready_table(context, get.table_name)
        key = None if table is None else primary_key.of_key_or_none(table, get.key)
        if table is None or key is None:
            return None
        lookups.append(Lookup(get.table_name, table, key, None))
    if len({(lookup.table.number, lookup.key) for lookup in lookups}) < len(lookups):
        return None
    return lookups


def _check(get: Get) -> tuple[Item, Projection | None]:
    refuse_idle_names(get, get.projection_expression)
    return values.canonical_item(get.key, wording="coral"), read_projection(get)


def _lookup(name: str, table: Table, key: Item, projection: Projection | None) -> Lookup | Reason:
    try:
        key_bytes = primary_key.of_key(table, key)
        key_paths.refuse_nested(table, table.indexes, projection)
    except Invalid as error:
        return cancellation.invalid(error)
    return Lookup(name, table, key_bytes, projection)
