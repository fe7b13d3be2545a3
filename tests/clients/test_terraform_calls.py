"""Terraform's aws_dynamodb_table: the real provider where it is at hand, and its calls replayed everywhere."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from serving import Serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_PLUGINS = "HASHRANGE_TEST_TERRAFORM_PLUGINS"  # a folder that `terraform init -plugin-dir` takes
_CONFIGURATION = """
terraform {
  required_providers { aws = { source = "hashicorp/aws" } }
}
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
  endpoints { dynamodb = "%(endpoint)s" }
}
resource "aws_dynamodb_table" "orders" {
  name         = "%(table)s"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "customer"
  range_key    = "placed"
  %(attributes)s
  local_secondary_index {
    name            = "by-total"
    range_key       = "total"
    projection_type = "KEYS_ONLY"
  }
  %(indexes)s
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 7
  }
  tags = %(tags)s
}
"""
_BY_STATE = """global_secondary_index {
    name               = "by-state"
    hash_key           = "state"
    range_key          = "placed"
    projection_type    = "INCLUDE"
    non_key_attributes = ["total"]
  }"""
_BY_TOTAL = """global_secondary_index {
    name            = "all-by-total"
    hash_key        = "total"
    projection_type = "ALL"
  }"""


def _configuration(endpoint: str, table: str, *, indexes: str, state: bool, tags: str) -> str:
    names = {"customer": "S", "placed": "S", "total": "N", **({"state": "S"} if state else {})}
    attributes = "\n  ".join(
        f'attribute {{\n    name = "{name}"\n    type = "{kind}"\n  }}' for name, kind in names.items()
    )
    return _CONFIGURATION % {
        "endpoint": endpoint,
        "table": table,
        "attributes": attributes,
        "indexes": indexes,
        "tags": tags,
    }


def test_the_provider_creates_changes_and_destroys_a_table(
    server: Serving, client: Any, tmp_path: Path
) -> None:
    run = _terraform(tmp_path)
    table = f"terraform-{uuid4().hex}"
    before = _configuration(server.endpoint, table, indexes=_BY_STATE, state=True, tags='{ team = "blue" }')
    (tmp_path / "main.tf").write_text(before, "utf-8")
    run("apply", "-auto-approve")
    # Exit status 2 would mean that the provider reads back something else than it wrote.
    run("plan", "-detailed-exitcode")
    after = _configuration(server.endpoint, table, indexes=_BY_TOTAL, state=False, tags='{ cost = "1" }')
    (tmp_path / "main.tf").write_text(after, "utf-8")
    run("apply", "-auto-approve")
    run("plan", "-detailed-exitcode")
    described = client.describe_table(TableName=table)["Table"]
    assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["all-by-total"]
    run("destroy", "-auto-approve")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table(TableName=table)


def _terraform(folder: Path) -> Callable[..., None]:
    """Prepare terraform in this folder, or skip."""
    plugins = os.environ.get(_PLUGINS)
    if shutil.which("terraform") is None or plugins is None:
        # The provider is too large to fetch for a test, and its waits take two minutes.
        pytest.skip(f"needs terraform, and {_PLUGINS} naming a folder that has the AWS provider")
    environment = {**os.environ, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}
    environment.pop("TF_CLI_CONFIG_FILE", None)

    def run(command: str, *flags: str) -> None:
        done = subprocess.run(
            ["terraform", command, "-no-color", *flags],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    minimal = 'terraform {\n  required_providers { aws = { source = "hashicorp/aws" } }\n}\n'
    (folder / "main.tf").write_text(minimal, "utf-8")
    run("init", "-input=false", f"-plugin-dir={plugins}")
    return run


def _settled(client: Any, table: str) -> dict[str, Any]:
    """Poll as the provider does, until table and indexes are ACTIVE."""
    described: dict[str, Any] = {}
    for _ in range(400):
        described = client.describe_table(TableName=table)["Table"]
        indexes = described.get("GlobalSecondaryIndexes", [])
        if (
            all(index["IndexStatus"] == "ACTIVE" for index in indexes)
            and described["TableStatus"] == "ACTIVE"
        ):
            return described
        time.sleep(0.02)
    raise AssertionError(json.dumps(described, default=str))


def _refreshed(client: Any, table: str) -> dict[str, Any]:
    """Make the calls of the provider's read."""
    described = _settled(client, table)
    backups = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]
    return {
        "table": described,
        "recovery": recovery["PointInTimeRecoveryStatus"],
        "ttl": client.describe_time_to_live(TableName=table)["TimeToLiveDescription"],
        "tags": client.list_tags_of_resource(ResourceArn=described["TableArn"]).get("Tags", []),
    }


def test_the_providers_calls_replayed(client: Any) -> None:
    table = f"replay-{uuid4().hex}"
    client.create_table(
        TableName=table,
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "state", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "customer", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[_index("by-state", "state")],
        SSESpecification={"Enabled": False},
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        TableClass="STANDARD",
        DeletionProtectionEnabled=True,
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    _settled(client, table)
    client.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    assert _refreshed(client, table)["recovery"] == "DISABLED"
    client.update_continuous_backups(
        TableName=table,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7},
    )
    state = _refreshed(client, table)
    assert state["table"]["LatestStreamArn"].startswith(state["table"]["TableArn"] + "/stream/")
    assert (state["recovery"], state["ttl"]["AttributeName"]) == ("ENABLED", "expires")
    assert state["tags"] == [{"Key": "team", "Value": "blue"}]

    arn = state["table"]["TableArn"]
    _change_by_steps(client, table)
    client.untag_resource(ResourceArn=arn, TagKeys=["team"])
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "cost", "Value": "1"}])
    state = _refreshed(client, table)
    assert state["table"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert [index["IndexName"] for index in state["table"]["GlobalSecondaryIndexes"]] == ["by-total"]
    assert state["tags"] == [{"Key": "cost", "Value": "1"}]
    assert {item["AttributeName"] for item in state["table"]["AttributeDefinitions"]} == {"customer", "total"}

    client.delete_table(TableName=table)
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        _settled(client, table)


def _index(name: str, attribute: str, *, provisioned: bool = True) -> dict[str, Any]:
    throughput = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        **(throughput if provisioned else {}),
    }


def _change_by_steps(client: Any, table: str) -> None:
    """Make the calls of the provider's update: one kind of change per UpdateTable, waiting in between."""
    client.update_table(TableName=table, DeletionProtectionEnabled=False)
    _settled(client, table)
    client.update_table(TableName=table, BillingMode="PAY_PER_REQUEST")
    _settled(client, table)
    client.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
    _settled(client, table)
    client.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-state"}}])
    _settled(client, table)
    client.update_table(
        TableName=table,
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "total", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexUpdates=[{"Create": _index("by-total", "total", provisioned=False)}],
    )
    _settled(client, table)
    client.update_table(TableName=table, TableClass="STANDARD_INFREQUENT_ACCESS")
    _settled(client, table)
