"""Requests as an application would send them: one structure for each operation, with the members that models need."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from hashrange.modeling.wire_values import WireItem, WireValue


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """A request; `members` are what boto3 takes as arguments, and what goes over the wire as JSON."""

    operation: ClassVar[str] = ""

    def members(self) -> dict[str, Any]:
        members: dict[str, Any] = msgspec.to_builtins(self)
        return members


class Expressed(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """What every structure with expressions has."""

    expression_attribute_names: dict[str, str] = {}
    expression_attribute_values: dict[str, WireValue] = {}


class GetItem(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "GetItem"
    table_name: str
    key: WireItem
    projection_expression: str | None = None
    consistent_read: bool = False


class KeysAndAttributes(Expressed, frozen=True, kw_only=True):
    """The keys of a batch in one table."""

    keys: list[WireItem]
    projection_expression: str | None = None
    consistent_read: bool = False


class BatchGetItem(ApiRequest, frozen=True, kw_only=True):
    operation = "BatchGetItem"
    request_items: dict[str, KeysAndAttributes]


class TransactGet(Expressed, frozen=True, kw_only=True):
    """One item of a transaction."""

    table_name: str
    key: WireItem
    projection_expression: str | None = None


class TransactGetItem(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    get: TransactGet


class TransactGetItems(ApiRequest, frozen=True, kw_only=True):
    operation = "TransactGetItems"
    transact_items: list[TransactGetItem]


class Scan(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "Scan"
    table_name: str
    index_name: str | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    consistent_read: bool = False


class Query(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "Query"
    table_name: str
    index_name: str | None = None
    key_condition_expression: str
    filter_expression: str | None = None
    projection_expression: str | None = None
    select: str | None = None
    scan_index_forward: bool = True
    limit: int | None = None
    consistent_read: bool = False


class PutItem(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "PutItem"
    table_name: str
    item: WireItem
    condition_expression: str | None = None


class UpdateItem(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "UpdateItem"
    table_name: str
    key: WireItem
    update_expression: str | None = None
    condition_expression: str | None = None


class DeleteItem(ApiRequest, Expressed, frozen=True, kw_only=True):
    operation = "DeleteItem"
    table_name: str
    key: WireItem
    condition_expression: str | None = None


class ConditionCheck(ApiRequest, Expressed, frozen=True, kw_only=True):
    """Only in transactions."""

    operation = "ConditionCheck"
    table_name: str
    key: WireItem
    condition_expression: str


WriteRequest = PutItem | UpdateItem | DeleteItem | ConditionCheck


class TransactWriteItem(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """One of the four."""

    put: PutItem | None = None
    update: UpdateItem | None = None
    delete: DeleteItem | None = None
    condition_check: ConditionCheck | None = None


class TransactWriteItems(ApiRequest, frozen=True, kw_only=True):
    operation = "TransactWriteItems"
    transact_items: list[TransactWriteItem]
    client_request_token: str | None = None


class PutRequest(msgspec.Struct, frozen=True, rename="pascal"):
    item: WireItem


class DeleteRequest(msgspec.Struct, frozen=True, rename="pascal"):
    key: WireItem


class BatchWrite(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """One of the two."""

    put_request: PutRequest | None = None
    delete_request: DeleteRequest | None = None


class BatchWriteItem(ApiRequest, frozen=True, kw_only=True):
    operation = "BatchWriteItem"
    request_items: dict[str, list[BatchWrite]]
