"""Results as JSON: the one room where DynamoDB's answers get their bytes. Stored items are pasted, not decoded."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, cast

import msgspec
import orjson

from hashrange.api.items.batch_get_item import BatchGetItem, BatchRead, Unread
from hashrange.api.items.batch_write_item import BatchWriteItem, BatchWritten
from hashrange.api.items.delete_item import DeleteItem
from hashrange.api.items.get_item import GetItem
from hashrange.api.items.put_item import PutItem
from hashrange.api.items.query import Query
from hashrange.api.items.scan import Scan
from hashrange.api.items.sent_puts import SentBatchWriteItem, SentPutItem
from hashrange.api.items.update_item import UpdateItem
from hashrange.api.results import (
    Described,
    ItemRead,
    ItemsRead,
    ItemsWritten,
    ItemWritten,
    KeyQueried,
    PageRead,
    PlainWritten,
)
from hashrange.api.transactions.run import Replayed
from hashrange.api.transactions.transact_get_items import TransactGetItems
from hashrange.api.transactions.transact_write_items import TransactWriteItems
from hashrange.core.items import HEADER_BYTES, stored_json
from hashrange.core.values import Item
from hashrange.storage.pages import Page
from hashrange.wire import capacity_reports
from hashrange.wire.capacity_reports import Consumed, ConsumedCapacity, ItemCollectionMetrics, UnitKind

EMPTY = b"{}"
_ROWS_APART_MAX = 64

_encode = msgspec.json.Encoder().encode

Renderer = Callable[[Any, Any], bytes]


class _Written(TypedDict, total=False):
    ConsumedCapacity: ConsumedCapacity
    ItemCollectionMetrics: ItemCollectionMetrics
    Attributes: Item


class WriteReports(TypedDict, total=False):
    """What a batch or a transaction of writes has consumed and touched."""

    ConsumedCapacity: list[ConsumedCapacity]
    ItemCollectionMetrics: dict[str, list[ItemCollectionMetrics]]


def described(_request: object, result: Described) -> bytes:
    """A structure of the service's model."""
    return b"" if result.body is None else _encode(result.body)


def pasted(members: Sequence[bytes]) -> bytes:
    """An answer from members that are JSON already."""
    return b"{" + b",".join(members) + b"}"


def item_read(request: GetItem, result: ItemRead) -> bytes:
    """GetItem."""
    stored = result.stored
    mode = request.return_consumed_capacity
    if mode is None and result.picked is None:
        return EMPTY if stored is None else b'{"Item":' + stored[HEADER_BYTES:] + b"}"
    members = [] if stored is None else [b'"Item":' + item(result)]
    if mode is not None and mode != "NONE":
        members.append(b'"ConsumedCapacity":' + orjson.dumps(capacity_reports.of_one(result, mode)))
    return pasted(members)


def item(result: ItemRead) -> bytes:
    """The item, or the part of it that was asked for."""
    if result.picked is not None:
        return result.picked
    return EMPTY if result.stored is None else stored_json(result.stored)


def item_written(
    request: PutItem | SentPutItem | UpdateItem | DeleteItem, result: ItemWritten | PlainWritten
) -> bytes:
    """PutItem, UpdateItem and DeleteItem."""
    mode = request.return_consumed_capacity
    if mode is None and not result.attributes and result.collection is None:
        return EMPTY
    members: _Written = {}
    if mode is not None and mode != "NONE":
        members["ConsumedCapacity"] = capacity_reports.of_one(result, mode)
    if result.collection is not None:
        members["ItemCollectionMetrics"] = capacity_reports.collection(result.collection)
    if result.attributes:
        members["Attributes"] = result.attributes
    return orjson.dumps(members)


def page_read(request: Query | Scan, result: PageRead | KeyQueried) -> bytes:
    """Query and Scan."""
    report, mode = b"", request.return_consumed_capacity
    if mode is not None and mode != "NONE":
        report = b',"ConsumedCapacity":' + orjson.dumps(capacity_reports.of_one(result, mode))
    if type(result) is KeyQueried:
        stored = result.stored
        if stored is None:
            return b'{"Items":[],"Count":0,"ScannedCount":0' + report + b"}"
        return b"".join((b'{"Items":[', stored[HEADER_BYTES:], b'],"Count":1,"ScannedCount":1', report, b"}"))
    page = cast("PageRead", result).page
    if request.select == "COUNT":
        return b"{" + _counts(page) + report + b"}"
    return b"".join((b'{"Items":[', *rows(page), b"],", _counts(page), report, b"}"))


def rows(page: Page) -> list[bytes]:
    """The items of a page, by commas, in pieces to be joined."""
    if len(page.rows) > _ROWS_APART_MAX:
        return [b",".join(page.rows)]
    # Each may be large, and would be copied once more if they were joined by themselves first.
    return _by_commas(page.rows)


