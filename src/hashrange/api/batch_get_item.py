"""BatchGetItem: read up to a hundred items by key, from several tables."""

from typing import Any

import msgspec
import orjson

from hashrange.api import answers, shapes
from hashrange.api.context import Context
from hashrange.api.get_item import check_projection_parameters, read_projection
from hashrange.api.item_shapes import ATTRIBUTES_TO_GET, NAMES
from hashrange.api.kinds import VALUE, Flag, ListOf, MapOf, Member, Struct, Text
from hashrange.api.parameters import attribute_map
from hashrange.api.plan import Plan, Read
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import capacity, items
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Projection, pick
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import BATCH_GET_BYTES_MAX, BATCH_GET_KEYS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.engine import Reader


class _RequestItems(MapOf):
    """A map that the service shows as JSON when it complains about it."""

    def echo(self, value: Any) -> str:
        return orjson.dumps(value).decode()


SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "RequestItems": _RequestItems(
            Struct(
                "KeysAndAttributes",
                {
                    "Keys": Member(
                        ListOf(MapOf(VALUE, parameterized=True), least=1, most=BATCH_GET_KEYS_MAX),
                        required=True,
                    ),
                    "AttributesToGet": Member(ATTRIBUTES_TO_GET),
                    "ConsistentRead": Member(Flag()),
                    "ProjectionExpression": Member(Text()),
                    "ExpressionAttributeNames": Member(NAMES),
                },
            ),
            key=shapes.TABLE_NAME,
        ),
    },
    newer=("RequestItems.",),
)


class _Part(msgspec.Struct, frozen=True):
    """What is asked of one table."""

    name: str
    asked: dict[str, Any]
    table: Table
    projection: Projection | None
    keys: list[Item]
    rows: list[bytes]

    @property
    def consistent(self) -> bool:
        return bool(self.asked.get("ConsistentRead", False))


@operation("BatchGetItem", SHAPE)
def batch_get_item(context: Context, request: dict[str, Any]) -> Plan:
    asked = request.get("RequestItems")
    if not asked:
        raise Invalid("The requestItems parameter is required for BatchGetItem")
    # Expressions for one table exclude the older parameters for another, too.
    check_projection_parameters({name: None for part in asked.values() for name in part})
    checked = {name: _check(part) for name, part in asked.items()}
    if sum(len(keys) for keys, _ in checked.values()) > BATCH_GET_KEYS_MAX:
        raise Invalid("Too many items requested for the BatchGetItem call")
    parts = [_part(context, name, asked[name], *checked[name]) for name in asked]
    return Read(
        lambda reader: _answer(reader, request, parts),
        [row for part in parts for row in part.rows],
        eventual=not any(part.consistent for part in parts),
    )


def _check(asked: dict[str, Any]) -> tuple[list[Item], Projection | None]:
    check_projection_parameters(asked)
    projection = read_projection(asked)
    keys: list[Item] = []
    for raw in asked["Keys"]:
        key = attribute_map(raw)
        if key in keys:
            raise Invalid("Provided list of item keys contains duplicates")
        keys.append(key)
    return keys, projection


def _part(
    context: Context, name: str, asked: dict[str, Any], keys: list[Item], projection: Projection | None
) -> _Part:
    table = data_table(context, name)
    prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)
    rows = [prefix + primary_key.of_key(table, key) for key in keys]
    key_paths.refuse_nested(table, (), projection)
    return _Part(name, asked, table, projection, keys, rows)


def _answer(reader: Reader, request: dict[str, Any], parts: list[_Part]) -> bytes:
    responses, unprocessed, reports = [], {}, []
    room = BATCH_GET_BYTES_MAX
    mode = request.get("ReturnConsumedCapacity", "NONE")
    for part in parts:
        found: list[bytes] = []
        consumed = Consumed(part.table, part.name)
        for at, row in enumerate(part.rows):
            stored = reader.get(row)
            size = 0 if stored is None else items.stored_size(stored)
            if size > room:
                unprocessed[part.name] = {**part.asked, "Keys": part.keys[at:]}
                break
            room -= size
            consumed.add(capacity.read_units(size, consistent=part.consistent))
            if stored is not None:
                found.append(_shown(part.projection, stored))
        responses.append(orjson.dumps(part.name) + b":[" + b",".join(found) + b"]")
        reports.append(consumed.report(mode))
    members = [
        b'"Responses":{' + b",".join(responses) + b"}",
        b'"UnprocessedKeys":' + orjson.dumps(unprocessed),
    ]
    if mode != "NONE":
        members.append(b'"ConsumedCapacity":' + orjson.dumps(reports))
    return answers.pasted(members)


def _shown(projection: Projection | None, stored: bytes) -> bytes:
    if projection is None:
        return stored[items.HEADER_BYTES :]
    return orjson.dumps(pick(projection, items.decode(stored)))
