"""Terraform with its AWS provider: it makes, changes, imports and destroys, and reads back what it has written.

The configurations are in the folder `terraform`. What the provider reads is compared with them member by member:
a difference is a change that every later plan wants to make.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from clients.terraforming import CONFIGURATIONS, Terraform, adopt, terraform
from serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # minutes, and ten of them on a busy machine


@pytest.fixture
def name() -> str:
    return f"terraform-{uuid4().hex[:12]}"


@pytest.fixture
def prepared(server: Serving, tmp_path: Path, name: str) -> Terraform:
    return terraform(tmp_path, {"endpoint": server.endpoint, "name": name})


def make_and_change(prepared: Terraform, scenario: str) -> None:
    """Apply both stages of a scenario; after each of them a plan finds nothing to do."""
    for stage in ("before", "after"):
        prepared.configure("main.tf", CONFIGURATIONS / scenario / f"{stage}.tf")
        prepared.apply()
        assert prepared.changes() == {}, stage


def test_a_table_on_demand_with_all_its_settings(prepared: Terraform, client: Any, name: str) -> None:
    make_and_change(prepared, "on_demand")
    described = client.describe_table(TableName=name)["Table"]
    indexes = {index["IndexName"] for index in described["GlobalSecondaryIndexes"]}
    assert indexes == {"all-by-total", "by-country"}
    assert described["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert described["SSEDescription"]["Status"] == "ENABLED"
    adopt(prepared, {"aws_dynamodb_table.orders": name})
    assert described["DeletionProtectionEnabled"]
    prepared.variables["protected"] = "false"
    prepared.apply()
    assert prepared.changes() == {}
    prepared.destroy()
    assert name not in client.list_tables()["TableNames"]


def test_provisioned_tables_that_are_scaled_and_watched(
    prepared: Terraform, server: Serving, client: Any, make_client: Callable[..., Any], name: str
) -> None:
    make_and_change(prepared, "provisioned")
    watched = client.describe_contributor_insights(TableName=name)
    assert watched["ContributorInsightsMode"] == "THROTTLED_KEYS"
    watched = client.describe_contributor_insights(TableName=name, IndexName="by-kind")
    assert watched["ContributorInsightsStatus"] == "DISABLED"
    adopt(prepared, _ids_of_provisioned(name))
    prepared.destroy()
    assert [table for table in client.list_tables()["TableNames"] if table.startswith(name)] == []
    alarms = make_client("cloudwatch", endpoint=server.endpoint).describe_alarms()["MetricAlarms"]
    assert [alarm for alarm in alarms if name in alarm["AlarmName"]] == []
    scaling = make_client("application-autoscaling", endpoint=server.endpoint)
    targets = scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]
    assert [target for target in targets if name in target["ResourceId"]] == []


def _ids_of_provisioned(name: str) -> dict[str, str]:
    reads = f"dynamodb/table/{name}-heartbeats/dynamodb:table:ReadCapacityUnits"
    writes = f"dynamodb/table/{name}/index/by-kind/dynamodb:index:WriteCapacityUnits"
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}-heartbeats"
    return {
        "aws_appautoscaling_policy.index_writes": f"{writes}/writes-{name}",
        "aws_appautoscaling_policy.reads": f"{reads}/reads-{name}",
        "aws_appautoscaling_target.index_writes": writes,
        "aws_appautoscaling_target.reads": reads,
        "aws_cloudwatch_metric_alarm.slow": f"slow-{name}",
        "aws_cloudwatch_metric_alarm.throttles": f"throttles-{name}",
        "aws_cloudwatch_metric_alarm.utilization": f"utilization-{name}",
        "aws_dynamodb_contributor_insights.table": f"name:{name}/index:/000000000000",
        "aws_dynamodb_table.heartbeats": f"{name}-heartbeats",
        "aws_dynamodb_table.readings": name,
        "aws_dynamodb_table.spans": f"{name}-spans",
        "aws_dynamodb_tag.owner": f"{arn},owner",
    }


def test_items_exports_imports_restores_and_data_sources(
    tmp_path: Path, make_client: Callable[..., Any], name: str
) -> None:
    bucket = tmp_path / "buckets" / name
    bucket.mkdir(parents=True)
    with serving("--in-memory", "--transition-ms", "0", "--s3", str(bucket.parent)) as server:
        work = tmp_path / "work"
        work.mkdir()
        prepared = terraform(work, {"endpoint": server.endpoint, "name": name})
        client = make_client(endpoint=server.endpoint)
        make_and_change(prepared, "items")
        assert prepared.outputs()["facts"] == {
            "billing": "PAY_PER_REQUEST",
            "exported": 1,
            "item": {"plays": {"N": "13"}, "more": {"M": {"deep": {"M": {"er": {"S": "ü"}}}}}},
            "listed": True,
            "recovery": True,
            "status": "COMPLETED",
        }
        for copy in ("restored", "imported"):
            (item,) = client.scan(TableName=f"{name}-{copy}")["Items"]
            assert item["plays"] == {"N": "12.5"}
        prepared.destroy()
        assert client.list_tables()["TableNames"] == []
