"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup and RestoreTableFromBackup as a client sees them."""

import re
import time
from typing import Any

import pytest

from item_tables import index, make_table, refused, unique, wait_until_active

MISSING = "arn:aws:dynamodb:us-east-1:000000000000:table/nowhere/backup/01489602797149-73d8d5bc"
SIZE = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
SECONDS = 60


def back_up(client: Any, name: str, label: str = "label") -> str:
    arn = str(client.create_backup(TableName=name, BackupName=label)["BackupDetails"]["BackupArn"])
    deadline = time.monotonic() + SECONDS
    while details(client, arn)["BackupStatus"] != "AVAILABLE":
        assert time.monotonic() < deadline
    return arn


def details(client: Any, arn: str) -> Any:
    return client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]


def validation(message: str) -> tuple[str, str]:
    return "ValidationException", message


def not_found(arn: str) -> tuple[str, str]:
    return "BackupNotFoundException", f"Backup not found: {arn}"


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    name = make_table(
        client,
        "pk",
        "sk",
        types={"l": "S", "g": "S"},
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[index("global", "g", projection="INCLUDE", included=("v",))],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        Tags=[{"Key": "k", "Value": "v"}],
        DeletionProtectionEnabled=True,
        OnDemandThroughput={"MaxReadRequestUnits": 500, "MaxWriteRequestUnits": 600},
    )
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
    )
    for number in range(20):
        item = {"pk": {"S": f"p{number % 4}"}, "sk": {"S": f"s{number}"}, "g": {"S": "x"}, "l": {"S": "y"}}
        client.put_item(TableName=name, Item=item)
    return name


@pytest.fixture(scope="module")
def backup(client: Any, table: str) -> str:
    return back_up(client, table)


@pytest.fixture(scope="module")
def provisioned(client: Any) -> tuple[str, str]:
    """A table with provisioned capacity, and a backup of it."""
    indexes = [{**index("global", "g"), "ProvisionedThroughput": SIZE}]
    name = make_table(
        client, "pk", types={"g": "S"}, ProvisionedThroughput=SIZE, GlobalSecondaryIndexes=indexes
    )
    return name, back_up(client, name)


def test_what_create_answers(client: Any, hash_table: str) -> None:
    made = client.create_backup(TableName=hash_table, BackupName="a.b_c-1")["BackupDetails"]
    assert set(made) == {
        "BackupArn",
        "BackupName",
        "BackupSizeBytes",
        "BackupStatus",
        "BackupType",
        "BackupCreationDateTime",
    }
    assert (made["BackupName"], made["BackupStatus"], made["BackupType"]) == ("a.b_c-1", "CREATING", "USER")
    match = re.fullmatch(
        rf"arn:aws:dynamodb:us-east-1:000000000000:table/{hash_table}/backup/(\d{{14}})-[0-9a-f]{{8}}",
        made["BackupArn"],
    )
    assert match is not None
    assert int(match[1]) == round(made["BackupCreationDateTime"].timestamp() * 1000)


def test_names_need_not_be_unique(client: Any, hash_table: str) -> None:
    assert len({back_up(client, hash_table, "same") for _ in range(3)}) == 3


def test_by_the_arn_of_the_table(client: Any, table: str) -> None:
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    assert f":table/{table}/backup/" in back_up(client, arn)


def test_a_table_that_there_is_not(client: Any) -> None:
    assert refused(client.create_backup, TableName="nowhere", BackupName="label") == (
        "TableNotFoundException",
        "Table not found: nowhere",
    )


@pytest.mark.parametrize("name", ["ab", "x" * 256, "with space", "deleted$DeletedTableBackup", ""])
def test_names_that_are_refused(client: Any, hash_table: str, name: str) -> None:
    code, message = refused(client.create_backup, TableName=hash_table, BackupName=name)
    assert code == "ValidationException"
    assert "at 'backupName' failed to satisfy constraint" in message


