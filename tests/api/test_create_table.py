"""CreateTable: what is accepted, what is refused and in which words, and how the answer looks."""

import re
from typing import Any

import pytest

from item_tables import (
    definitions,
    index,
    invalid,
    key_schema,
    make_table,
    refused,
    unique,
    wait_until_active,
)
from new_tables import UNITS, WRONG, request


def test_a_new_on_demand_table(client: Any) -> None:
    name = unique("created")
    made = client.create_table(**request("p", TableName=name))["TableDescription"]
    table_id = made.pop("TableId")
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", table_id)
    created_at = made.pop("CreationDateTime")
    assert made == {
        "TableName": name,
        "TableStatus": "CREATING",
        "TableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}",
        "AttributeDefinitions": definitions(p="S"),
        "KeySchema": key_schema("p"),
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 0,
            "WriteCapacityUnits": 0,
        },
        "ItemCount": 0,
        "TableSizeBytes": 0,
        "DeletionProtectionEnabled": False,
    }
    wait_until_active(client, name)
    described = client.describe_table(TableName=name)["Table"]
    assert described["TableId"] == table_id
    assert described["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12000,
        "WriteUnitsPerSecond": 4000,
        "Status": "ACTIVE",
    }
    assert described["BillingModeSummary"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": created_at,
    }


