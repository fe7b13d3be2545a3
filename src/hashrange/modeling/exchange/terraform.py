"""Terraform: tables from a configuration (HCL), or from what `terraform show -json` prints."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from hashrange.modeling.exchange import hcl
from hashrange.modeling.exchange.descriptions import (
    AttributeDefinition,
    KeySchemaElement,
    PointInTimeRecoverySpecification,
    Projection,
    Replica,
    SecondaryIndex,
    StreamSpecification,
    TableDescription,
    Throughput,
    TimeToLiveSpecification,
    converted,
    table_of,
)
from hashrange.modeling.exchange.placeholders import model_of, table_name
from hashrange.modeling.exchange.scaling_reading import FoundScaling, ScalableTarget, ScalingPolicy
from hashrange.modeling.exchange.trees import json_tree
from hashrange.modeling.model import Model, Table
from hashrange.modeling.problems import refused

_RESOURCE = "aws_dynamodb_table"
_TARGET, _POLICY = "aws_appautoscaling_target", "aws_appautoscaling_policy"
_TYPES = (_RESOURCE, _TARGET, _POLICY)
_REFERRED = ("name", "resource_id", "scalable_dimension")
_MODULES_MAX = 1000
_VARIABLE = re.compile(r"\$\{([^}]{1,200})\}")


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """What all parts have in common: members that are not named here are left out."""


class _Attribute(_Part, frozen=True, kw_only=True):
    name: str
    type: Literal["S", "N", "B"]


class _KeySchema(_Part, frozen=True, kw_only=True):
    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class _Index(_Part, frozen=True, kw_only=True):
    name: str
    hash_key: str | None = None
    range_key: str | None = None
    key_schema: list[_KeySchema] | None = None
    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    non_key_attributes: list[str] | None = None


class _TimeToLive(_Part, frozen=True, kw_only=True):
    attribute_name: str | None = None
    enabled: bool | None = True


class _Recovery(_Part, frozen=True, kw_only=True):
    enabled: bool | None = False


class _Replica(_Part, frozen=True, kw_only=True):
    region_name: str


class _ScalableTarget(_Part, frozen=True, kw_only=True):
    resource_id: str
    scalable_dimension: str
    min_capacity: int = 1
    max_capacity: int = 1


class _Tracking(_Part, frozen=True, kw_only=True):
    target_value: float


class _ScalingPolicy(_Part, frozen=True, kw_only=True):
    resource_id: str
    scalable_dimension: str
    target_tracking_scaling_policy_configuration: list[_Tracking] = []


class _Table(_Part, frozen=True, kw_only=True):
    """The arguments of aws_dynamodb_table; blocks are lists."""

    name: str
    hash_key: str
    range_key: str | None = None
    attribute: list[_Attribute] = []
    billing_mode: Literal["PAY_PER_REQUEST", "PROVISIONED"] | None = None
    read_capacity: int | None = None
    write_capacity: int | None = None
    global_secondary_index: list[_Index] = []
    local_secondary_index: list[_Index] = []
    ttl: list[_TimeToLive] = []
    point_in_time_recovery: list[_Recovery] = []
    replica: list[_Replica] = []
    stream_enabled: bool | None = None
    stream_view_type: str | None = None
    table_class: Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS", ""] | None = None


def read(text: str, name: str = "imported") -> Model:
    """The tables of a configuration, or of what `terraform show -json` prints, with placeholder entities."""
    values = list(_shown(json_tree(text)) if text.lstrip().startswith("{") else _configured(hcl.parse(text)))
    scaling = _scaling(values)
    tables = [_table(part.address, part.members) for part in values if part.type == _RESOURCE]
    return model_of([scaling.applied(table) for table in tables], name)


class _Resource(NamedTuple):
    type: str
    address: str
    members: object


def _shown(tree: object) -> Iterator[_Resource]:
    """Resources of a state or of a plan, of all modules."""
    if not isinstance(tree, dict):
        raise refused("this is not what `terraform show -json` prints")
    values = tree.get("planned_values") or tree.get("values")
    modules = [values.get("root_module")] if isinstance(values, dict) else []
    for number, module in enumerate(modules):  # grows by child modules while it is gone through
        if not isinstance(module, dict) or number > _MODULES_MAX:
            continue
        modules += module.get("child_modules") or []
        for resource in module.get("resources") or []:
            if isinstance(resource, dict) and resource.get("type") in _TYPES:
                address = str(resource.get("address", resource.get("name", "")))
                yield _Resource(resource["type"], address, resource.get("values"))


def _configured(blocks: list[hcl.Block]) -> Iterator[_Resource]:
    variables = {
        f"var.{block.labels[0]}": block.members["default"]
        for block in blocks
        if block.type == "variable" and block.labels and "default" in block.members
    }
    for block in blocks:
        if block.type == "locals":
            variables |= {f"local.{name}": value for name, value in block.members.items()}
    # Targets refer to tables, and policies to targets.
    for kind in _TYPES:
        for block in blocks:
            if block.type == "resource" and block.labels[:1] == (kind,):
                address = ".".join(block.labels)
                members = _resolved(block.members, variables)
                yield _Resource(kind, address, members)
                if isinstance(members, dict):
                    known = {name: members[name] for name in _REFERRED if name in members}
                    variables |= {f"{address}.{name}": value for name, value in known.items()}


def _scaling(resources: list[_Resource]) -> FoundScaling:
    targets, policies = [], []
    for part in resources:
        if part.type == _TARGET:
            target = converted(part.members, _ScalableTarget, part.address)
            targets.append(ScalableTarget(*msgspec.structs.astuple(target)))
        elif part.type == _POLICY:
            policy = converted(part.members, _ScalingPolicy, part.address)
            policies += [
                ScalingPolicy(policy.resource_id, policy.scalable_dimension, tracking.target_value)
                for tracking in policy.target_tracking_scaling_policy_configuration
            ]
    return FoundScaling(targets, policies)


def _resolved(tree: object, variables: Mapping[str, object]) -> object:
    """A tree in which variables have their defaults."""
    match tree:
        case dict():
            return {name: _resolved(value, variables) for name, value in tree.items()}
        case list():
            return [_resolved(value, variables) for value in tree]
        case str() if tree in variables:
            return variables[tree]
        case str() if "${" in tree:
            return _VARIABLE.sub(
                lambda match: str(variables.get(match[1], match[1].rpartition(".")[2])), tree
            )
        case _:
            return tree


def _table(resource: str, members: object) -> Table:
    table = converted(members, _Table, resource or _RESOURCE)
    ttl = table.ttl[0] if table.ttl else None
    described = TableDescription(
        attribute_definitions=[
            AttributeDefinition(attribute_name=attribute.name, attribute_type=attribute.type)
            for attribute in table.attribute
        ],
        key_schema=_schema(table.hash_key, table.range_key),
        global_secondary_indexes=[_index(index, None) for index in table.global_secondary_index],
        local_secondary_indexes=[_index(index, table.hash_key) for index in table.local_secondary_index],
        billing_mode=table.billing_mode or "PROVISIONED",
        provisioned_throughput=Throughput(
            read_capacity_units=table.read_capacity or 1, write_capacity_units=table.write_capacity or 1
        ),
        stream_specification=converted(
            {"StreamViewType": table.stream_view_type}, StreamSpecification, resource
        )
        if table.stream_enabled and table.stream_view_type
        else None,
        time_to_live_specification=None
        if ttl is None or not ttl.attribute_name
        else TimeToLiveSpecification(enabled=ttl.enabled is not False, attribute_name=ttl.attribute_name),
        point_in_time_recovery_specification=PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=any(recovery.enabled for recovery in table.point_in_time_recovery)
        ),
        table_class=table.table_class or "STANDARD",
        replicas=[Replica(region_name=replica.region_name) for replica in table.replica],
    )
    return table_of(described, table_name(table.name))


def _schema(partition: str | None, sort: str | None) -> list[KeySchemaElement]:
    elements = []
    if partition:
        elements.append(KeySchemaElement(attribute_name=partition, key_type="HASH"))
    if sort:
        elements.append(KeySchemaElement(attribute_name=sort, key_type="RANGE"))
    return elements


def _index(index: _Index, table_key: str | None) -> SecondaryIndex:
    """`table_key` is for local indexes, which do not repeat it."""
    schema = [
        KeySchemaElement(attribute_name=element.attribute_name, key_type=element.key_type)
        for element in index.key_schema or []
    ]
    return SecondaryIndex(
        index_name=index.name,
        key_schema=schema or _schema(table_key or index.hash_key, index.range_key),
        projection=Projection(
            projection_type=index.projection_type, non_key_attributes=index.non_key_attributes or []
        ),
    )
