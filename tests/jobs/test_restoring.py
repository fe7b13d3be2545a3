"""What is refused while a table is being restored, and how far back restores reach."""

import itertools
from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.keys import encoding
from hashrange.jobs import piece_sizes
from hashrange.storage import history, layout
from item_tables import index
from new_tables import request as new_table

DAY = 86_400
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/target"


@pytest.fixture
def service() -> Clocked:
    service = Clocked(transition_ms=0)
    service.call(
        "CreateTable",
        **new_table("pk", TableName="tab", types={"g": "S"}, GlobalSecondaryIndexes=[index("by-g", "g")]),
    )
    service.settle()
    put(service, "old")
    return service


def put(service: Clocked, value: str, key: str = "k") -> None:
    item = {"pk": {"S": key}, "g": {"S": "x"}, "v": {"S": value}}
    service.call("PutItem", TableName="tab", Item=item)


def switch(service: Clocked, *, enabled: bool = True, **options: Any) -> Any:
    spec = {"PointInTimeRecoveryEnabled": enabled, **options}
    answer = service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)
    return answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]


def back_up(service: Clocked) -> str:
    answer = service.call("CreateBackup", TableName="tab", BackupName="name")
    service.run_jobs()
    return str(answer["BackupDetails"]["BackupArn"])


def restore_from(service: Clocked, arn: str, target: str = "target") -> Any:
    return service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName=target)


@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "k", "Value": "v"}]}),
        ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["k"]}),
        ("ListTagsOfResource", {"ResourceArn": ARN}),
        ("DescribeTimeToLive", {"TableName": "target"}),
        (
            "UpdateTimeToLive",
            {"TableName": "target", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}},
        ),
        ("UpdateTable", {"TableName": "target", "DeletionProtectionEnabled": True}),
    ],
)
def test_a_table_that_is_being_restored_is_not_there_for_settings(
    service: Clocked, operation: str, request_body: dict[str, Any]
) -> None:
    restore_from(service, back_up(service))
    code, message = service.refused(operation, **request_body)
    assert code == "ResourceNotFoundException"
    assert message == "Requested resource not found: Table: target not found"


def test_nor_for_backups_and_items(service: Clocked) -> None:
    arn = back_up(service)
    restore_from(service, arn)
    missing = ("TableNotFoundException", "Table not found: target")
    spec = {"PointInTimeRecoveryEnabled": True}
    assert service.refused("CreateBackup", TableName="target", BackupName="name") == missing
    assert service.refused("DescribeContinuousBackups", TableName="target") == missing
    assert (
        service.refused("UpdateContinuousBackups", TableName="target", PointInTimeRecoverySpecification=spec)
        == missing
    )
    assert (
        service.refused(
            "RestoreTableToPointInTime",
            SourceTableName="target",
            TargetTableName="third",
            UseLatestRestorableTime=True,
        )
        == missing
    )
    key = {"pk": {"S": "k"}}
    assert service.refused("GetItem", TableName="target", Key=key)[0] == "ResourceNotFoundException"
    assert service.refused("PutItem", TableName="target", Item=key)[0] == "ResourceNotFoundException"


def test_it_can_neither_be_created_nor_deleted(service: Clocked) -> None:
    arn = back_up(service)
    restore_from(service, arn)
    assert service.refused("CreateTable", **new_table("pk", TableName="target")) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table is being used: target",
    )
    assert service.refused("DeleteTable", TableName="target")[0] == "ResourceInUseException"
    service.run_jobs()
    assert service.describe("target")["TableStatus"] == "ACTIVE"
    service.call("DeleteTable", TableName="target")


def test_what_is_in_use(service: Clocked) -> None:
    arn = back_up(service)
    other = back_up(service)
    restore_from(service, arn)
    request = {"BackupArn": other, "TargetTableName": "target"}
    assert service.refused("RestoreTableFromBackup", **request) == (
        "TableInUseException",
        f"Table: target is already being restored from backup: {arn}",
    )
    assert service.refused("RestoreTableFromBackup", BackupArn=arn, TargetTableName="second") == (
        "BackupInUseException",
        f"Backup is being used to restore another table: {arn}",
    )
    assert service.refused("DeleteBackup", BackupArn=arn) == (
        "BackupInUseException",
        f"Backup is being used to restore table: {arn}",
    )
    service.run_jobs()
    service.call("DeleteBackup", BackupArn=arn)


def test_the_51st_restore(service: Clocked) -> None:
    switch(service)
    numbers = itertools.count()

    def request() -> dict[str, Any]:
        target = f"target-{next(numbers)}"
        return {"SourceTableName": "tab", "TargetTableName": target, "UseLatestRestorableTime": True}

    for _ in range(50):
        service.call("RestoreTableToPointInTime", **request())
    assert service.refused("RestoreTableToPointInTime", **request()) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously",
    )
    service.run_jobs(most=5000)
    assert service.describe("target-49")["TableStatus"] == "ACTIVE"


def test_listing_has_milliseconds(service: Clocked) -> None:
    service.clock.advance(0.0006)
    first = back_up(service)
    service.clock.advance(0.001)
    second = back_up(service)
    summaries = service.call("ListBackups")["BackupSummaries"]
    lower, upper = (each["BackupCreationDateTime"] for each in summaries)
    assert [int(arn.rpartition("/")[2][:14]) for arn in (first, second)] == [
        round(lower * 1000),
        round(upper * 1000),
    ]
    found = service.call("ListBackups", TimeRangeLowerBound=lower, TimeRangeUpperBound=upper)
    assert [each["BackupArn"] for each in found["BackupSummaries"]] == [first]