def test_a_new_provisioned_table_has_no_billing_summary(client: Any) -> None:
    asked = request("p", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    made = client.create_table(**asked)["TableDescription"]
    assert made["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    assert "BillingModeSummary" not in made
    wait_until_active(client, made["TableName"])
    described = client.describe_table(TableName=made["TableName"])["Table"]
    assert "BillingModeSummary" not in described
    assert described["WarmThroughput"] == {
        "ReadUnitsPerSecond": 5,
        "WriteUnitsPerSecond": 6,
        "Status": "ACTIVE",
    }


def test_the_newer_name_of_the_billing_mode_gives_way_to_the_older_one(raw: Any) -> None:
    asked = request("p", BillingMode=None, TableThroughputMode="PAY_PER_REQUEST")
    made = raw("CreateTable", asked).body["TableDescription"]
    assert made["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert made["TableThroughputModeSummary"] == {"TableThroughputMode": "PAY_PER_REQUEST"}
    asked = request(
        "p",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        TableThroughputMode="PAY_PER_REQUEST",
    )
    assert "BillingModeSummary" not in raw("CreateTable", asked).body["TableDescription"]


def test_indexes_are_described_with_the_table(client: Any) -> None:
    asked = request(
        "p",
        "s",
        types={"l": "N", "g": "B"},
        LocalSecondaryIndexes=[index("local", "p", "l", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[index("global", "g", projection="INCLUDE", included=("zz", "aa"))],
    )
    made = client.create_table(**asked)["TableDescription"]
    arn = made["TableArn"]
    assert made["LocalSecondaryIndexes"] == [
        {
            **index("local", "p", "l", projection="KEYS_ONLY"),
            "IndexArn": f"{arn}/index/local",
            "IndexSizeBytes": 0,
            "ItemCount": 0,
        }
    ]
    assert made["GlobalSecondaryIndexes"] == [
        {
            **index("global", "g", projection="INCLUDE", included=("aa", "zz")),
            "IndexArn": f"{arn}/index/global",
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexStatus": "CREATING",
            "ProvisionedThroughput": {
                "NumberOfDecreasesToday": 0,
                "ReadCapacityUnits": 0,
                "WriteCapacityUnits": 0,
            },
        }
    ]
    assert made["AttributeDefinitions"] == definitions(g="B", l="N", p="S", s="S")
    wait_until_active(client, made["TableName"])
    (described,) = client.describe_table(TableName=made["TableName"])["Table"]["GlobalSecondaryIndexes"]
    assert described["IndexStatus"] == "ACTIVE"
    assert described["WarmThroughput"]["Status"] == "ACTIVE"
    assert "Backfilling" not in described


def test_stream_encryption_class_protection_and_tags(client: Any) -> None:
    asked = request(
        "p",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        SSESpecification={"Enabled": True},
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
        OnDemandThroughput={"MaxReadRequestUnits": 7},
        WarmThroughput={"ReadUnitsPerSecond": 12001},
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    made = client.create_table(**asked)["TableDescription"]
    assert made["StreamSpecification"] == asked["StreamSpecification"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", made["LatestStreamLabel"])
    assert made["LatestStreamArn"] == f"{made['TableArn']}/stream/{made['LatestStreamLabel']}"
    assert made["SSEDescription"]["Status"] == "ENABLED"
    assert made["SSEDescription"]["SSEType"] == "KMS"
    assert made["SSEDescription"]["KMSMasterKeyArn"].startswith("arn:aws:kms:us-east-1:000000000000:key/")
    assert made["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert made["DeletionProtectionEnabled"] is True
    assert made["OnDemandThroughput"] == {"MaxReadRequestUnits": 7}
    assert made["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12001,
        "WriteUnitsPerSecond": 4000,
        "Status": "UPDATING",
    }
    tags = client.list_tags_of_resource(ResourceArn=made["TableArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "blue"}]


def test_a_name_is_taken_once(client: Any) -> None:
    name = make_table(client, "p")
    again = request("p", "s", TableName=name)
    assert refused(client.create_table, **again) == (
        "ResourceInUseException",
        f"Table already exists: {name}",
    )


@pytest.mark.parametrize("length", [3, 255])
def test_names_of_all_allowed_lengths(client: Any, length: int) -> None:
    name = unique("n").rjust(length, "_")[-length:]
    assert make_table(client, "p", TableName=name) == name


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("ab", "Member must have length greater than or equal to 3"),
        ("a" * 256, "Member must have length less than or equal to 255"),
        ("bad table!", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
    ],
)
def test_names_that_are_not_allowed(client: Any, name: str, rule: str) -> None:
    assert invalid(client.create_table, **request("p", TableName=name)) == (
        f"1 validation error detected: Value '{name}' at 'tableName' failed to satisfy constraint: {rule}"
    )


def test_without_a_name(client: Any) -> None:
    assert invalid(client.create_table, **request("p", TableName=None)) == (
        "The parameter 'TableName' is required but was not present in the request"
    )


def test_constraints_are_reported_together_and_global_indexes_before_local_ones(client: Any) -> None:
    asked = request(
        "p",
        TableName="ab",
        LocalSecondaryIndexes=[index("l", "p", "s")],
        GlobalSecondaryIndexes=[index("", "p")],
        BillingMode="FREE",
    )
    assert invalid(client.create_table, **asked) == (
        "5 validation errors detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have "
        "length greater than or equal to 3; Value 'FREE' at 'billingMode' failed to satisfy constraint: Member "
        "must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]; Value '' at "
        "'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length "
        "greater than or equal to 3; Value '' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy "
        "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'l' at "
        "'localSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length "
        "greater than or equal to 3"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"KeySchema": [{"AttributeName": "p", "KeyType": "INVALID"}]},
            (
                "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy "
                "constraint: Member must satisfy enum value set: [HASH, RANGE]"
            ),
        ),
        (
            {"AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "SS"}]},
            (
                "1 validation error detected: Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to "
                "satisfy constraint: Member must satisfy enum value set: [B, N, S]"
            ),
        ),
        (
            {"KeySchema": []},
            (
                "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: Member must "
                "have length greater than or equal to 1"
            ),
        ),
        (
            {"KeySchema": key_schema("p", "s") + key_schema("q")},
            (
                "1 validation error detected: Value '[KeySchemaElement(attributeName=p, keyType=HASH), "
                "KeySchemaElement(attributeName=s, keyType=RANGE), KeySchemaElement(attributeName=q, keyType=HASH)]' "
                "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"
            ),
        ),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 0}},
            (
                "2 validation errors detected: Value null at 'provisionedThroughput.writeCapacityUnits' failed to "
                "satisfy constraint: Member must not be null; Value '0' at 'provisionedThroughput.readCapacityUnits' "
                "failed to satisfy constraint: Member must have value greater than or equal to 1"
            ),
        ),
    ],
)
def test_constraints(client: Any, changes: dict[str, Any], message: str) -> None:
    assert invalid(client.create_table, **request("p", **changes)) == message


@pytest.mark.parametrize(
    ("keys", "defined", "message"),
    [
        (key_schema("p"), {}, "Invalid KeySchema: Some index key attribute have no definition"),
        (key_schema("p", "p"), {"p": "S"}, "Invalid KeySchema: Some index key attribute have no definition"),
        (
            key_schema("x"),
            {"y": "S"},
            WRONG + "Some index key attributes are not defined in AttributeDefinitions. Keys: [x], "
            "AttributeDefinitions: [y]",
        ),
        (
            key_schema("p", "p"),
            {"p": "S", "q": "S"},
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            key_schema("p", "s")[::-1],
            {"p": "S", "s": "S"},
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            key_schema("p") + key_schema("s"),
            {"p": "S", "s": "S"},
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ),
        (
            key_schema("p"),
            {"p": "S", "s": "S"},
            WRONG
            + "Number of attributes in KeySchema does not exactly match number of attributes defined in "
            "AttributeDefinitions",
        ),
    ],
)
def test_keys_and_definitions_must_match(
    client: Any, keys: list[dict[str, str]], defined: dict[str, str], message: str
) -> None:
    asked = request("p", KeySchema=keys, AttributeDefinitions=definitions(**defined))
    assert invalid(client.create_table, **asked) == message


def test_a_definition_given_twice(client: Any) -> None:
    asked = request("p", AttributeDefinitions=definitions(p="S") + definitions(p="N"))
    assert invalid(client.create_table, **asked) == "Attribute Name is duplicated: p"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"ProvisionedThroughput": UNITS},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingMode": "PROVISIONED"},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        ),
        (
            {"BillingMode": None},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        ),
        (
            {
                "BillingMode": None,
                "ProvisionedThroughput": UNITS,
                "OnDemandThroughput": {"MaxReadRequestUnits": 1},
            },
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
        ),
        (
            {"OnDemandThroughput": {"MaxWriteRequestUnits": 0}},
            "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range",
        ),
        (
            {"WarmThroughput": {"WriteUnitsPerSecond": 3999}},
            (
                "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than initial throughput for "
                "OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
                "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
            ),
        ),
        (
            {
                "BillingMode": None,
                "ProvisionedThroughput": UNITS,
                "WarmThroughput": {"ReadUnitsPerSecond": 4},
            },
            (
                "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of "
                "ProvisionedThroughput"
            ),
        ),
        (
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}},
            "Table is being created with a stream disabled, UpdateViewType should not be specified",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True}},
            "Table is being created with a stream enabled, UpdateViewType is required",
        ),
        (
            {"SSESpecification": {"Enabled": False, "SSEType": "KMS"}},
            "SSEType can not be specified if Enabled is false",
        ),
        (
            {"SSESpecification": {"Enabled": True, "KMSMasterKeyId": "k"}},
            "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
        ({"LocalSecondaryIndexes": []}, "List of LocalSecondaryIndexes is empty"),
        ({"GlobalSecondaryIndexes": []}, "List of GlobalSecondaryIndexes is empty"),
    ],
)
def test_contradictions(client: Any, changes: dict[str, Any], message: str) -> None:
    assert invalid(client.create_table, **request("p", **changes)) == WRONG + message


