"""BatchGetItem: read up to a hundred items by key, from several tables."""

from collections.abc import Iterable, Sequence
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
from hashrange.api.table_names import data_table, ready_table
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
    keys: list[bytes]
    rows: list[bytes]  # where these are stored

    @property
    def consistent(self) -> bool:
        return self.request.consistent_read is True

    def unread(self, places: Iterable[int]) -> Unread:
        """What the client has to ask for again."""
        sent = self.request.keys
        return Unread([values.canonical_item(sent[place]) for place in places], self.request)


def batch_get_item(context: Context, request: BatchGetItem) -> Plan:
    """Find the keys of a request as most are, or check all keys and projections, then find the tables."""
    tables = request.request_items
    if not tables:
        raise Invalid("The requestItems parameter is required for BatchGetItem")
    parts = _plain_parts(context, tables) or _checked_parts(context, tables)
    tab = context.tab(*(part.table for part in parts))

    def mixed(reader: Reader, past: Reader) -> BatchRead:
        step = partial(_read, parts, tab=tab, past=past)
        return step(reader) if tab is None else tab.run(step, reader)

    consistent = {part.consistent for part in parts}
    return Read(
        partial(_read, parts) if tab is None else partial(tab.run, partial(_read, parts, tab=tab)),
        parts[0].rows if len(parts) == 1 else [row for part in parts for row in part.rows],
        eventual=True not in consistent,
        mixed=mixed if len(consistent) > 1 else None,
    )


def _plain_parts(context: Context, tables: dict[str, KeysAndAttributes]) -> list[_TableKeys] | None:
    """Keys of whole items with which nothing is wrong; None: `_checked_parts` has to judge."""
    parts: list[_TableKeys] = []
    for name, part in tables.items():
        table = ready_table(context, name)
        if (
            table is None
            or part.projection_expression is not None
            or part.attributes_to_get is not None
            or part.expression_attribute_names is not None
        ):
            return None
        keys = primary_key.of_keys_or_none(table, part.keys)
        if keys is None or len(set(keys)) < len(keys):
            return None
        parts.append(_table_keys(name, part, table, None, keys))
    return parts if sum(len(part.keys) for part in parts) <= BATCH_GET_KEYS_MAX else None


def _checked_parts(context: Context, tables: dict[str, KeysAndAttributes]) -> list[_TableKeys]:
    _refuse_mixing(tables)
    checked = {name: _check(part) for name, part in tables.items()}
    if sum(len(keys) for keys, _ in checked.values()) > BATCH_GET_KEYS_MAX:
        raise Invalid("Too many items requested for the BatchGetItem call")
    parts: list[_TableKeys] = []
    for name, (keys, projection) in checked.items():
        table = data_table(context, name)
        key_bytes = [primary_key.of_key(table, key) for key in keys]
        key_paths.refuse_nested(table, table.indexes, projection)
        parts.append(_table_keys(name, tables[name], table, projection, key_bytes))
    return parts


def _table_keys(
    name: str, request: KeysAndAttributes, table: Table, projection: Projection | None, keys: list[bytes]
) -> _TableKeys:
    return _TableKeys(name, request, table, projection, keys, store.row_keys(table, keys))


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


def _read(
    parts: list[_TableKeys], reader: Reader, tab: Tab | None = None, past: Reader | None = None
) -> BatchRead:
    items_read: list[ItemRead] = []
    unread: dict[str, Unread] = {}
    refusals: list[Refusal] = []
    room = _Room(BATCH_GET_BYTES_MAX, BATCH_GET_JSON_BYTES_MAX)
    for part in parts:
        source = reader if part.consistent or past is None else past
        if tab is None:
            left = _read_part(part, source, room, items_read, last=part is parts[-1])
        else:
            left = _read_admitted(part, source, room, items_read, tab, refusals)
        if left:
            unread[part.name] = part.unread(left)
    if refusals and not items_read:
        raise throttled(refusals)
    return BatchRead(items_read, {part.name: part.table for part in parts}, unread, refusals)


class _Room(msgspec.Struct):
    """What still has room in the answer."""

    item_bytes: int
    json_bytes: int

    def has_all(self, stored_rows: Iterable[bytes | None], *, last: bool) -> bool:
        """Whether there is room for small items that were read together, which then have it; False: nobody looked.

        Behind the `last` of them nobody asks for room.
        """
        if not isinstance(stored_rows, list):
            return False
        lengths = list(map(len, filter(None, stored_rows)))
        # JSON is never shorter than the item's size.
        if lengths and (max(lengths) > _LARGE_BYTES or sum(lengths) > self.item_bytes):
            return False
        if not last:
            self.item_bytes -= sum(map(items.stored_size, filter(None, stored_rows)))
        return True

    def has(self, stored: bytes | None, *, first: bool) -> bool:
        """Whether there is room for an item, which then has it; one that is missing needs none."""
        size = 0 if stored is None else items.stored_size(stored)
        if stored is not None and len(stored) > _LARGE_BYTES:
            effort.spend(len(stored) >> 2)  # it is only copied
            self.json_bytes -= len(stored)
        if size > self.item_bytes or self.json_bytes < 0 or (not first and effort.page_is_due()):
            return False
        self.item_bytes -= size
        return True


def _read_part(
    part: _TableKeys, reader: Reader, room: _Room, items_read: list[ItemRead], *, last: bool
) -> Sequence[int]:
    """Read the items of one table, maybe the `last`; gives the places of those keys that have no room."""
    table, name, projection, consistent = part.table, part.name, part.projection, part.consistent
    stored_rows = store.stored_rows(reader, part.rows)
    if projection is None and room.has_all(stored_rows, last=last):
        items_read += [
            ItemRead(table, name, key, stored, None, consistent)
            for key, stored in zip(part.keys, stored_rows, strict=True)
        ]
        return ()
    for place, (key, stored) in enumerate(zip(part.keys, stored_rows, strict=True)):
        if not room.has(stored, first=not items_read):
            return range(place, len(part.keys))
        picked = None if projection is None or stored is None else picked_json(projection, stored)
        items_read.append(ItemRead(table, name, key, stored, picked, consistent))
    return ()


def _read_admitted(
    part: _TableKeys,
    reader: Reader,
    room: _Room,
    items_read: list[ItemRead],
    tab: Tab,
    refusals: list[Refusal],
) -> Sequence[int]:
    """The same where capacity may be short: what is refused is not read."""
    left: list[int] = []
    for place, key in enumerate(part.keys):
        refusal = tab.read_refusal(part.table, None, key)
        if refusal is not None:
            refusals.append(refusal)
            left.append(place)
            continue
        stored = reader.get(part.rows[place])
        if not room.has(stored, first=not items_read):
            return [*left, *range(place, len(part.keys))]
        projection = part.projection
        picked = None if projection is None or stored is None else picked_json(projection, stored)
        items_read.append(ItemRead(part.table, part.name, key, stored, picked, part.consistent))
        tab.take(items_read[-1].charges())
    return left
