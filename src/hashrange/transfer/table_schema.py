"""A table's keys and indexes, as a description or a request has them, and the table made from them."""

import re
import time
from typing import Any, Literal

import msgspec

from hashrange.core.schema import Index, KeyAttribute, ScalarType, Table
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.errors import BadArguments, EndpointError, TransferError

_KEY = re.compile(r"(?P<name>.+):(?P<type>[SNB])", re.DOTALL)
_ACTIVE_SECONDS = 600.0
_POLL_SECONDS = 0.2


class AttributeDefinition(msgspec.Struct, frozen=True, rename="pascal"):
    """The type of a key attribute."""

    attribute_name: str
    attribute_type: ScalarType


class KeyElement(msgspec.Struct, frozen=True, rename="pascal"):
    """An attribute of a key."""

    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class Units(msgspec.Struct, frozen=True, rename="pascal"):
    """Provisioned capacity; zero on demand."""

    read_capacity_units: int = 0
    write_capacity_units: int = 0


class IndexProjection(msgspec.Struct, frozen=True, rename="pascal", omit_defaults=True):
    """What an index has of the items."""

    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    non_key_attributes: list[str] = []


class SecondaryIndex(msgspec.Struct, frozen=True, rename="pascal", omit_defaults=True):
    """An index of either kind."""

    index_name: str
    key_schema: list[KeyElement]
    projection: IndexProjection
    provisioned_throughput: Units | None = None


class _Billing(msgspec.Struct, frozen=True, rename="pascal"):
    billing_mode: str = "PROVISIONED"


class TableSchema(msgspec.Struct, frozen=True, rename="pascal", omit_defaults=True):
    """What CreateTable needs, and what DescribeTable answers; members that are not here are left behind."""

    attribute_definitions: list[AttributeDefinition]
    key_schema: list[KeyElement]
    local_secondary_indexes: list[SecondaryIndex] = []
    global_secondary_indexes: list[SecondaryIndex] = []
    provisioned_throughput: Units | None = None
    billing_mode: str | None = None
    billing_mode_summary: _Billing | None = None

    @property
    def is_on_demand(self) -> bool:
        """Whether the table has no provisioned capacity."""
        mode = self.billing_mode or (self.billing_mode_summary and self.billing_mode_summary.billing_mode)
        units = self.provisioned_throughput
        return mode == "PAY_PER_REQUEST" or units is None or not units.read_capacity_units

    @property
    def keys(self) -> list[KeyAttribute]:
        """The partition key, then the sort key if there is one."""
        return self.attributes(self.key_schema)

    def attributes(self, elements: list[KeyElement]) -> list[KeyAttribute]:
        """Key attributes with their types, partition keys first."""
        types = {known.attribute_name: known.attribute_type for known in self.attribute_definitions}
        ordered = sorted(elements, key=lambda element: element.key_type)
        return [KeyAttribute(element.attribute_name, types[element.attribute_name]) for element in ordered]

    def request(self) -> dict[str, Any]:
        """The members of CreateTable."""
        replaced = msgspec.structs.replace(
            self,
            billing_mode="PAY_PER_REQUEST" if self.is_on_demand else "PROVISIONED",
            billing_mode_summary=None,
            provisioned_throughput=None if self.is_on_demand else self.provisioned_throughput,
            local_secondary_indexes=[_without_units(index) for index in self.local_secondary_indexes],
            global_secondary_indexes=[
                _without_units(index) if self.is_on_demand else index
                for index in self.global_secondary_indexes
            ],
        )
        members: dict[str, Any] = msgspec.to_builtins(replaced)
        return members

    def table(self, name: str) -> Table:
        """The record by which items are checked before they are sent."""
        keys = self.keys
        return Table(
            account_id="",
            region="",
            name=name,
            number=0,
            version=0,
            table_id="",
            created_at=0.0,
            hash=keys[0],
            range=keys[1] if len(keys) > 1 else None,
            indexes=tuple(
                self._index(index, local=index in self.local_secondary_indexes)
                for index in self.local_secondary_indexes + self.global_secondary_indexes
            ),
        )

    def _index(self, index: SecondaryIndex, *, local: bool) -> Index:
        hashes = [element for element in index.key_schema if element.key_type == "HASH"]
        ranges = [element for element in index.key_schema if element.key_type == "RANGE"]
        return Index(
            name=index.index_name,
            slot=0,
            local=local,
            hash=tuple(self.attributes(hashes)),
            range=tuple(self.attributes(ranges)),
        )


