"""Tables come from CreateTable requests, from files of them, and from CloudFormation templates."""

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.testing import Namespace, TestingFailed
from hashrange.testing.tables import definitions
from house import SOURCE
from testing.conftest import ORDERS

TEMPLATE = """
Parameters:
  Name: {Type: String, Default: sessions}
  Reads: {Type: Number}
Resources:
  Sessions:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Ref Name
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{AttributeName: token, KeyType: HASH}]
      AttributeDefinitions:
        - {AttributeName: token, AttributeType: S}
        - {AttributeName: user, AttributeType: S}
      GlobalSecondaryIndexes:
        - IndexName: by-user
          KeySchema: [{AttributeName: user, KeyType: HASH}]
          Projection: {ProjectionType: KEYS_ONLY}
          ContributorInsightsSpecification: {Enabled: true}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
      Tags: [{Key: team, Value: !Sub "${AWS::StackName}"}]
  Counters:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}-counters"
      KeySchema: [{AttributeName: name, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: name, AttributeType: S}]
      ProvisionedThroughput: {ReadCapacityUnits: !Ref Reads, WriteCapacityUnits: "7"}
  Everywhere:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      Replicas: [{Region: us-east-1}, {Region: eu-west-1}]
  Bucket:
    Type: AWS::S3::Bucket
"""


def test_a_template_makes_its_tables(dynamodb_namespace: Namespace, tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE)
    assert dynamodb_namespace.create_tables(path) == ["sessions", "Counters", "Everywhere"]
    client = dynamodb_namespace.client()
    table = client.describe_table(TableName="sessions")["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["by-user"]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    ttl = client.describe_time_to_live(TableName="sessions")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    backups = client.describe_continuous_backups(TableName="sessions")["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    counters = client.describe_table(TableName="Counters")["Table"]["ProvisionedThroughput"]
    assert (counters["ReadCapacityUnits"], counters["WriteCapacityUnits"]) == (5, 5)
    assert client.describe_table(TableName="Everywhere")["Table"]["BillingModeSummary"]["BillingMode"] == (
        "PAY_PER_REQUEST"
    )


@pytest.mark.parametrize("content", [ORDERS, [ORDERS], {"Tables": [ORDERS]}])
def test_requests_may_stand_alone_in_a_list_or_in_a_file(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    path.write_text(json.dumps(content))
    for source in (content, path, str(path), [path]):
        assert [definition.create for definition in definitions(source)] == [ORDERS]


def test_a_template_may_be_json() -> None:
    resource = {"Type": "AWS::DynamoDB::Table", "Properties": {**ORDERS, "TableName": {"Fn::Sub": "x"}}}
    (definition,) = definitions({"Resources": {"Orders": resource}})
    assert definition.create == {**ORDERS, "TableName": "Orders"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("tables.json", "{", "tables.json: Expecting"),
        ("tables.json", "{}", "tables.json: a source of tables has TableName"),
        ("template.yaml", "a: [", "template.yaml: "),
        ("missing.json", None, "missing.json"),
    ],
)
def test_a_file_that_is_no_source_is_named(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(TestingFailed, match=message):
        definitions(tmp_path / name)


def test_a_model_file_makes_its_tables(dynamodb_namespace: Namespace, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text((SOURCE / "modeling" / "starter.yaml").read_text("utf-8"))
    assert dynamodb_namespace.create_tables(path) == ["shop"]
    client = dynamodb_namespace.client()
    table = client.describe_table(TableName="shop")["Table"]
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["PK", "SK"]
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["GSI1"]
    ttl = client.describe_time_to_live(TableName="shop")["TimeToLiveDescription"]
    assert ttl["AttributeName"] == "expires_at"


def test_the_mistakes_of_a_model_file_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("hashrange: 1\nname: shop\ntables: {}\nentities: {}\nother: 1\n")
    with pytest.raises(TestingFailed, match=r"model\.yaml:5:1: "):
        definitions(path)


def test_yaml_is_data_and_never_code(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text("Resources: !!python/object/apply:os.getcwd []")
    with pytest.raises(TestingFailed, match="could not determine a constructor"):
        definitions(path)
