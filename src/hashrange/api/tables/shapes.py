"""Shapes of the members that table operations share, in the order in which the service checks them."""

from collections.abc import Iterator
from typing import Any

from hashrange.api.kinds import Flag, ListOf, Member, Struct, Text, Violation, Whole
from hashrange.api.shapes import NAME_PATTERN, text_choices
from hashrange.core.limits import (
    KEY_ATTRIBUTE_NAME_CHARS_MAX,
    NAME_CHARS_MAX,
    NAME_CHARS_MIN,
    PROJECTED_ATTRIBUTES_PER_INDEX_MAX,
)


class Name(Text):
    """A table's or an index's name: its length is complained about before its characters."""

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        found = Text.violations(self, value, path)
        yield from sorted(found, key=lambda violation: "pattern" in violation[2])


class NameOrArn(Name):
    """A table's name or its ARN; an ARN is looked at when the table is looked up."""

    def fits(self, raw: Any) -> bool:
        return Name.fits(self, raw) or (type(raw) is str and raw.startswith("arn:"))

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        return iter(()) if value.startswith("arn:") else Name.violations(self, value, path)


NAME = Name(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=NAME_PATTERN)
NAME_OR_ARN = NameOrArn(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=NAME_PATTERN)
TABLE_NAME = Member(NAME_OR_ARN, required=True)
BILLING_MODE = text_choices("PROVISIONED", "PAY_PER_REQUEST")
_ATTRIBUTE_NAME = Text(least=1, most=KEY_ATTRIBUTE_NAME_CHARS_MAX)
_LONG = Whole(java="Long")

ATTRIBUTE_DEFINITIONS = ListOf(
    Struct(
        "AttributeDefinition",
        {
            "AttributeType": Member(text_choices("B", "N", "S"), required=True),
            "AttributeName": Member(_ATTRIBUTE_NAME, required=True),
        },
    )
)


def key_schema(most: int | None) -> ListOf:
    """A key schema of at most so many elements."""
    element = Struct(
        "KeySchemaElement",
        {
            "AttributeName": Member(_ATTRIBUTE_NAME, required=True),
            "KeyType": Member(text_choices("HASH", "RANGE"), required=True),
        },
    )
    return ListOf(element, least=1, most=most)


def _capacity_units() -> Member:
    return Member(Whole(least=1, java="Long"), required=True)


PROVISIONED_THROUGHPUT = Struct(
    "ProvisionedThroughput",
    {"WriteCapacityUnits": _capacity_units(), "ReadCapacityUnits": _capacity_units()},
    as_member=True,
)
ON_DEMAND_THROUGHPUT = Struct(
    "OnDemandThroughput",
    {"MaxReadRequestUnits": Member(_LONG), "MaxWriteRequestUnits": Member(_LONG)},
    as_member=True,
)
WARM_THROUGHPUT = Struct(
    "WarmThroughput",
    {"ReadUnitsPerSecond": Member(_LONG), "WriteUnitsPerSecond": Member(_LONG)},
    as_member=True,
)
PROJECTION = Struct(
    "Projection",
    {
        "ProjectionType": Member(text_choices("ALL", "INCLUDE", "KEYS_ONLY")),
        "NonKeyAttributes": Member(ListOf(_ATTRIBUTE_NAME, least=1, most=PROJECTED_ATTRIBUTES_PER_INDEX_MAX)),
    },
    as_member=True,
)
INDEX_THROUGHPUT = {
    "ProvisionedThroughput": Member(PROVISIONED_THROUGHPUT),
    "OnDemandThroughput": Member(ON_DEMAND_THROUGHPUT),
    "WarmThroughput": Member(WARM_THROUGHPUT),
}


def index_members(most_keys: int | None) -> dict[str, Member]:
    """The members that define any secondary index."""
    return {
        "IndexName": Member(NAME, required=True),
        "KeySchema": Member(key_schema(most_keys), required=True),
        "Projection": Member(PROJECTION, required=True),
    }


STREAM_SPECIFICATION = Struct(
    "StreamSpecification",
    {
        "StreamEnabled": Member(Flag(), required=True),
        "StreamViewType": Member(text_choices("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE")),
    },
    as_member=True,
)
SSE_SPECIFICATION = Struct(
    "SSESpecification",
    {
        "Enabled": Member(Flag()),
        "SSEType": Member(text_choices("AES256", "KMS")),
        "KMSMasterKeyId": Member(Text(least=1)),
    },
    as_member=True,
)
# The tagging service words its own errors about a tag's key and value.
TAGS = ListOf(Struct("Tag", {"Key": Member(Text()), "Value": Member(Text())}))
