"""A CloudFormation template from tables; those with replicas are global tables, which have members of their own."""

import re

from hashrange.modeling.exchange.scaling import NAMESPACE, ScalingTarget, scaling_targets
from hashrange.modeling.exchange.trees import Branch
from hashrange.modeling.model import Model, Scaling, Table
from hashrange.modeling.table_requests import create_table


def write(model: Model) -> Branch:
    """The template, with auto scaling of provisioned tables. Tables outlive their stack."""
    resources: Branch = {}
    for table in model.tables.values():
        name = _logical(f"{table.name}-table")
        resources[name] = _resource(table, model)
        if not table.replicas:
            for target in scaling_targets(table):
                resources |= _scaling_resources(target, name)
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def _logical(text: str) -> str:
    """A name of letters and digits: shop-GSI1-read is ShopGSI1Read."""
    return "".join(word[:1].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", text))


def _resource(table: Table, model: Model) -> Branch:
    return {
        "Type": "AWS::DynamoDB::GlobalTable" if table.replicas else "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": _global_table(table, model) if table.replicas else _table(table, model),
    }


def _table(table: Table, model: Model) -> Branch:
    properties = _common(table, model)
    if table.point_in_time_recovery:
        properties["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": True}
    return properties


def _common(table: Table, model: Model) -> Branch:
    """The members of CreateTable, and those that CloudFormation has beside them."""
    properties: Branch = create_table(table, model).members()
    if table.stream is not None:
        properties["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.ttl_attribute is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl_attribute, "Enabled": True}
    return properties


def _global_table(table: Table, model: Model) -> Branch:
    """Reads are scaled for each replica, writes for all of them together; copies are made by the stream."""
    properties = _common(table, model)
    properties.pop("ProvisionedThroughput", None)
    properties.pop("TableClass", None)
    properties["StreamSpecification"] = {"StreamViewType": table.stream or "NEW_AND_OLD_IMAGES"}
    indexes: list[Branch] = properties.get("GlobalSecondaryIndexes", [])
    is_provisioned = table.billing == "PROVISIONED"
    for index in indexes:
        index.pop("ProvisionedThroughput", None)
    if is_provisioned:
        writes = {"WriteCapacityAutoScalingSettings": _settings(table.write_scaling)}
        for part in (properties, *indexes):
            part["WriteProvisionedThroughputSettings"] = writes
    names = [index["IndexName"] for index in indexes] if is_provisioned else []
    regions = dict.fromkeys((model.region, *table.replicas))
    properties["Replicas"] = [_replica(table, region, names) for region in regions]
    return properties


def _replica(table: Table, region: str, provisioned_indexes: list[str]) -> Branch:
    replica: Branch = {"Region": region}
    if table.point_in_time_recovery:
        replica["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": True}
    if table.table_class != "STANDARD":
        replica["TableClass"] = table.table_class
    if table.billing == "PROVISIONED":
        reads = {"ReadCapacityAutoScalingSettings": _settings(table.read_scaling)}
        replica["ReadProvisionedThroughputSettings"] = reads
        if provisioned_indexes:
            replica["GlobalSecondaryIndexes"] = [
                {"IndexName": name, "ReadProvisionedThroughputSettings": reads}
                for name in provisioned_indexes
            ]
    return replica


def _settings(scaling: Scaling) -> Branch:
    return {
        "MinCapacity": scaling.minimum,
        "MaxCapacity": scaling.maximum,
        "TargetTrackingScalingPolicyConfiguration": {"TargetValue": scaling.target_percent},
    }


def _scaling_resources(target: ScalingTarget, table_resource: str) -> Branch:
    name = _logical(target.title)
    return {
        f"{name}Target": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "DependsOn": table_resource,
            "Properties": {
                "ServiceNamespace": NAMESPACE,
                "ResourceId": target.resource,
                "ScalableDimension": target.dimension,
                "MinCapacity": target.scaling.minimum,
                "MaxCapacity": target.scaling.maximum,
            },
        },
        f"{name}Policy": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyName": target.title,
                "PolicyType": "TargetTrackingScaling",
                "ScalingTargetId": {"Ref": f"{name}Target"},
                "TargetTrackingScalingPolicyConfiguration": {
                    "TargetValue": target.scaling.target_percent,
                    "PredefinedMetricSpecification": {"PredefinedMetricType": target.metric},
                },
            },
        },
    }