def _by_commas(rows: Sequence[bytes]) -> list[bytes]:
    pieces = [b","] * max(0, 2 * len(rows) - 1)
    pieces[::2] = rows
    return pieces


def _counts(page: Page) -> bytes:
    last = b"" if page.last is None else b',"LastEvaluatedKey":' + orjson.dumps(page.last)
    return b'"Count":%d,"ScannedCount":%d%b' % (page.count, page.scanned, last)


def batch_read(request: BatchGetItem, result: BatchRead) -> bytes:
    """BatchGetItem."""
    tables: dict[str, list[bytes]] = {name: [] for name in result.tables}
    for read in result.items:
        stored = read.stored
        if stored is not None:
            # As by `item`, without two calls for each of a hundred.
            tables[read.table_name].append(stored[HEADER_BYTES:] if read.picked is None else read.picked)
    unread = {name: _unread(left) for name, left in result.unread.items()}
    # All that was read may be 28 MB: it is put together once.
    pieces = [b'{"Responses":{']
    for name, items in tables.items():
        pieces += (b"" if len(pieces) == 1 else b",", orjson.dumps(name), b":[", *_by_commas(items), b"]")
    pieces += (b'},"UnprocessedKeys":', orjson.dumps(unread))
    mode = request.return_consumed_capacity
    if mode is not None and mode != "NONE":
        pieces += (b',"ConsumedCapacity":', orjson.dumps(_batch_reports(result, mode)))
    return b"".join((*pieces, b"}"))


def _batch_reports(result: BatchRead, mode: str) -> list[ConsumedCapacity]:
    """A report for each table, also for one of which nothing was read."""
    consumed = {name: Consumed(table, name) for name, table in result.tables.items()}
    for read in result.items:
        consumed[read.table_name].add(read)
    return [table.report(mode) for table in consumed.values()]


def _unread(left: Unread) -> dict[str, object]:
    return {**_without_absent(msgspec.to_builtins(left.request)), "Keys": left.keys}


def _without_absent(members: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def batch_written(request: BatchWriteItem | SentBatchWriteItem, result: BatchWritten) -> bytes:
    """BatchWriteItem."""
    unwritten = {
        name: [_without_absent(msgspec.to_builtins(write)) for write in writes]
        for name, writes in result.unwritten.items()
    }
    return orjson.dumps({"UnprocessedItems": unwritten, **_write_reports(request, result, None)})


def _write_reports(
    request: BatchWriteItem | SentBatchWriteItem | TransactWriteItems,
    result: ItemsWritten,
    kind: UnitKind | None,
) -> WriteReports:
    members: WriteReports = {}
    mode = request.return_consumed_capacity
    if mode is not None and mode != "NONE":
        members["ConsumedCapacity"] = capacity_reports.by_table(result.items, mode, kind)
    if request.return_item_collection_metrics == "SIZE":
        collections = capacity_reports.collections(result.items)
        if collections:
            members["ItemCollectionMetrics"] = collections
    return members


def transaction_read(request: TransactGetItems, result: ItemsRead) -> bytes:
    """TransactGetItems."""
    # An item of which the projection keeps nothing is left out like one that is missing (measured).
    responses = [
        EMPTY if read.stored is None or read.picked == EMPTY else _response(read) for read in result.items
    ]
    return pasted(_transaction_members(responses, result.items, request.return_consumed_capacity))


def transaction_responses(items: Sequence[ItemRead], mode: str | None) -> list[bytes]:
    """Responses, in which a missing item is an empty element, and the units consumed."""
    responses = [EMPTY if read.stored is None else _response(read) for read in items]
    return _transaction_members(responses, items, mode)


def _response(read: ItemRead) -> bytes:
    return b'{"Item":' + item(read) + b"}"


def _transaction_members(
    responses: Sequence[bytes], items: Sequence[ItemRead], mode: str | None
) -> list[bytes]:
    members = [b'"Responses":[' + b",".join(responses) + b"]"]
    if mode is not None and mode != "NONE":
        reports = capacity_reports.by_table(items, mode, "Read")
        members.append(b'"ConsumedCapacity":' + orjson.dumps(reports))
    return members


def transaction_written(request: TransactWriteItems, result: ItemsWritten | Replayed) -> bytes:
    """TransactWriteItems."""
    if isinstance(result, Replayed):
        return orjson.dumps(replayed(result, request.return_consumed_capacity))
    return orjson.dumps(_write_reports(request, result, "Write"))


def replayed(result: Replayed, mode: str | None) -> WriteReports:
    """The members of the answer to a transaction that was written before."""
    if mode is None or mode == "NONE":
        return {}
    tables: dict[str, Consumed] = {}
    for action, charge in zip(result.actions, result.charges(), strict=True):
        consumed = tables.setdefault(action.name, Consumed(action.table, action.name, "Read"))
        consumed.add_charge(charge)
    return {"ConsumedCapacity": [consumed.report(mode) for consumed in tables.values()]}
