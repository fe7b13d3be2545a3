"""The table of DynamoDB's operations. A row is all that the rest of the house needs to know of one."""

from collections.abc import Iterable
from typing import Any

from hashrange.api.items import (
    batch_get_item,
    batch_write_item,
    delete_item,
    get_item,
    put_item,
    query,
    scan,
    update_item,
)
from hashrange.api.protocol.operation import Operation, Service
from hashrange.api.transactions import transact_get_items, transact_write_items


def _one_table(request: Any) -> Iterable[str]:
    return (request.table_name,)


def _batch_tables(request: Any) -> Iterable[str]:
    return request.request_items or ()


def _transaction_tables(request: Any) -> Iterable[str]:
    for element in request.transact_items:
        for field in element.__struct_fields__:
            action = getattr(element, field)
            if action is not None:
                yield action.table_name


def _nothing(_: Any) -> Iterable[str]:
    return ()


OPERATIONS = (
    Operation("BatchGetItem", batch_get_item.SHAPE, batch_get_item.batch_get_item, kind="read", resources=_batch_tables),
    Operation("BatchWriteItem", batch_write_item.SHAPE, batch_write_item.batch_write_item, kind="write", resources=_batch_tables),
    Operation("DeleteItem", delete_item.SHAPE, delete_item.delete_item, kind="write", resources=_one_table),
    Operation("GetItem", get_item.SHAPE, get_item.get_item, kind="read", resources=_one_table),
    Operation("PutItem", put_item.SHAPE, put_item.put_item, kind="write", resources=_one_table),
    Operation("Query", query.SHAPE, query.query, kind="read", resources=_one_table),
    Operation("Scan", scan.SHAPE, scan.scan, kind="read", resources=_one_table),
    Operation("TransactGetItems", transact_get_items.SHAPE, transact_get_items.transact_get_items, kind="read", resources=_transaction_tables),
    Operation("TransactWriteItems", transact_write_items.SHAPE, transact_write_items.transact_write_items, kind="write", resources=_transaction_tables),
    Operation("UpdateItem", update_item.SHAPE, update_item.update_item, kind="write", resources=_one_table),
)

DYNAMODB = Service(
    "dynamodb",
    "DynamoDB_20120810.",
    "com.amazonaws.dynamodb.v20120810#",
    {operation.name: operation for operation in OPERATIONS},
)
