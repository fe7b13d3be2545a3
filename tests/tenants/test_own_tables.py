"""A table for each tenant, told apart by names or by tags: no operation leads from one's own to the other's."""

import json
import time
from typing import Any

import pytest

from item_tables import definitions, key_schema
from permissions.test_needs import DYNAMODB, ORDERS
from tenants.shared_house import ACCOUNT, CANARY, TABLES, House, allow, document, trust
from tenants.signed_callers import Reply, SignedCaller
from transfers import until

DENIED = "AccessDeniedException"
STREAMS = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
MINE, THEIRS = "alice_notes", "bob_notes"
SCHEMA = {
    "KeySchema": key_schema("id"),
    "AttributeDefinitions": definitions(id="S"),
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}
OWN = "${aws:PrincipalTag/tenant}"
TENANT_TAG = {"ForAnyValue:StringEqualsIgnoreCase": {"aws:TagKeys": ["tenant"]}}
BY_NAME = [
    allow("dynamodb:*", resource=f"{TABLES}/{OWN}_*"),
    allow(
        "cloudwatch:GetInsightRuleReport",
        resource=f"arn:aws:cloudwatch:us-east-1:{ACCOUNT}:insight-rule/*-{OWN}_*",
    ),
]
BY_TAG = [
    allow("dynamodb:*", Condition={"StringEquals": {"aws:ResourceTag/tenant": OWN}}),
    {
        **allow("TagResource", Condition={"StringNotEquals": {"aws:RequestTag/tenant": OWN}, **TENANT_TAG}),
        "Effect": "Deny",
    },
    {**allow("UntagResource", Condition=TENANT_TAG), "Effect": "Deny"},
]


