"""Models from Workbench, CloudFormation, Terraform and CreateTable: what is read, and that the outcome loads."""

import json
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.exchange import importing, terraform, terraform_writing, workbench, workbench_writing
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.loading import loads
from hashrange.modeling.model import Index, KeyAttribute, Model, Scaling, Table
from hashrange.modeling.problems import ModelErrors
from modeling.plain_models import plain
from modeling.test_loading import SHOP

CLOUDFORMATION = """\
Parameters:
  Stage: {Type: String, Default: prod}
Resources:
  Queue: {Type: AWS::SQS::Queue}
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${Stage}-orders"
      BillingMode: !If [Cheap, PAY_PER_REQUEST, PROVISIONED]
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: N}
        - {AttributeName: GSI1PK, AttributeType: S}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: GSI1
          KeySchema: [{AttributeName: GSI1PK, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [total]}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      Tags: [{Key: team, Value: !Ref Team}]
"""
ORDERS = Table(
    "prod-orders",
    KeyAttribute("PK"),
    KeyAttribute("SK", "N"),
    (Index("GSI1", (KeyAttribute("GSI1PK"),), projection="INCLUDE", included=("total",)),),
    ttl_attribute="expires",
    stream="NEW_IMAGE",
    point_in_time_recovery=True,
)


def loaded(model: Model) -> Model:
    """What an import writes, loaded as a person's file is."""
    return plain(loads(dumps(model)))


def test_the_tables_of_a_cloudformation_template_in_yaml() -> None:
    model = importing.read(CLOUDFORMATION, "stack")
    assert model.tables == {"prod-orders": ORDERS}
    assert loaded(model).entities["ProdOrders"].attributes.keys() == {
        "PK",
        "SK",
        "GSI1PK",
        "expires",
        "total",
    }


