"""The tables of a CloudFormation template, as far as they matter to tests."""

from collections.abc import Iterator, Mapping
from typing import Any

from hashrange.testing.control import TestingFailed
from hashrange.testing.definitions import TableDefinition

_KINDS = frozenset({"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"})
# Properties that CreateTable takes as they are; what else there is, such as roles, replicas and keys, is left out.
_SAME = (
    "AttributeDefinitions",
    "BillingMode",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexes",
    "KeySchema",
    "LocalSecondaryIndexes",
    "OnDemandThroughput",
    "ProvisionedThroughput",
    "TableClass",
)
_THROUGHPUT = ("ReadCapacityUnits", "WriteCapacityUnits")
_INDEX = ("IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput")


def definitions(template: Mapping[str, Any]) -> Iterator[TableDefinition]:
    """The tables of a template; one without a name is called by its logical id."""
    for logical_id, resource in template["Resources"].items():
        if resource.get("Type") in _KINDS:
            yield _definition(template, logical_id, resource.get("Properties", {}))


def _definition(
    template: Mapping[str, Any], logical_id: str, properties: Mapping[str, Any]
) -> TableDefinition:
    name = _name(template, properties.get("TableName"), logical_id)
    create: dict[str, Any] = {"TableName": name}
    create |= {member: properties[member] for member in _SAME if member in properties}
    if "ProvisionedThroughput" in create:
        create["ProvisionedThroughput"] = _throughput(create["ProvisionedThroughput"])
    elif "BillingMode" not in create or "WriteProvisionedThroughputSettings" in properties:
        create["BillingMode"] = "PAY_PER_REQUEST"  # a global table's capacity is that of each of its replicas
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if kind in create:
            create[kind] = [_index(index) for index in create[kind]]
    stream = properties.get("StreamSpecification")
    if stream is not None:
        create["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream["StreamViewType"]}
    ttl = properties.get("TimeToLiveSpecification", {})
    recovery = properties.get("PointInTimeRecoverySpecification", {})
    return TableDefinition(
        name,
        create,
        ttl.get("AttributeName") if _is_true(ttl.get("Enabled")) else None,
        _is_true(recovery.get("PointInTimeRecoveryEnabled")),
    )


def _name(template: Mapping[str, Any], name: object, logical_id: str) -> str:
    """A name that is a reference to a parameter is the parameter's default; of other functions tests know nothing."""
    if isinstance(name, Mapping) and isinstance(name.get("Ref"), str):
        name = template.get("Parameters", {}).get(name["Ref"], {}).get("Default")
    return name if isinstance(name, str) else logical_id


def _index(index: Mapping[str, Any]) -> dict[str, Any]:
    kept = {member: index[member] for member in _INDEX if member in index}
    if "ProvisionedThroughput" in kept:
        kept["ProvisionedThroughput"] = _throughput(kept["ProvisionedThroughput"])
    return kept


def _throughput(throughput: Mapping[str, Any]) -> dict[str, int]:
    try:
        return {unit: int(throughput[unit]) for unit in _THROUGHPUT}
    except (TypeError, ValueError, LookupError):
        # It is a parameter, or depends on one; tests that are about capacity say it themselves.
        return dict.fromkeys(_THROUGHPUT, 5)


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() == "true"


def read_yaml(text: str) -> Any:
    """Read YAML with CloudFormation's short forms: `!Ref Name` is `{"Ref": "Name"}`."""
    import yaml  # noqa: PLC0415 - only templates need it

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # the package has no types
        """Reads nothing but data, and functions as the mappings that they stand for."""

    def function(loader: Any, suffix: str, node: Any) -> dict[str, Any]:
        if isinstance(node, yaml.ScalarNode):
            value = loader.construct_scalar(node)
        elif isinstance(node, yaml.SequenceNode):
            value = loader.construct_sequence(node, deep=True)
        else:
            value = loader.construct_mapping(node, deep=True)
        return {suffix if suffix == "Ref" else f"Fn::{suffix}": value}

    Loader.add_multi_constructor("!", function)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is a SafeLoader
    except yaml.YAMLError as error:
        raise TestingFailed(str(error)) from None
