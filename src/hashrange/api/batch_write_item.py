"""BatchWriteItem: put or delete up to 25 items, in several tables, without conditions."""

from typing import Any

import msgspec

from hashrange.api import answers, errors, shapes
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.item_shapes import ATTRIBUTES
from hashrange.api.kinds import Kind, ListOf, MapOf, Member, Struct, Violation
from hashrange.api.parameters import attribute_map
from hashrange.api.plan import Plan, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape, is_enumeration
from hashrange.api.table_names import data_table
from hashrange.core import indexes, mutation, values
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid
from hashrange.core.keys import primary_key
from hashrange.core.limits import BATCH_WRITE_ITEMS_MAX
from hashrange.core.mutation import Command, Delete, Put
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Transaction

_WRITE_REQUEST = Struct(
    "WriteRequest",
    {
        "PutRequest": Member(
            Struct("PutRequest", {"Item": Member(ATTRIBUTES, required=True)}, as_member=True)
        ),
        "DeleteRequest": Member(
            Struct("DeleteRequest", {"Key": Member(ATTRIBUTES, required=True)}, as_member=True)
        ),
    },
)


class _RequestItems(MapOf):
    """A map of lists whose length is constrained as the map's value."""

    def fits(self, raw: Any) -> bool:
        return MapOf.fits(self, raw) and all(0 < len(each) <= BATCH_WRITE_ITEMS_MAX for each in raw.values())

    def violations(self, value: Any, path: str) -> Any:
        if not all(0 < len(each) <= BATCH_WRITE_ITEMS_MAX for each in value.values()):
            rule = (
                "Map value must satisfy constraint: [Member must have length less than or equal to "
                f"{BATCH_WRITE_ITEMS_MAX}, Member must have length greater than or equal to 1]"
            )
            yield self.echo(value), path, rule
        yield from MapOf.violations(self, value, path)


_REQUEST_ITEMS: Kind = _RequestItems(ListOf(_WRITE_REQUEST, parameterized=True), key=shapes.TABLE_NAME)


def _narrowed(given: dict[str, Any], found: list[Violation]) -> list[Violation]:
    """A bad enumeration is reported alone (measured)."""
    return [each for each in found if is_enumeration(each)][:1] or found


SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ReturnItemCollectionMetrics": shapes.RETURN_ITEM_COLLECTION_METRICS,
        "RequestItems": _REQUEST_ITEMS,
    },
    narrowed=_narrowed,
)


class _Part(msgspec.Struct, frozen=True):
    """What is asked of one table."""

    name: str
    table: Table
    writes: list[tuple[Command, Item]]


@operation("BatchWriteItem", SHAPE)
def batch_write_item(context: Context, request: dict[str, Any]) -> Plan:
    asked = request.get("RequestItems")
    if not asked:
        raise Invalid("The requestItems parameter is required for BatchWriteItem")
    if sum(map(len, asked.values())) > BATCH_WRITE_ITEMS_MAX:
        raise Invalid("Too many items requested for the BatchWriteItem call")
    checked = {name: [_check(write) for write in writes] for name, writes in asked.items()}
    tables = {name: data_table(context, name) for name in asked}
    parts = [_Part(name, tables[name], _commands(tables[name], checked[name])) for name in asked]
    return Write(lambda tx: _run(tx, request, parts), reads=lambda: _reads(parts))


def _reads(parts: list[_Part]) -> list[bytes]:
    return [key for part in parts for each, _ in part.writes for key in store.reads(part.table, each.key)]


def _check(write: dict[str, Any]) -> tuple[Item, int | None]:
    """An item with its size, or a key with none."""
    if ("PutRequest" in write) == ("DeleteRequest" in write):
        # The service's own words for an element that is neither or both.
        raise Invalid(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes"
        )
    if "DeleteRequest" in write:
        return attribute_map(write["DeleteRequest"]["Key"], wording="coral"), None
    item, size = values.canonical_sized(write["PutRequest"]["Item"], wording="coral")
    mutation.refuse_large(size)
    return item, size


def _commands(table: Table, checked: list[tuple[Item, int | None]]) -> list[tuple[Command, Item]]:
    commands: list[tuple[Command, Item]] = []
    seen = set()
    for item, size in checked:
        key = _key(table, item, whole=size is not None)
        if key in seen:
            raise Invalid("Provided list of item keys contains duplicates")
        seen.add(key)
        if size is not None:
            indexes.check_index_keys(table, item)
        commands.append((Delete(key) if size is None else Put(key, item, size), item))
    return commands


def _key(table: Table, item: Item, *, whole: bool) -> bytes:
    if not whole:
        return primary_key.of_key(table, item)
    # A put's key is held to the words of a key here, not to those of an item.
    try:
        return primary_key.of_key(table, primary_key.key_of(table, item))
    except KeyError:
        raise Invalid(primary_key.KEY_MISMATCH) from None


def _run(tx: Transaction, request: dict[str, Any], parts: list[_Part]) -> bytes:
    members: dict[str, Any] = {"UnprocessedItems": {}}
    mode = request.get("ReturnConsumedCapacity", "NONE")
    wants_metrics = request.get("ReturnItemCollectionMetrics") == "SIZE"
    reports, metrics = [], {}
    for part in parts:
        table = catalogue.current(tx, part.table)
        if table is None:
            raise errors.not_found()
        reports.append(_write_all(tx, table, part).report(mode))
        if wants_metrics and table.local_indexes:
            metrics[part.name] = _metrics(tx, table, part)
    if mode != "NONE":
        members["ConsumedCapacity"] = reports
    if metrics:
        members["ItemCollectionMetrics"] = metrics
    return answers.body(members)


def _write_all(tx: Transaction, table: Table, part: _Part) -> Consumed:
    total = Consumed(table, part.name)
    for command, _ in part.writes:
        try:
            outcome = store.apply(tx, table, command)
        except store.CollectionFull:
            raise ApiError("ItemCollectionSizeLimitExceededException", "Collection size exceeded.") from None
        total.add(outcome.units)
        for change in outcome.index_changes:
            total.add_index(change.index, change.units)
    return total


def _metrics(tx: Transaction, table: Table, part: _Part) -> list[dict[str, Any]]:
    """One entry per item collection touched."""
    found: dict[bytes, tuple[Item, bytes]] = {}
    for command, item in part.writes:
        found.setdefault(store.collection_key(table, command.key), (item, command.key))
    return [answers.collection_metrics(tx, table, item, key) for item, key in found.values()]