def test_the_description(client: Any, table: str, backup: str) -> None:
    body = client.describe_backup(BackupArn=backup)["BackupDescription"]
    assert set(body) == {"BackupDetails", "SourceTableDetails", "SourceTableFeatureDetails"}
    source = body["SourceTableDetails"]
    described = client.describe_table(TableName=table)["Table"]
    assert source["TableName"] == table
    assert source["TableId"] == described["TableId"]
    assert source["TableArn"] == described["TableArn"]
    assert source["TableCreationDateTime"] == described["CreationDateTime"]
    assert source["ProvisionedThroughput"] == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    assert source["OnDemandThroughput"] == {"MaxReadRequestUnits": 500, "MaxWriteRequestUnits": 600}
    assert (source["ItemCount"], source["BillingMode"]) == (20, "PAY_PER_REQUEST")
    features = body["SourceTableFeatureDetails"]
    assert features["StreamDescription"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert features["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    (local,) = features["LocalSecondaryIndexes"]
    assert set(local) == {"IndexName", "KeySchema", "Projection"}
    (found,) = features["GlobalSecondaryIndexes"]
    assert found["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["v"]}
    assert found["ProvisionedThroughput"] == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}


def test_a_plain_table_has_no_features(client: Any, hash_table: str) -> None:
    arn = back_up(client, hash_table)
    body = client.describe_backup(BackupArn=arn)["BackupDescription"]
    assert body["SourceTableFeatureDetails"] == {}
    assert "OnDemandThroughput" not in body["SourceTableDetails"]


@pytest.mark.parametrize("operation", ["describe_backup", "delete_backup", "restore_table_from_backup"])
class TestArns:
    """What all operations on a backup say of a bad ARN."""

    def refusal(self, client: Any, operation: str, arn: str) -> tuple[str, str]:
        target = {"TargetTableName": "target"} if operation.startswith("restore") else {}
        return refused(getattr(client, operation), BackupArn=arn, **target)

    def test_unknown(self, client: Any, operation: str) -> None:
        assert self.refusal(client, operation, MISSING) == not_found(MISSING)

    def test_of_another_table(self, client: Any, operation: str, table: str, backup: str) -> None:
        arn = backup.replace(table, "nowhere")
        assert self.refusal(client, operation, arn) == not_found(arn)

    @pytest.mark.parametrize("arn", ["x" * 40, "arn:aws:dynamodb:us-east-1:000000000000:table/nowhere"])
    def test_of_no_backup(self, client: Any, operation: str, arn: str) -> None:
        assert self.refusal(client, operation, arn) == validation("Invalid Backup ARN")

    @pytest.mark.parametrize(
        ("old", "new"), [("us-east-1", "mars"), ("arn:aws", "arn:moon"), (":dynamodb:", ":s3:")]
    )
    def test_of_nowhere(self, client: Any, operation: str, old: str, new: str) -> None:
        arn = MISSING.replace(old, new)
        assert self.refusal(client, operation, arn) == validation("Invalid Request: BackupArn is not valid")

    def test_of_another_account(self, client: Any, operation: str) -> None:
        arn = MISSING.replace("000000000000", "111111111111")
        assert self.refusal(client, operation, arn) == ("AccessDeniedException", "Access is denied")

    def test_too_short(self, client: Any, operation: str) -> None:
        code, message = self.refusal(client, operation, "arn:aws:dynamodb")
        assert code == "ValidationException"
        assert "Member must have length greater than or equal to 37" in message


def test_the_region_in_an_arn_does_not_count(client: Any, backup: str) -> None:
    arn = backup.replace("us-east-1", "eu-west-1")
    assert details(client, arn)["BackupArn"] == arn


def test_deleting(client: Any, hash_table: str) -> None:
    arn = back_up(client, hash_table)
    body = client.delete_backup(BackupArn=arn)["BackupDescription"]
    assert body["BackupDetails"]["BackupStatus"] == "DELETED"
    assert body["SourceTableDetails"]["TableName"] == hash_table
    for operation in (client.describe_backup, client.delete_backup):
        assert refused(operation, BackupArn=arn) == not_found(arn)
    assert refused(client.restore_table_from_backup, BackupArn=arn, TargetTableName="target") == not_found(
        arn
    )


def test_listing_a_table(client: Any) -> None:
    name = make_table(client, "pk")
    arns = [back_up(client, name) for _ in range(3)]
    body = client.list_backups(TableName=name)
    assert [found["BackupArn"] for found in body["BackupSummaries"]] == arns
    assert "LastEvaluatedBackupArn" not in body
    assert set(body["BackupSummaries"][0]) == {
        "TableName",
        "TableId",
        "TableArn",
        "BackupArn",
        "BackupName",
        "BackupCreationDateTime",
        "BackupStatus",
        "BackupType",
        "BackupSizeBytes",
    }
    page = client.list_backups(TableName=name, Limit=2)
    assert page["LastEvaluatedBackupArn"] == arns[1]
    client.delete_backup(BackupArn=arns[1])
    rest = client.list_backups(TableName=name, Limit=1, ExclusiveStartBackupArn=arns[1])
    assert [found["BackupArn"] for found in rest["BackupSummaries"]] == arns[2:]
    assert "LastEvaluatedBackupArn" not in rest, "a page that is exactly full is the last"
    for kind, count in (("USER", 2), ("ALL", 2), ("SYSTEM", 0), ("AWS_BACKUP", 0)):
        assert len(client.list_backups(TableName=name, BackupType=kind)["BackupSummaries"]) == count


def test_listing_an_unknown_table(client: Any) -> None:
    assert client.list_backups(TableName="nowhere")["BackupSummaries"] == []


def test_listing_what_is_refused(client: Any) -> None:
    assert refused(client.list_backups, TimeRangeLowerBound=20, TimeRangeUpperBound=10) == validation(
        "One or more parameter values were invalid: Time range lower bound must be less than or equal to upper bound"
    )
    elsewhere = MISSING.replace("us-east-1", "eu-west-1")
    assert refused(client.list_backups, ExclusiveStartBackupArn=elsewhere) == validation(
        "Invalid Request: The supplied ExclusiveStartBackupArn does not match the region"
    )
    assert client.list_backups(ExclusiveStartBackupArn=MISSING, Limit=1)["BackupSummaries"]
    for options in ({"Limit": 0}, {"Limit": 101}, {"BackupType": "user"}, {"BackupType": "OTHER"}):
        assert refused(client.list_backups, **options)[0] == "ValidationException"


def restore(client: Any, arn: str, **overrides: Any) -> Any:
    name = unique("restored")
    answer = client.restore_table_from_backup(BackupArn=arn, TargetTableName=name, **overrides)
    body = answer["TableDescription"]
    assert body["TableStatus"] == "CREATING"
    wait_until_active(client, name)
    return client.describe_table(TableName=name)["Table"]


def test_a_restored_table(client: Any, table: str, backup: str) -> None:
    name = unique("restored")
    body = client.restore_table_from_backup(BackupArn=backup, TargetTableName=name)["TableDescription"]
    summary = body["RestoreSummary"]
    source = client.describe_table(TableName=table)["Table"]
    assert (summary["SourceBackupArn"], summary["SourceTableArn"]) == (backup, source["TableArn"])
    assert summary["RestoreInProgress"] is True
    assert "IndexStatus" not in body["GlobalSecondaryIndexes"][0]
    wait_until_active(client, name)
    found = client.describe_table(TableName=name)["Table"]
    for gone in ("RestoreSummary", "StreamSpecification", "LatestStreamArn"):
        assert gone not in found
    assert found["TableId"] != source["TableId"]
    assert found["DeletionProtectionEnabled"] is False
    assert found["OnDemandThroughput"] == source["OnDemandThroughput"]
    assert [each["IndexName"] for each in found["GlobalSecondaryIndexes"]] == ["global"]
    assert [each["IndexName"] for each in found["LocalSecondaryIndexes"]] == ["local"]
    assert client.list_tags_of_resource(ResourceArn=found["TableArn"])["Tags"] == []
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "DISABLED"}
    assert client.scan(TableName=name)["Items"] == client.scan(TableName=table)["Items"]
    assert client.scan(TableName=name, IndexName="global")["Count"] == 20


def test_overrides(client: Any, backup: str, provisioned: tuple[str, str]) -> None:
    bare = restore(client, backup, GlobalSecondaryIndexOverride=[], LocalSecondaryIndexOverride=[])
    assert "GlobalSecondaryIndexes" not in bare
    assert "LocalSecondaryIndexes" not in bare
    assert {each["AttributeName"] for each in bare["AttributeDefinitions"]} == {"pk", "sk"}
    renamed = restore(
        client,
        backup,
        GlobalSecondaryIndexOverride=[index("other", "g", projection="INCLUDE", included=("v",))],
    )
    assert [each["IndexName"] for each in renamed["GlobalSecondaryIndexes"]] == ["other"]
    free = restore(client, provisioned[1], BillingModeOverride="PAY_PER_REQUEST")
    assert free["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert free["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    kept = restore(client, provisioned[1])
    assert kept["ProvisionedThroughput"]["WriteCapacityUnits"] == 6
    assert kept["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 6


@pytest.mark.parametrize(
    ("of_provisioned", "overrides", "rule"),
    [
        (
            False,
            {"GlobalSecondaryIndexOverride": [index("new", "other")]},
            (
                "Index new does not match a secondary index that existed in the source table and cannot be created "
                "during the restore operation"
            ),
        ),
        (
            False,
            {"GlobalSecondaryIndexOverride": [index("global", "g")]},
            (
                "Index global does not match a secondary index that existed in the source table and cannot be created "
                "during the restore operation"
            ),
        ),
        (
            False,
            {"BillingModeOverride": "PAY_PER_REQUEST", "ProvisionedThroughputOverride": SIZE},
            "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST",
        ),
        (
            False,
            {"ProvisionedThroughputOverride": SIZE},
            "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
        ),
        (
            False,
            {"BillingModeOverride": "PROVISIONED"},
            "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
        ),
        (
            False,
            {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": SIZE},
            "Must specify provisioned throughput for index global",
        ),
        (
            True,
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 10}},
            (
                "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is "
                "PAY_PER_REQUEST"
            ),
        ),
        (
            False,
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}},
            "Requested MaxReadRequestUnits for OnDemandThroughput is outside of valid range",
        ),
    ],
)
def test_overrides_that_are_refused(
    client: Any,
    backup: str,
    provisioned: tuple[str, str],
    of_provisioned: bool,
    overrides: dict[str, Any],
    rule: str,
) -> None:
    arn = provisioned[1] if of_provisioned else backup
    name = unique("restored")
    request = {"BackupArn": arn, "TargetTableName": name, **overrides}
    assert refused(client.restore_table_from_backup, **request) == validation(f"Invalid Request: {rule}")
    assert refused(client.describe_table, TableName=name)[0] == "ResourceNotFoundException"


def test_a_target_that_exists(client: Any, table: str, backup: str, hash_table: str) -> None:
    for name in (hash_table, table):
        assert refused(client.restore_table_from_backup, BackupArn=backup, TargetTableName=name) == (
            "TableAlreadyExistsException",
            f"Table already exists: {name}",
        )
