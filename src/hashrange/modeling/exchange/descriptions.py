"""Tables as the API describes them (CreateTable, DescribeTable, CloudFormation), and the model's tables from that.

What a description has beyond these members is left out; what it lacks has the service's default.
"""

from typing import Literal, TypeVar

import msgspec

from hashrange.modeling.exchange.scaling_reading import bounded
from hashrange.modeling.model import Index, KeyAttribute, Scaling, Table
from hashrange.modeling.problems import refused

Described = TypeVar("Described")
KeyType = Literal["S", "N", "B"]
View = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


class _Members(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """What all parts have in common: their names are the API's."""


class AttributeDefinition(_Members, frozen=True, kw_only=True):
    attribute_name: str
    attribute_type: KeyType


class KeySchemaElement(_Members, frozen=True, kw_only=True):
    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class Projection(_Members, frozen=True, kw_only=True):
    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    non_key_attributes: list[str] = []


class SecondaryIndex(_Members, frozen=True, kw_only=True):
    index_name: str
    key_schema: list[KeySchemaElement]
    projection: Projection = Projection()


class Throughput(_Members, frozen=True, kw_only=True):
    read_capacity_units: int = 1
    write_capacity_units: int = 1


class TargetTracking(_Members, frozen=True, kw_only=True):
    target_value: float = 70.0


class CapacityAutoScalingSettings(_Members, frozen=True, kw_only=True):
    min_capacity: int = 1
    max_capacity: int = 1
    target_tracking_scaling_policy_configuration: TargetTracking = TargetTracking()

    @property
    def scaling(self) -> Scaling:
        target = self.target_tracking_scaling_policy_configuration.target_value
        return bounded(self.min_capacity, self.max_capacity, target)


class WriteSettings(_Members, frozen=True, kw_only=True):
    write_capacity_auto_scaling_settings: CapacityAutoScalingSettings | None = None


class ReadSettings(_Members, frozen=True, kw_only=True):
    read_capacity_auto_scaling_settings: CapacityAutoScalingSettings | None = None


class StreamSpecification(_Members, frozen=True, kw_only=True):
    stream_enabled: bool = True
    stream_view_type: View | None = None


class TimeToLiveSpecification(_Members, frozen=True, kw_only=True):
    enabled: bool = True
    attribute_name: str | None = None


class PointInTimeRecoverySpecification(_Members, frozen=True, kw_only=True):
    point_in_time_recovery_enabled: bool = False


class BillingModeSummary(_Members, frozen=True, kw_only=True):
    billing_mode: Literal["PAY_PER_REQUEST", "PROVISIONED"] = "PROVISIONED"


class Replica(_Members, frozen=True, kw_only=True):
    region: str | None = None
    region_name: str | None = None
    read_provisioned_throughput_settings: ReadSettings = ReadSettings()
    point_in_time_recovery_specification: PointInTimeRecoverySpecification = (
        PointInTimeRecoverySpecification()
    )


class TableClassSummary(_Members, frozen=True, kw_only=True):
    table_class: Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"] = "STANDARD"


class TableDescription(_Members, frozen=True, kw_only=True):
    """A table, with the members of CreateTable, DescribeTable and both resources of CloudFormation."""

    table_name: str = ""
    attribute_definitions: list[AttributeDefinition]
    key_schema: list[KeySchemaElement]
    global_secondary_indexes: list[SecondaryIndex] = []
    local_secondary_indexes: list[SecondaryIndex] = []
    billing_mode: Literal["PAY_PER_REQUEST", "PROVISIONED"] | None = None
    billing_mode_summary: BillingModeSummary | None = None
    provisioned_throughput: Throughput | None = None
    stream_specification: StreamSpecification | None = None
    time_to_live_specification: TimeToLiveSpecification | None = None
    point_in_time_recovery_specification: PointInTimeRecoverySpecification | None = None
    table_class: Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"] = "STANDARD"
    table_class_summary: TableClassSummary | None = None
    replicas: list[Replica] = []
    write_provisioned_throughput_settings: WriteSettings = WriteSettings()


def converted(tree: object, kind: type[Described], what: str) -> Described:
    """A tree as a structure; one that does not fit is refused with what does not fit."""
    try:
        return msgspec.convert(tree, kind, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise refused(f"{what} cannot be read: {error}", "see docs/model-file.md for what is read") from None


def table_of(described: TableDescription, name: str, region: str = "") -> Table:
    """The model's table. `region` is the model's own, which is no replica."""
    types = {
        definition.attribute_name: definition.attribute_type for definition in described.attribute_definitions
    }
    partition, sort = _keys(described.key_schema, types)
    if not partition:
        raise refused(f"table {name} has no partition key", "its KeySchema has no HASH")
    reads, writes = _scalings(described)
    regions = [replica.region or replica.region_name or "" for replica in described.replicas]
    return Table(
        name,
        partition[0],
        sort[0] if sort else None,
        tuple(_indexes(described, types)),
        _billing(described),
        described.table_class_summary.table_class if described.table_class_summary else described.table_class,
        reads,
        writes,
        _ttl(described.time_to_live_specification),
        _stream(described.stream_specification),
        point_in_time_recovery=_recovers(described),
        replicas=tuple(dict.fromkeys(other for other in regions if other and other != region)),
    )


def _scalings(described: TableDescription) -> tuple[Scaling, Scaling]:
    """For reads and for writes. A global table scales its reads by replica: those of the first are taken."""
    units = described.provisioned_throughput or Throughput()
    reads, writes = Scaling(max(1, units.read_capacity_units)), Scaling(max(1, units.write_capacity_units))
    settings = described.write_provisioned_throughput_settings.write_capacity_auto_scaling_settings
    if settings is not None:
        writes = settings.scaling
    for replica in described.replicas[:1]:
        read = replica.read_provisioned_throughput_settings.read_capacity_auto_scaling_settings
        if read is not None:
            reads = read.scaling
    return reads, writes


def _keys(
    schema: list[KeySchemaElement], types: dict[str, KeyType]
) -> tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]:
    def of(kind: str) -> tuple[KeyAttribute, ...]:
        return tuple(
            KeyAttribute(element.attribute_name, types.get(element.attribute_name, "S"))
            for element in schema
            if element.key_type == kind
        )

    return of("HASH"), of("RANGE")


def _indexes(described: TableDescription, types: dict[str, KeyType]) -> list[Index]:
    globally = [(index, False) for index in described.global_secondary_indexes]
    locally = [(index, True) for index in described.local_secondary_indexes]
    indexes = []
    for index, local in (*globally, *locally):
        partition, sort = _keys(index.key_schema, types)
        included = tuple(index.projection.non_key_attributes)
        kind = index.projection.projection_type
        indexes.append(Index(index.index_name, partition, sort, local, kind, included))
    return indexes


def _billing(described: TableDescription) -> Literal["PAY_PER_REQUEST", "PROVISIONED"]:
    if described.billing_mode_summary is not None:
        return described.billing_mode_summary.billing_mode
    return described.billing_mode or "PROVISIONED"


def _ttl(specification: TimeToLiveSpecification | None) -> str | None:
    return specification.attribute_name if specification is not None and specification.enabled else None


def _stream(specification: StreamSpecification | None) -> View | None:
    if specification is None or not specification.stream_enabled:
        return None
    return specification.stream_view_type or "NEW_AND_OLD_IMAGES"


def _recovers(described: TableDescription) -> bool:
    specification = described.point_in_time_recovery_specification
    if specification is not None:
        return specification.point_in_time_recovery_enabled
    return any(
        replica.point_in_time_recovery_specification.point_in_time_recovery_enabled
        for replica in described.replicas
    )
