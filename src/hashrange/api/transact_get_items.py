"""TransactGetItems: read up to a hundred items as of one moment."""

from typing import Any

import msgspec
import orjson

from hashrange.api import answers, shapes, transactions
from hashrange.api.context import Context
from hashrange.api.get_item import check_projection_parameters, read_projection
from hashrange.api.item_shapes import ATTRIBUTES, NAMES
from hashrange.api.kinds import ListOf, Member, Struct, Text
from hashrange.api.parameters import attribute_map
from hashrange.api.plan import Plan, Read
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.api.transactions import Reason
from hashrange.core import capacity, items
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Projection, pick
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import TRANSACT_BYTES_MAX, TRANSACT_ITEMS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import layout, store
from hashrange.storage.engine import Reader

_GET = Struct(
    "Get",
    {
        "Key": Member(ATTRIBUTES, required=True),
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ProjectionExpression": Member(Text()),
        "ExpressionAttributeNames": Member(NAMES),
    },
    as_member=True,
)

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "TransactItems": Member(
            ListOf(
                Struct("TransactGetItem", {"Get": Member(_GET, required=True)}),
                least=1,
                most=TRANSACT_ITEMS_MAX,
            ),
            required=True,
        ),
    }
)


class Lookup(msgspec.Struct, frozen=True):
    """One item to read."""

    name: str
    table: Table
    key: bytes
    projection: Projection | None


@operation("TransactGetItems", SHAPE)
def transact_get_items(context: Context, request: dict[str, Any]) -> Plan:
    checked = [_check(element["Get"]) for element in request["TransactItems"]]
    tables = [data_table(context, get["TableName"]) for get, _, _ in checked]
    lookups: list[Lookup | Reason] = []
    for (get, key, projection), table in zip(checked, tables, strict=True):
        lookups.append(_lookup(get["TableName"], table, key, projection))
    transactions.refuse_duplicates([(each.table, each.key) for each in lookups if isinstance(each, Lookup)])
    transactions.cancel_on(transactions.first_only(lookups))
    found = [each for each in lookups if isinstance(each, Lookup)]
    mode = request.get("ReturnConsumedCapacity", "NONE")
    reads = [store.row_key(each.table, each.key) for each in found]
    return Read(lambda reader: read_all(reader, found, mode), reads)


def _check(get: dict[str, Any]) -> tuple[dict[str, Any], Item, Projection | None]:
    check_projection_parameters(get)
    return get, attribute_map(get["Key"]), read_projection(get)


def _lookup(name: str, table: Table, key: Item, projection: Projection | None) -> Lookup | Reason:
    try:
        key_bytes = primary_key.of_key(table, key)
        key_paths.refuse_nested(table, (), projection)
    except Invalid as error:
        return transactions.invalid(error)
    return Lookup(name, table, key_bytes, projection)


def read_all(reader: Reader, lookups: list[Lookup], mode: str) -> bytes:
    """All items of one snapshot; a missing one is an empty element."""
    responses, total = [], 0
    consumed: dict[str, Consumed] = {}
    for each in lookups:
        stored = reader.get(layout.rows_prefix(each.table.number, layout.BASE_SLOT) + each.key)
        size = 0 if stored is None else items.stored_size(stored)
        total += size
        report = consumed.setdefault(each.name, Consumed(each.table, each.name, kind="Read"))
        report.add(2 * capacity.read_units(size, consistent=True))
        responses.append(_shown(each.projection, stored))
    if total > TRANSACT_BYTES_MAX:
        raise Invalid("Aggregate size of the items in the transaction cannot exceed 4 MB")
    members = [b'"Responses":[' + b",".join(responses) + b"]"]
    if mode != "NONE":
        members.append(
            b'"ConsumedCapacity":' + orjson.dumps([each.report(mode) for each in consumed.values()])
        )
    return answers.pasted(members)


def _shown(projection: Projection | None, stored: bytes | None) -> bytes:
    if stored is None:
        return b"{}"
    if projection is None:
        return b'{"Item":' + stored[items.HEADER_BYTES :] + b"}"
    return orjson.dumps({"Item": pick(projection, items.decode(stored))})