def test_a_table_class_there_is_not(client: Any) -> None:
    assert invalid(client.create_table, **request("p", TableClass="standard")) == (
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
    )


def test_forty_thousand_units_per_table_and_no_more(client: Any) -> None:
    units = {"ReadCapacityUnits": 40_000, "WriteCapacityUnits": 1}
    name = make_table(client, "p", ProvisionedThroughput=units)
    client.delete_table(TableName=name)
    units["ReadCapacityUnits"] = 40_001
    asked = request("p", BillingMode=None, ProvisionedThroughput=units)
    assert refused(client.create_table, **asked) == (
        "LimitExceededException",
        (
            "The requested ReadCapacityUnits, 40001, is above the per table maximum for the account in us-east-1. Per "
            "table maximum: 40000. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "
            "higher limits."
        ),
    )


def test_absurd_units(client: Any) -> None:
    units = {"ReadCapacityUnits": 1_000_000_000_001, "WriteCapacityUnits": 1_000_000_000_001}
    assert invalid(client.create_table, **request("p", BillingMode=None, ProvisionedThroughput=units)) == (
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds"
    )


def test_a_region_has_tables_of_its_own(client: Any, make_client: Any) -> None:
    name = make_table(client, "p")
    elsewhere = make_client(region="eu-west-1")
    assert make_table(elsewhere, "p", TableName=name) == name
    arn = elsewhere.describe_table(TableName=name)["Table"]["TableArn"]
    assert arn == f"arn:aws:dynamodb:eu-west-1:000000000000:table/{name}"


def test_wrong_types(raw: Any) -> None:
    answer = raw("CreateTable", {"TableName": "abc", "KeySchema": [1]})
    assert (answer.error, answer.body["Message"]) == (
        "SerializationException",
        "Unexpected value type in payload",
    )


def test_units_may_be_text_where_all_else_is_there(raw: Any, client: Any) -> None:
    """The forms of graphical clients send them so; the service refuses it."""
    name = unique("units")
    units = {"ReadCapacityUnits": "5", "WriteCapacityUnits": "7"}
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": key_schema("pk"),
        "AttributeDefinitions": definitions(pk="S"),
        "ProvisionedThroughput": units,
    }
    assert raw("CreateTable", request).status == 200
    shown = client.describe_table(TableName=name)["Table"]["ProvisionedThroughput"]
    assert (shown["ReadCapacityUnits"], shown["WriteCapacityUnits"]) == (5, 7)
    for text in ("", "5.0", "-5", "five", "\u0665", "1" * 19):
        answer = raw(
            "CreateTable", {**request, "ProvisionedThroughput": {**units, "ReadCapacityUnits": text}}
        )
        assert answer.body["Message"] == "STRING_VALUE cannot be converted to Long"
    for missing in ("TableName", "KeySchema", "AttributeDefinitions"):
        part = {member: value for member, value in request.items() if member != missing}
        assert raw("CreateTable", part).body["Message"] == "STRING_VALUE cannot be converted to Long"
    answer = raw("UpdateTable", {"TableName": name, "ProvisionedThroughput": units})
    assert answer.body["Message"] == "STRING_VALUE cannot be converted to Long"