@pytest.fixture(scope="session")
def tables(house: House) -> None:
    """A table of each, with a tag, an item, a stream and recovery."""
    for name in (MINE, THEIRS):
        house.table(name, **SCHEMA, Tags=[{"Key": "tenant", "Value": name.partition("_")[0]}])
        secret = CANARY if name == THEIRS else "own"
        house.must("PutItem", TableName=name, Item={"id": {"S": "1"}, "secret": {"S": secret}})
        recovery = {"PointInTimeRecoveryEnabled": True}
        house.must("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=recovery)
        house.must("UpdateContributorInsights", TableName=name, ContributorInsightsAction="ENABLE")


@pytest.fixture(scope="session")
def callers(house: House, tables: None) -> dict[str, SignedCaller]:
    broker = trust(f"arn:aws:iam::{ACCOUNT}:user/broker")
    tags = [{"Key": "tenant", "Value": "alice"}]
    return {
        name: house.people["broker"].assume(
            house.role(f"own-{name}", broker, *statements), "alice", Tags=tags
        )
        for name, statements in (("names", BY_NAME), ("tags", BY_TAG))
    }


@pytest.fixture(params=["names", "tags"])
def alice(callers: dict[str, SignedCaller], request: pytest.FixtureRequest) -> SignedCaller:
    return callers[request.param]


@pytest.fixture
def named(callers: dict[str, SignedCaller]) -> SignedCaller:
    return callers["names"]


def retargeted(request: Any, table: str) -> Any:
    return json.loads(json.dumps(request).replace("orders", table))


def asked(caller: SignedCaller, name: str, request: Any) -> Reply:
    return caller.ask(name, request, service="streams" if name in STREAMS else "dynamodb")


def denied(reply: Reply) -> bool:
    assert CANARY.encode() not in reply.raw
    return reply.error == DENIED


def test_no_operation_reaches_the_table_of_the_other(alice: SignedCaller) -> None:
    for name, (request, needs) in DYNAMODB.items():
        if needs and name != "BatchExecuteStatement":
            reply = asked(alice, name, retargeted(request, THEIRS))
            assert (name, denied(reply)) == (name, True), reply.raw


def test_every_operation_reaches_the_own_table(alice: SignedCaller) -> None:
    """Whatever else may be wrong with these requests."""
    for name, (request, needs) in DYNAMODB.items():
        if name not in {"DeleteTable", "CreateTable"} and {resource for _, resource in needs} == {ORDERS}:
            reply = asked(alice, name, retargeted(request, MINE))
            assert (name, denied(reply)) == (name, False), reply.raw
    assert alice.ask("GetItem", {"TableName": MINE, "Key": {"id": {"S": "1"}}}).status == 200


def test_a_transaction_over_both_tables_does_nothing(house: House, alice: SignedCaller) -> None:
    item = {"id": {"S": "both"}}
    puts = [{"Put": {"TableName": name, "Item": item}} for name in (MINE, THEIRS)]
    assert denied(alice.ask("TransactWriteItems", {"TransactItems": puts}))
    batch = {name: [{"PutRequest": {"Item": item}}] for name in (MINE, THEIRS)}
    assert denied(alice.ask("BatchWriteItem", {"RequestItems": batch}))
    gets = {name: {"Keys": [{"id": {"S": "1"}}]} for name in (MINE, THEIRS)}
    assert denied(alice.ask("BatchGetItem", {"RequestItems": gets}))
    for name in (MINE, THEIRS):
        assert "Item" not in house.must("GetItem", TableName=name, Key=item)


def _stream(house: House, table: str) -> str:
    arn: str = house.must("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    return arn


def _iterator(house: House, table: str) -> str:
    arn = _stream(house, table)
    described = house.admin.ask("DescribeStream", {"StreamArn": arn}, service="streams").body
    wanted = {
        "StreamArn": arn,
        "ShardId": described["StreamDescription"]["Shards"][0]["ShardId"],
        "ShardIteratorType": "TRIM_HORIZON",
    }
    iterator: str = house.admin.ask("GetShardIterator", wanted, service="streams").body["ShardIterator"]
    return iterator


def test_a_stream_is_reached_by_its_own_name_only(house: House, alice: SignedCaller) -> None:
    theirs = _iterator(house, THEIRS)
    assert denied(asked(alice, "GetRecords", {"ShardIterator": theirs}))
    for forged in (
        theirs.replace(_stream(house, THEIRS), _stream(house, MINE)),
        theirs.replace(THEIRS, MINE),
        _stream(house, MINE) + "|" + theirs,
    ):
        reply = asked(alice, "GetRecords", {"ShardIterator": forged})
        assert reply.error in {DENIED, "ValidationException", "ResourceNotFoundException"}, reply.raw
        assert CANARY.encode() not in reply.raw
    label = _stream(house, THEIRS).rpartition("/")[2]
    mixed = asked(alice, "DescribeStream", {"StreamArn": f"{TABLES}/{MINE}/stream/{label}"})
    assert mixed.error in {DENIED, "ResourceNotFoundException"}
    own = asked(alice, "GetRecords", {"ShardIterator": _iterator(house, MINE)})
    assert own.status == 200


def test_a_backup_is_reached_by_its_own_name_only(house: House, named: SignedCaller) -> None:
    arns = {}
    for name in (MINE, THEIRS):
        arn = house.must("CreateBackup", TableName=name, BackupName="backup")["BackupDetails"]["BackupArn"]
        _until_available(house, arn)
        arns[name] = arn
    mixed = arns[THEIRS].replace(THEIRS, MINE)
    for operation in ("DescribeBackup", "DeleteBackup"):
        assert denied(named.ask(operation, {"BackupArn": arns[THEIRS]}))
        assert named.ask(operation, {"BackupArn": mixed}).error == "BackupNotFoundException"
    for arn, target, code in (
        (arns[THEIRS], "alice_stolen", DENIED),
        (mixed, "alice_stolen", "BackupNotFoundException"),
        (arns[MINE], "bob_planted", DENIED),
        (arns[MINE], THEIRS, DENIED),
        (arns[THEIRS].replace("us-east-1", "eu-west-1"), "alice_stolen", DENIED),
        (arns[THEIRS].replace("arn:aws:", "arn:aws-cn:"), "alice_stolen", DENIED),
    ):
        reply = named.ask("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": target})
        assert (reply.error, CANARY.encode() in reply.raw) == (code, False), reply.raw
    own = {"BackupArn": arns[MINE], "TargetTableName": "alice_restored"}
    assert named.ask("RestoreTableFromBackup", own).status == 200
    house.until_active("alice_restored")
    # So by tags it is nobody's yet.
    assert house.must("ListTagsOfResource", ResourceArn=f"{TABLES}/alice_restored")["Tags"] == []
    assert named.ask("DescribeBackup", {"BackupArn": arns[MINE]}).status == 200


def _until_available(house: House, arn: str) -> None:
    def available() -> bool:
        described = house.must("DescribeBackup", BackupArn=arn)["BackupDescription"]["BackupDetails"]
        return bool(described["BackupStatus"] == "AVAILABLE")

    until(available)


def test_another_past_is_not_restored(house: House, named: SignedCaller) -> None:
    latest = {"UseLatestRestorableTime": True}
    for source in (
        {"SourceTableName": THEIRS},
        {"SourceTableArn": f"{TABLES}/{THEIRS}"},
        {"SourceTableArn": f"{TABLES}/{THEIRS}".replace("arn:aws:", "arn:aws-cn:")},
        {"SourceTableName": MINE, "SourceTableArn": f"{TABLES}/{THEIRS}"},
        {"SourceTableName": THEIRS, "SourceTableArn": f"{TABLES}/{MINE}"},
    ):
        request = {**source, "TargetTableName": "alice_past", **latest}
        assert denied(named.ask("RestoreTableToPointInTime", request)), source
    planted = {"SourceTableName": MINE, "TargetTableName": "bob_past", **latest}
    assert denied(named.ask("RestoreTableToPointInTime", planted))


def test_contributors_are_shown_of_the_own_table_only(named: SignedCaller) -> None:
    end = int(time.time())
    for table, code in ((MINE, 200), (THEIRS, 400)):
        request = {
            "RuleName": f"DynamoDBContributorInsights-PKC-{table}",
            "StartTime": end - 3600,
            "EndTime": end,
            "Period": 60,
        }
        reply = named.ask("GetInsightRuleReport", request, service="monitoring")
        assert reply.status == code or reply.error == "ResourceNotFoundException", reply.raw
        assert (table, CANARY.encode() in reply.raw) == (table, False)


def test_a_tag_is_not_changed_to_that_of_the_other(house: House, callers: dict[str, SignedCaller]) -> None:
    alice, arn = callers["tags"], f"{TABLES}/{MINE}"
    bobs, mine = [{"Key": "tenant", "Value": "bob"}], [{"Key": "tenant", "Value": "alice"}]
    assert denied(alice.ask("TagResource", {"ResourceArn": f"{TABLES}/{THEIRS}", "Tags": mine}))
    assert denied(alice.ask("TagResource", {"ResourceArn": arn, "Tags": bobs}))
    assert denied(alice.ask("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "TENANT", "Value": "bob"}]}))
    assert denied(alice.ask("UntagResource", {"ResourceArn": arn, "TagKeys": ["tenant"]}))
    assert denied(alice.ask("UntagResource", {"ResourceArn": arn, "TagKeys": ["other", "tenant"]}))
    other = {"ResourceArn": arn, "Tags": [{"Key": "stage", "Value": "test"}]}
    assert alice.ask("TagResource", other).status == 200
    tags = house.must("ListTagsOfResource", ResourceArn=arn)["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"tenant": "alice", "stage": "test"}


def test_a_new_table_has_the_own_tag(callers: dict[str, SignedCaller]) -> None:
    request = {**SCHEMA, "BillingMode": "PAY_PER_REQUEST", "TableName": "anything"}
    for tags in (
        [],
        [{"Key": "tenant", "Value": "bob"}],
        [{"Key": "stage", "Value": "alice"}],
        [{"Key": "tenant", "Value": "bob"}, {"Key": "Tenant", "Value": "alice"}],
    ):
        assert denied(callers["tags"].ask("CreateTable", {**request, "Tags": tags})), tags
    tags = [{"Key": "tenant", "Value": "alice"}]
    assert callers["tags"].ask("CreateTable", {**request, "Tags": tags}).status == 200


def test_a_policy_on_the_own_table_opens_no_other(house: House, named: SignedCaller) -> None:
    """Its Resource may name any table; it is asked about its own only."""
    arn = f"{TABLES}/{MINE}"
    statement = {"Principal": {"AWS": ACCOUNT}, **allow("dynamodb:*", resource=[f"{TABLES}/{THEIRS}", "*"])}
    put = named.ask("PutResourcePolicy", {"ResourceArn": arn, "Policy": document(statement)})
    assert put.status == 200, put.raw
    assert denied(named.ask("GetItem", {"TableName": THEIRS, "Key": {"id": {"S": "1"}}}))
    assert denied(
        named.ask("PutResourcePolicy", {"ResourceArn": f"{TABLES}/{THEIRS}", "Policy": document(statement)})
    )
    house.must("DeleteResourcePolicy", ResourceArn=arn)
