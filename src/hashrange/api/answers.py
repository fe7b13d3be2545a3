"""Parts of answers that several item operations share."""

from typing import Any

import orjson

from hashrange.core.capacity import Consumed
from hashrange.core.mutation import Outcome
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Reader

Request = dict[str, Any]
EMPTY = b"{}"
_GB = 1024**3


def body(members: dict[str, Any]) -> bytes:
    """An answer from its members."""
    return orjson.dumps(members) if members else EMPTY


def pasted(members: list[bytes]) -> bytes:
    """An answer from members that are JSON already."""
    return b"{" + b",".join(members) + b"}"


def wants_capacity(request: Request) -> bool:
    """Whether the answer reports units."""
    return bool(request.get("ReturnConsumedCapacity", "NONE") != "NONE")


def written(table: Table, name: str, outcome: Outcome) -> Consumed:
    """The units of one write."""
    consumed = Consumed(table, name, float(outcome.units))
    for change in outcome.index_changes:
        consumed.add_index(change.index, change.units)
    return consumed


def collection_metrics(reader: Reader, table: Table, key: Item, key_bytes: bytes) -> dict[str, Any]:
    """ItemCollectionMetrics: the collection's key and the whole gigabytes its size lies between."""
    low = store.collection_size(reader, table, key_bytes) // _GB
    return {
        "ItemCollectionKey": {table.hash.name: key[table.hash.name]},
        "SizeEstimateRangeGB": [float(low), float(low + 1)],
    }


def write_members(
    reader: Reader, request: Request, table: Table, outcome: Outcome, key: Item, key_bytes: bytes
) -> dict[str, Any]:
    """The members that report on a single-item write."""
    members: dict[str, Any] = {}
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if mode != "NONE":
        members["ConsumedCapacity"] = written(table, request["TableName"], outcome).report(mode)
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and table.local_indexes:
        members["ItemCollectionMetrics"] = collection_metrics(reader, table, key, key_bytes)
    return members
