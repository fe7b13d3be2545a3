"""BatchGetItem: read up to a hundred items by key, from several tables."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import msgspec
import orjson
from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.items.parameters import members_present, mixing, read_projection, refuse_idle_names
from hashrange.api.items.structures import AttributesToGet
from hashrange.api.protocol.kinds import MapOf, Violation
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Refined, Shape
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    Request,
    ReturnConsumedCapacity,
    Structure,
    TableNameKey,
)
from hashrange.api.results import ItemRead, ItemsRead
from hashrange.api.table_names import data_table
from hashrange.api.throttling.gate import Tab
from hashrange.api.throttling.refusals import Refusal, throttled
from hashrange.core import effort, items, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Projection, picked_json
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import BATCH_GET_BYTES_MAX, BATCH_GET_JSON_BYTES_MAX, BATCH_GET_KEYS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Reader


class _RequestItems(MapOf):
    """A map that the service shows as JSON when it complains about it."""

    def echo(self, value: Any) -> str:
        return orjson.dumps(value).decode()


class KeysAndAttributes(Structure, kw_only=True):
    """What to read of one table."""

    keys: Annotated[list[AttributeMap], Meta(min_length=1, max_length=BATCH_GET_KEYS_MAX)]
    attributes_to_get: AttributesToGet | None = None
    consistent_read: bool | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None


class BatchGetItem(Request, kw_only=True):
    """The request."""

    request_items: (
        Annotated[
            dict[TableNameKey, KeysAndAttributes],
            Meta(min_length=1),
            Refined(lambda kind: _RequestItems(kind.element, key=kind.key, least=kind.least)),
        ]
        | None
    ) = None
    return_consumed_capacity: ReturnConsumedCapacity | None = None


class _BatchGetShape(Shape[BatchGetItem]):
    """Of RequestItems only its keys are judged by the older layer."""

    def phrase(self, violation: Violation) -> str:
        _, path, rule = violation
        if path == "RequestItems" and not rule.startswith("Map keys"):
            return f"Value at '{path}' failed to satisfy constraint: {rule}"
        return super().phrase(violation)


SHAPE = _BatchGetShape(BatchGetItem, newer=("RequestItems.",))


_LARGE_BYTES = 16 * 1024  # smaller items are not counted


class Unread(msgspec.Struct, frozen=True):
    """Keys of one table that had no room in the answer, and how they were to be read."""

    keys: list[Item]
    request: KeysAndAttributes


class BatchRead(ItemsRead):
    """The items found, and what is left to ask for again."""

    tables: dict[str, Table]  # by the names that the request has for them
    unread: dict[str, Unread]
    refusals: Sequence[Refusal] = ()  # for want of capacity; the others had no room in the answer


class _TableKeys(msgspec.Struct, frozen=True):
    """The keys to be read of one table."""

    name: str
    request: KeysAndAttributes
    table: Table
    projection: Projection | None
    keys: list[Item]
    rows: list[bytes]  # key bytes

    @property
    def consistent(self) -> bool:
        return self.request.consistent_read is True


def batch_get_item(context: Context, request: BatchGetItem) -> Plan:
    """Check all keys and projections, then find the tables."""
    tables = request.request_items
    if not tables:
        raise Invalid("The requestItems parameter is required for BatchGetItem")
    _refuse_mixing(tables)
    checked = {name: _check(part) for name, part in tables.items()}
    if sum(len(keys) for keys, _ in checked.values()) > BATCH_GET_KEYS_MAX:
        raise Invalid("Too many items requested for the BatchGetItem call")
    parts = [_table_keys(context, name, tables[name], *checked[name]) for name in tables]
    tab = context.tab(*(part.table for part in parts))

    def mixed(reader: Reader, past: Reader) -> BatchRead:
        step = partial(_read, parts, tab=tab, past=past)
        return step(reader) if tab is None else tab.run(step, reader)

    consistent = {part.consistent for part in parts}
    return Read(
        partial(_read, parts) if tab is None else partial(tab.run, partial(_read, parts, tab=tab)),
        [store.row_key(part.table, key) for part in parts for key in part.rows],
        eventual=True not in consistent,
        mixed=mixed if len(consistent) > 1 else None,
    )


def _refuse_mixing(tables: dict[str, KeysAndAttributes]) -> None:
    """Expressions for one table exclude the older parameters for another, too."""
    old = any(members_present(part, ("attributes_to_get",)) for part in tables.values())
    new = any(members_present(part, ("projection_expression",)) for part in tables.values())
    if old and new:
        raise mixing(["AttributesToGet"], ["ProjectionExpression"])
    names = any(part.expression_attribute_names is not None for part in tables.values())
    if names and not new:
        refuse_idle_names(
            next(part for part in tables.values() if part.expression_attribute_names is not None)
        )


def _check(part: KeysAndAttributes) -> tuple[list[Item], Projection | None]:
    refuse_idle_names(part, part.projection_expression)
    projection = read_projection(part, part.attributes_to_get)
    keys: list[Item] = []
    seen: set[bytes] = set()
    for raw in part.keys:
        key = values.canonical_item(raw)
        keys.append(key)
        seen.add(orjson.dumps(key, option=orjson.OPT_SORT_KEYS))
        if len(seen) < len(keys):
            raise Invalid("Provided list of item keys contains duplicates")
    return keys, projection


def _table_keys(
    context: Context,
    name: str,
    request: KeysAndAttributes,
    keys: list[Item],
    projection: Projection | None,
) -> _TableKeys:
    table = data_table(context, name)
    rows = [primary_key.of_key(table, key) for key in keys]
    key_paths.refuse_nested(table, table.indexes, projection)
    return _TableKeys(name, request, table, projection, keys, rows)


def _read(
    parts: list[_TableKeys], reader: Reader, tab: Tab | None = None, past: Reader | None = None
) -> BatchRead:
    items_read: list[ItemRead] = []
    unread: dict[str, Unread] = {}
    refusals: list[Refusal] = []
    room, json_room = BATCH_GET_BYTES_MAX, BATCH_GET_JSON_BYTES_MAX
    for part in parts:
        table, projection = part.table, part.projection
        get = reader.get if part.consistent or past is None else past.get
        left: list[Item] = []
        for at, key in enumerate(part.rows):
            refusal = None if tab is None else tab.read_refusal(table, None, key)
            if refusal is not None:
                refusals.append(refusal)
                left.append(part.keys[at])
                continue
            stored = get(store.row_key(table, key))
            size = 0 if stored is None else items.stored_size(stored)
            if stored is not None and len(stored) > _LARGE_BYTES:
                effort.spend(len(stored) >> 2)  # it is only copied
                json_room -= len(stored)
            if size > room or json_room < 0 or (items_read and effort.page_is_due()):
                left += part.keys[at:]
                break
            room -= size
            picked = None if projection is None or stored is None else picked_json(projection, stored)
            items_read.append(ItemRead(table, part.name, key, stored, picked, part.consistent))
            if tab is not None:
                tab.take(items_read[-1].charges())
        if left:
            unread[part.name] = Unread(left, part.request)
    if refusals and not items_read:
        raise throttled(refusals)
    return BatchRead(items_read, {part.name: part.table for part in parts}, unread, refusals)
