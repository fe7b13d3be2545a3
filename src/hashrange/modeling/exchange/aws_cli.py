"""A shell script that makes a model's tables with the AWS CLI."""

import json
import re
import shlex
from collections.abc import Iterator

from hashrange.modeling.exchange.scaling import NAMESPACE, scaling_targets
from hashrange.modeling.exchange.trees import Branch
from hashrange.modeling.model import Model, Table
from hashrange.modeling.table_requests import requests_for

_HEADER = """\
#!/bin/sh
# Makes the tables of {name}. Arguments go to every command: --endpoint-url http://localhost:8000, --profile mine.
set -eu
"""


def write(model: Model) -> str:
    """The script."""
    name = "".join(char if char.isprintable() else " " for char in model.name)
    tables = ("\n".join(_commands(table, model)) for table in model.tables.values())
    return "\n".join((_HEADER.format(name=name), *tables)) + "\n"


def _commands(table: Table, model: Model) -> Iterator[str]:
    region = f"--region {model.region}"
    for request in requests_for(table, model):
        yield _command("dynamodb", _dashed(request.operation), region, request.members())
        if request.operation == "CreateTable":
            yield f'aws dynamodb wait table-exists {region} "$@" --table-name {table.name}'
    for replica in table.replicas:
        update = {"TableName": table.name, "ReplicaUpdates": [{"Create": {"RegionName": replica}}]}
        yield _command("dynamodb", "update-table", region, update)
    for target in scaling_targets(table):
        what: Branch = {
            "ServiceNamespace": NAMESPACE,
            "ResourceId": target.resource,
            "ScalableDimension": target.dimension,
        }
        bounds = {"MinCapacity": target.scaling.minimum, "MaxCapacity": target.scaling.maximum}
        yield _command("application-autoscaling", "register-scalable-target", region, what | bounds)
        policy: Branch = {
            "PolicyName": target.title,
            "PolicyType": "TargetTrackingScaling",
            "TargetTrackingScalingPolicyConfiguration": {
                "TargetValue": target.scaling.target_percent,
                "PredefinedMetricSpecification": {"PredefinedMetricType": target.metric},
            },
        }
        yield _command("application-autoscaling", "put-scaling-policy", region, what | policy)


def _command(service: str, operation: str, region: str, members: Branch) -> str:
    text = shlex.quote(json.dumps(members, indent=2))
    return f'aws {service} {operation} {region} "$@" --cli-input-json {text} > /dev/null'


def _dashed(operation: str) -> str:
    """CreateTable is create-table."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", operation).lower()