def test_a_deleted_table_of_the_same_name_keeps_its_backups(service: Clocked) -> None:
    arn = back_up(service)
    service.call("DeleteTable", TableName="tab")
    service.settle()
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    (found,) = service.call("ListBackups", TableName="tab")["BackupSummaries"]
    assert found["BackupArn"] == arn
    assert found["TableId"] != service.describe("tab")["TableId"]


def test_switching_off_while_the_table_is_deleted_leaves_no_backup(service: Clocked) -> None:
    service.context.settings = type(service.context.settings)(transition_ms=1000)
    switch(service)
    service.call("DeleteTable", TableName="tab")
    switch(service, enabled=False)
    service.settle()
    assert service.call("ListBackups", BackupType="ALL")["BackupSummaries"] == []


def test_restoring_into_another_region(service: Clocked) -> None:
    switch(service)
    arn = back_up(service)
    table_arn = service.describe("tab")["TableArn"]
    service.context.region = "eu-west-1"
    latest = {"SourceTableArn": table_arn, "UseLatestRestorableTime": True}
    needed = "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"
    for operation, request in (
        ("RestoreTableFromBackup", {"BackupArn": arn}),
        ("RestoreTableToPointInTime", latest),
    ):
        target = {"TargetTableName": f"by-{operation}"}
        assert service.refused(operation, **request, **target) == ("ValidationException", needed)
        service.call(operation, **request, **target, SSESpecificationOverride={"Enabled": False})
        if "BackupArn" in request:
            second = {**request, "TargetTableName": "second", "SSESpecificationOverride": {"Enabled": False}}
            assert service.refused(operation, **second)[0] == "BackupInUseException"
        service.run_jobs()
        items = service.call("Scan", TableName=f"by-{operation}")["Items"]
        assert [item["v"]["S"] for item in items] == ["old"]
    assert service.refused(
        "RestoreTableToPointInTime",
        SourceTableName="tab",
        TargetTableName="third",
        UseLatestRestorableTime=True,
    ) == ("TableNotFoundException", "Table not found: tab")
    service.context.region = "us-east-1"
    assert service.call("ListTables")["TableNames"] == ["tab"]
    source = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert source is not None
    assert not source.held


# How far back restores reach.


def value_at(service: Clocked, second: float, target: str) -> str:
    service.call(
        "RestoreTableToPointInTime", SourceTableName="tab", TargetTableName=target, RestoreDateTime=second
    )
    service.run_jobs()
    answer = service.call("GetItem", TableName=target, Key={"pk": {"S": "k"}})
    return str(answer["Item"]["v"]["S"])


def log_records(service: Clocked) -> int:

    return service.engine.read(
        lambda reader: sum(1 for _ in reader.scan(layout.LOG, encoding.prefix_end(layout.LOG)))
    )


def test_history_is_pruned_and_the_earliest_time_stays_true(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "CHUNK_ROWS", 2)
    monkeypatch.setattr(piece_sizes, "rows_max", lambda _: 2)
    switch(service, RecoveryPeriodInDays=1)
    written: dict[int, str] = {}
    for number in range(30):
        service.clock.advance(3600)
        put(service, f"v{number}")
        written[int(service.clock.now())] = f"v{number}"
        service.run_jobs()
        earliest = switch(service)["EarliestRestorableDateTime"]
        at = max((second for second in written if second <= earliest), default=0)
        assert value_at(service, earliest, f"earliest-{number}") == written.get(at, "old")
        assert log_records(service) <= 26
    assert earliest == int(service.clock.now()) - DAY
    assert service.refused(
        "RestoreTableToPointInTime",
        SourceTableName="tab",
        TargetTableName="earlier",
        RestoreDateTime=earliest - 1,
    )[0] == ("InvalidRestoreTimeException")


def test_a_longer_period_does_not_promise_what_was_trimmed(service: Clocked) -> None:
    switch(service, RecoveryPeriodInDays=1)
    began = service.clock.now()
    for number in range(5):
        service.clock.advance(DAY)
        put(service, f"v{number}")
        service.run_jobs()
    longer = switch(service, RecoveryPeriodInDays=35)
    assert longer["EarliestRestorableDateTime"] == int(began + 4 * DAY)
    assert value_at(service, began + 4 * DAY, "target") == "v3"
    service.clock.advance(10 * DAY)
    service.run_jobs()
    assert switch(service)["EarliestRestorableDateTime"] == int(began + 4 * DAY)


def test_a_restore_to_the_running_second_is_one_moment(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written later in the second that is restored to is left out as a whole."""
    monkeypatch.setattr(history, "CHUNK_ROWS", 1)
    monkeypatch.setattr(piece_sizes, "rows_max", lambda _: 1)
    switch(service)
    keys = [f"k{number}" for number in range(8)]
    for key in keys:
        put(service, "before", key)
    service.clock.advance(0.25)
    service.call(
        "RestoreTableToPointInTime",
        SourceTableName="tab",
        TargetTableName="target",
        RestoreDateTime=int(service.clock.now()),
    )
    for _ in range(4):
        service.restoring.step(service.clock.now())
    for key in keys:
        put(service, "after", key)
    service.run_jobs()
    items = service.call("Scan", TableName="target")["Items"]
    assert {item["v"]["S"] for item in items if item["pk"]["S"] in keys} == {"before"}