def test_the_tables_of_a_cloudformation_template_in_json_and_global_ones() -> None:
    properties = {
        "TableName": {"Fn::Join": ["-", ["a", {"Ref": "Stage"}]]},
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "Replicas": [{"Region": "us-east-1"}, {"Region": {"Ref": "Other"}}],
        "SSESpecification": {"Ref": "AWS::NoValue"},
    }
    resources = {"T": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": properties}}
    parameters = {"Other": {"Default": "eu-west-1"}}
    model = importing.read(json.dumps({"Resources": resources, "Parameters": parameters}), "stack")
    table = model.tables["a-Stage"]
    assert (table.partition_key, table.replicas) == (KeyAttribute("id"), ("us-east-1", "eu-west-1"))
    assert table.billing == "PROVISIONED"


TERRAFORM = """\
variable "stage" { default = "prod" }
locals {
  key = "PK"
}
/* a table
   of orders */
resource "aws_dynamodb_table" "orders" {
  name         = "${var.stage}-orders" # by stage
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = local.key
  range_key    = "SK"

  attribute {
    name = "PK"
    type = "S"
  }
  attribute {
    name = "SK"
    type = "N"
  }
  attribute {
    name = "GSI1PK"
    type = "S"
  }
  global_secondary_index {
    name               = "GSI1"
    hash_key           = "GSI1PK"
    projection_type    = "INCLUDE"
    non_key_attributes = ["total"]
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  point_in_time_recovery { enabled = true }
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"
  tags             = merge(local.tags, { team = "x" })
  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}
resource "aws_sqs_queue" "other" {
  name = "other"
}
"""


def test_the_tables_of_a_terraform_configuration() -> None:
    assert importing.read(TERRAFORM, "main").tables == {"prod-orders": ORDERS}


def test_the_tables_of_a_terraform_state_in_all_modules() -> None:
    values = {
        "name": "orders",
        "hash_key": "id",
        "range_key": None,
        "attribute": [{"name": "id", "type": "S"}],
        "billing_mode": "PROVISIONED",
        "read_capacity": 5,
        "write_capacity": 2,
        "ttl": [{"attribute_name": "", "enabled": False}],
        "stream_view_type": "",
        "table_class": "",
    }
    resource = {"address": "module.x.t", "type": "aws_dynamodb_table", "values": values}
    state = {"values": {"root_module": {"child_modules": [{"resources": [resource, {"type": "other"}]}]}}}
    table = importing.read(json.dumps(state), "state").tables["orders"]
    assert (table.read_scaling, table.write_scaling) == (Scaling(5), Scaling(2))
    assert table.ttl_attribute is None


def test_what_is_written_for_terraform_is_read_as_the_same_tables() -> None:
    model = loads(SHOP)
    tables = terraform.read(terraform_writing.write(model)).tables
    shop = tables["shop"]
    written = plain(model).tables["shop"]
    assert (shop.partition_key, shop.sort_key, shop.indexes) == (
        written.partition_key,
        written.sort_key,
        written.indexes,
    )
    assert (shop.ttl_attribute, shop.stream, shop.replicas) == ("expires_at", "NEW_IMAGE", ("us-east-1",))
    assert shop.read_scaling.minimum == written.read_scaling.minimum


def test_what_is_written_for_workbench_is_read_as_the_same_entities() -> None:
    model = loads(SHOP)
    again = loaded(workbench.read(workbench_writing.write(model)))
    assert again.tables["shop"].read_scaling == Scaling(5, 500, 60.0)
    assert [index.name for index in again.tables["shop"].indexes] == ["GSI1"]
    for name, entity in again.entities.items():
        for key in ("PK", "SK"):
            assert entity.keys[key].text == model.entities[name].keys[key].text
        assert entity.attributes.keys() == model.entities[name].attributes.keys()
    assert workbench_writing.omissions(model) == [
        "index by_place of shop",
        "index LSI1 of shop",
        "3 patterns",
    ]


def workbench_samples() -> str:
    """A model as Workbench writes it, with facets whose aliases are names and whose items are the table's."""
    items = []
    for number in range(25):
        user = {"S": f"USER#u{number}"}
        items.append({"PK": user, "SK": {"S": "PROFILE"}, "Email": {"S": f"u{number}@example.com"}})
        order = {"S": f"ORDER#2026-01-{number + 1:02}T00:00:00Z#o{number}"}
        items.append({"PK": user, "SK": order, "Total": {"N": "9.5"}, "State": {"S": "AB"[number % 2]}})
    table = {
        "TableName": "Shop",
        "KeyAttributes": {
            "PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
            "SortKey": {"AttributeName": "SK", "AttributeType": "S"},
        },
        "NonKeyAttributes": [{"AttributeName": "Email", "AttributeType": "S"}],
        "TableFacets": [{"FacetName": "users", "KeyAttributeAlias": {"PartitionKeyAlias": "UserId"}}],
        "GlobalSecondaryIndexes": [],
        "TableData": items,
        "DataAccess": {"MySql": {}},
        "BillingMode": "PAY_PER_REQUEST",
        "SampleDataFormats": {"PK": ["dataTypes", "String"]},
    }
    metadata = {"Author": "x", "Description": "A shop", "AWSService": "Amazon DynamoDB", "Version": "3.0"}
    return json.dumps({"ModelName": "Shop", "ModelMetadata": metadata, "DataModel": [table]})


def test_entities_follow_from_sample_items_of_workbench() -> None:
    model = importing.read(workbench_samples(), "file")
    assert (model.name, model.description) == ("Shop", "A shop")
    user, order = model.entities["User"], model.entities["Order"]
    assert {key: template.text for key, template in user.keys.items()} == {
        "PK": "USER#{user_id}",
        "SK": "PROFILE",
    }
    assert order.keys["SK"].text == "ORDER#{order_at}#{order_id}"
    assert order.attributes["order_at"].format == "timestamp"
    assert order.attributes["State"].values == ("A", "B")
    assert user.attributes["Email"].format == "email"
    assert loaded(model).entities.keys() == {"User", "Order"}


def test_kinds_whose_keys_look_the_same_become_one_entity() -> None:
    items = [{"PK": {"S": f"x{number}"}, "entity": {"S": "AB"[number % 2]}} for number in range(30)]
    part = json.loads(workbench_samples())
    del part["DataModel"][0]["KeyAttributes"]["SortKey"]
    part["DataModel"][0] |= {"TableData": items, "TableFacets": []}
    model = importing.read(json.dumps(part), "file")
    assert len(loaded(model).entities) == 1


def test_a_request_and_an_answer_are_read() -> None:
    request = {
        "TableName": "orders",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    described = {"Table": {**request, "TableName": "described", "TableArn": "arn:…"}}
    assert importing.read(json.dumps(request), "x").tables["orders"].partition_key == KeyAttribute("id", "B")
    assert importing.read(json.dumps([request, described]), "x").tables.keys() == {"orders", "described"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "this is in no known format"),
        ("{", "this is no JSON"),
        ('{"Resources": []}', "there are no Resources in it"),
        ('{"Resources": {}}', "there is no table in it"),
        ('{"Resources": {"T": {"Type": "AWS::DynamoDB::Table"}}}', "table T cannot be read"),
        ('{"DataModel": []}', "there is no DataModel in it"),
        ('{"DataModel": [{"TableName": "x"}]}', "missing required field `KeyAttributes`"),
        ('{"KeySchema": [], "AttributeDefinitions": []}', "has no partition key"),
        ("[" * 5000, "this is no JSON"),
        ('resource "aws_dynamodb_table" "x" {', "1:36: `the end` where a name should be"),
        ('resource "aws_dynamodb_table" "x" {\n  name = <<EOT\n', "2:10: heredocs are not read"),
        ('resource "aws_dynamodb_table" "x" {\n  name = ]\n}', "2:10: `]` where a value should be"),
        ('resource "aws_dynamodb_table" "x" {\n  name = f(\n', "`the end` where the rest"),
        ('a "aws_dynamodb_table" ' + "{ a " * 50, "nested more than 20 deep"),
        ('a "aws_dynamodb_table" { a = ' + "[" * 50, "nested more than 20 deep"),
        ('resource "aws_dynamodb_table" "x" {}', "missing required field `name`"),
        ("a: !Ref [\n# AWS::DynamoDB::", "this is no YAML"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ModelErrors) as caught:
        importing.read(text, "x")
    assert complaint in str(caught.value)


def test_the_command_writes_a_model_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "main.tf", tmp_path / "model.yaml"
    source.write_text(TERRAFORM, "utf-8")
    assert main(["model", "import", str(source), "--out", str(target)]) == 0
    assert loads(target.read_text("utf-8")).tables["prod-orders"].ttl_attribute == "expires"
    assert main(["model", "import", str(source), "--out", str(target)]) == 1
    assert main(["model", "import", str(source)]) == 0
    assert "prod-orders" in capsys.readouterr().out
    assert main(["model", "import", str(tmp_path / "none.tf")]) == 2
    assert f"{tmp_path / 'none.tf'}: cannot read it: No such file" in capsys.readouterr().err
