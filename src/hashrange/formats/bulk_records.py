"""Bulk put: records with an item and, if the writer likes, a condition; reports of those that were not put.

The service's own member names and report layout are not published; those of PutItem and of imports are used.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
import orjson

from hashrange.core import values
from hashrange.core.errors import Refused
from hashrange.core.mutation import PutCommand
from hashrange.core.schema import Table
from hashrange.core.values import Item, Malformed
from hashrange.formats.compression import Compression, unpacked
from hashrange.formats.errors import Garbage, ItemPointer, Rejection
from hashrange.formats.readers import typed_records
from hashrange.formats.records import MALFORMED, Record, Unread, item_of, put_command

_WRONG_MEMBER = "The member {} of the record does not have the type that it has in PutItem"

ReportType = Literal["ERROR", "CONDITION_CHECK_FAILURE"]
_FOLDERS: dict[ReportType, str] = {
    "ERROR": "errors",
    "CONDITION_CHECK_FAILURE": "condition-check-failures",
}


class BulkRecord(msgspec.Struct, frozen=True):
    """An item to be put, and the condition as it was written: whoever runs it resolves it as PutItem does."""

    index: int
    command: PutCommand
    condition_expression: str | None = None
    expression_attribute_names: dict[str, str] | None = None
    expression_attribute_values: Item | None = None


def bulk_records(
    chunks: Iterable[bytes],
    input_format: Literal["DYNAMODB_JSON", "ION"],
    compression: Compression,
    table: Table,
) -> Iterator[BulkRecord | Rejection]:
    """What an object asks for, and what is wrong with it; as in imports, garbage ends the object."""
    index = 0
    try:
        for record in typed_records(unpacked(chunks, compression), input_format):
            index = record.index
            yield _bulk_record(record, table)
            index += 1
    except Garbage as garbage:
        yield Rejection(index, garbage.message, stops=True)


def _bulk_record(record: Record | Unread, table: Table) -> BulkRecord | Rejection:
    if isinstance(record, Unread):
        return Rejection(record.index, record.message)
    members = record.members
    try:
        return BulkRecord(
            record.index,
            put_command(table, item_of(record)),
            _text(members, "ConditionExpression"),
            _texts(members, "ExpressionAttributeNames"),
            _values(members, "ExpressionAttributeValues"),
        )
    except Refused as refused:
        return Rejection(record.index, refused.message)
    except Malformed:
        raise Garbage(MALFORMED) from None


def _text(members: dict[str, Any], name: str) -> str | None:
    text = members.get(name)
    if text is not None and type(text) is not str:
        raise Garbage(_WRONG_MEMBER.format(name))
    return text


def _texts(members: dict[str, Any], name: str) -> dict[str, str] | None:
    texts = members.get(name)
    if texts is None:
        return None
    if type(texts) is not dict or not all(type(text) is str for text in texts.values()):
        raise Garbage(_WRONG_MEMBER.format(name))
    return texts


def _values(members: dict[str, Any], name: str) -> Item | None:
    raw = members.get(name)
    return None if raw is None else values.canonical_item(raw)


def report_folder(prefix: str | None, operation_id: str, report: ReportType) -> str:
    """What the keys of a report's files begin with; its manifest is one folder above."""
    top = (prefix or "").rstrip("/")
    folder = f"AWSDynamoDB/{operation_id}/{_FOLDERS[report]}/"
    return f"{top}/{folder}" if top else folder


def error_line(operation_arn: str, bucket: str, key: str, rejection: Rejection) -> bytes:
    """A line of the report of records that could not be processed."""
    line = {
        "itemS3Pointer": msgspec.to_builtins(ItemPointer(bucket, key, rejection.index)),
        "bulkOperationArn": operation_arn,
        "errorMessages": [rejection.message],
    }
    return orjson.dumps(line) + b"\n"


def condition_failure_line(pointer: ItemPointer, item: Item, existing: Item | None) -> bytes:
    """A line of the report of items whose condition did not hold, with the item that is there, if there is one."""
    line: dict[str, object] = {"itemS3Pointer": msgspec.to_builtins(pointer), "Item": item}
    if existing is not None:
        line["ExistingItem"] = existing
    return orjson.dumps(line) + b"\n"