def _without_units(index: SecondaryIndex) -> SecondaryIndex:
    return msgspec.structs.replace(index, provisioned_throughput=None)


def of_flag(text: str) -> TableSchema:
    """The schema of `--key pk:S,sk:N`."""
    matches = [_KEY.fullmatch(word) for word in text.split(",")]
    if not 1 <= len(matches) <= 2 or None in matches:
        raise BadArguments(
            f"--key {text}: it is NAME:TYPE or NAME:TYPE,NAME:TYPE, with S, N or B as the type"
        )
    names = [(match["name"], match["type"]) for match in matches if match]
    return _converted(
        {
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in names],
            "KeySchema": [
                {"AttributeName": name, "KeyType": kind}
                for (name, _), kind in zip(names, ("HASH", "RANGE"), strict=False)
            ],
            "BillingMode": "PAY_PER_REQUEST",
        }
    )


def of_json(text: bytes, name: str) -> TableSchema:
    """The schema in a file: a request of CreateTable, or what `aws dynamodb describe-table` prints."""
    try:
        members = msgspec.json.decode(text)
        if isinstance(members, dict) and isinstance(members.get("Table"), dict):
            members = members["Table"]
        return _converted(members)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TransferError) as error:
        raise TransferError(f"{name} is no description of a table: {error}") from None


def of_description(description: dict[str, Any]) -> TableSchema:
    """The schema in an answer of DescribeTable."""
    return _converted(description)


def _converted(members: Any) -> TableSchema:
    try:
        schema = msgspec.convert(members, TableSchema)
        for elements in (
            schema.key_schema,
            *(index.key_schema for index in schema.local_secondary_indexes + schema.global_secondary_indexes),
        ):
            schema.attributes(elements)
    except msgspec.ValidationError as error:
        raise TransferError(str(error)) from None
    except KeyError as error:
        raise TransferError(f"the attribute {error} of a key has no definition") from None
    if [element.key_type for element in schema.key_schema][:1] != ["HASH"] or len(schema.key_schema) > 2:
        raise TransferError("the key schema is not a partition key and perhaps a sort key")
    return schema


def describe(endpoint: Endpoint) -> dict[str, Any] | None:
    """DescribeTable's answer, or None if there is no such table."""
    try:
        description: dict[str, Any] = endpoint.call("describe_table", TableName=endpoint.table)["Table"]
    except EndpointError as error:
        if error.code != "ResourceNotFoundException":
            raise
        return None
    return description


def wait_until_active(endpoint: Endpoint) -> dict[str, Any]:
    """Wait for the table and its indexes; gives the description."""
    deadline = time.monotonic() + _ACTIVE_SECONDS
    while time.monotonic() < deadline:
        description = describe(endpoint)
        if description is not None and description["TableStatus"] == "ACTIVE":
            return description
        endpoint.stop.sleep(_POLL_SECONDS)
    raise TransferError(f"{endpoint.place.description} does not become ACTIVE")


def ensure_table(endpoint: Endpoint, schema: TableSchema | None) -> TableSchema:
    """Make the table if there is none; what is there must have the same key."""
    description = describe(endpoint)
    if description is None:
        if schema is None:
            raise TransferError(
                f"there is no table {endpoint.place.description}: say with --key NAME:TYPE,NAME:TYPE "
                "or --schema FILE what to create"
            )
        endpoint.call("create_table", TableName=endpoint.table, **schema.request())
        wait_until_active(endpoint)
        return schema
    existing = of_description(wait_until_active(endpoint))
    if schema is not None and schema.keys != existing.keys:
        raise TransferError(
            f"the table {endpoint.place.description} has the key {_shown(existing)}, not {_shown(schema)}"
        )
    return existing


def _shown(schema: TableSchema) -> str:
    return ",".join(f"{key.name}:{key.type}" for key in schema.keys)
