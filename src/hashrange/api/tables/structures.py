"""Structures that the table operations share, members in the order in which the service checks them."""

from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.protocol.kinds import Whole
from hashrange.api.protocol.structures import Long, NewName, Structure
from hashrange.core.limits import KEY_ATTRIBUTE_NAME_CHARS_MAX, PROJECTED_ATTRIBUTES_PER_INDEX_MAX

AttributeName = Annotated[str, Meta(min_length=1, max_length=KEY_ATTRIBUTE_NAME_CHARS_MAX)]
BillingMode = Literal["PROVISIONED", "PAY_PER_REQUEST"]
CapacityUnits = Annotated[int, Meta(ge=1, le=2**63 - 1), Whole(least=1, java="Long")]


class AttributeDefinition(Structure, kw_only=True):
    """The type of a key attribute."""

    attribute_type: Literal["B", "N", "S"]
    attribute_name: AttributeName


class KeySchemaElement(Structure, kw_only=True):
    """One attribute of a key."""

    attribute_name: AttributeName
    key_type: Literal["HASH", "RANGE"]


# Two elements make a table's or a local index's key; a global index may have more.
PairKeySchema = Annotated[list[KeySchemaElement], Meta(min_length=1, max_length=2)]
KeySchema = Annotated[list[KeySchemaElement], Meta(min_length=1)]


class ProvisionedThroughput(Structure, kw_only=True):
    """Units per second that are paid for whether they are used or not."""

    write_capacity_units: CapacityUnits
    read_capacity_units: CapacityUnits


class OnDemandThroughput(Structure, kw_only=True):
    """Ceilings on what is consumed per second; -1 takes one away."""

    max_read_request_units: Long | None = None
    max_write_request_units: Long | None = None


class WarmThroughput(Structure, kw_only=True):
    """What can be served at once."""

    read_units_per_second: Long | None = None
    write_units_per_second: Long | None = None


class Projection(Structure, kw_only=True):
    """What an index copies."""

    projection_type: Literal["ALL", "INCLUDE", "KEYS_ONLY"] | None = None
    non_key_attributes: (
        Annotated[list[AttributeName], Meta(min_length=1, max_length=PROJECTED_ATTRIBUTES_PER_INDEX_MAX)]
        | None
    ) = None


class LocalSecondaryIndex(Structure, kw_only=True):
    """A local index of a new table."""

    index_name: NewName
    key_schema: PairKeySchema
    projection: Projection


class GlobalSecondaryIndex(Structure, kw_only=True):
    """A global index of a new table."""

    index_name: NewName
    key_schema: KeySchema
    projection: Projection
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughput | None = None


class CreateGlobalSecondaryIndexAction(GlobalSecondaryIndex, kw_only=True):
    """A global index to add to a live table."""


class UpdateGlobalSecondaryIndexAction(Structure, kw_only=True):
    """A global index to change."""

    index_name: NewName
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughput | None = None


class DeleteGlobalSecondaryIndexAction(Structure, kw_only=True):
    """A global index to delete."""

    index_name: NewName


class GlobalSecondaryIndexUpdate(Structure, kw_only=True):
    """One of the three."""

    update: UpdateGlobalSecondaryIndexAction | None = None
    create: CreateGlobalSecondaryIndexAction | None = None
    delete: DeleteGlobalSecondaryIndexAction | None = None


class StreamSpecification(Structure, kw_only=True):
    """Whether changes are recorded, and what of them."""

    stream_enabled: bool
    stream_view_type: Literal["OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"] | None = None


class SSESpecification(Structure, kw_only=True):
    """The key that the table is encrypted with."""

    enabled: bool | None = None
    sse_type: Literal["AES256", "KMS"] | None = None
    kms_master_key_id: Annotated[str, Meta(min_length=1)] | None = None


class Tag(Structure, kw_only=True):
    """A tag; the tagging service words its own errors about key and value."""

    key: str | None = None
    value: str | None = None
