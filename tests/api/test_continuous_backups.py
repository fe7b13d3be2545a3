"""UpdateContinuousBackups, DescribeContinuousBackups and RestoreTableToPointInTime as a client sees them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from item_tables import index, make_table, refused, unique, wait_until_active


def validation(message: str) -> tuple[str, str]:
    return "ValidationException", message


def switch(client: Any, name: str, *, enabled: bool = True, **options: Any) -> Any:
    spec = {"PointInTimeRecoveryEnabled": enabled, **options}
    answer = client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=spec)
    return answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]


def describe(client: Any, name: str) -> Any:
    return client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    name = make_table(client, "pk", types={"g": "S"}, GlobalSecondaryIndexes=[index("by-g", "g")])
    switch(client, name)
    return name


def test_the_setting(client: Any) -> None:
    name = make_table(client, "pk")
    off = {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }
    assert describe(client, name) == off
    on = switch(client, name)
    assert (on["PointInTimeRecoveryStatus"], on["RecoveryPeriodInDays"]) == ("ENABLED", 35)
    assert on["EarliestRestorableDateTime"] == on["LatestRestorableDateTime"]
    assert on["EarliestRestorableDateTime"].microsecond == 0
    assert switch(client, name) == on, "it is idempotent"
    shorter = switch(client, name, RecoveryPeriodInDays=7)
    assert shorter == {**on, "RecoveryPeriodInDays": 7}
    assert describe(client, name)["PointInTimeRecoveryDescription"] == shorter
    assert switch(client, name, enabled=False) == off["PointInTimeRecoveryDescription"]
    assert describe(client, name) == off
    assert switch(client, name)["RecoveryPeriodInDays"] == 35


def test_settings_that_are_refused(client: Any, table: str) -> None:
    def refusal(**spec: Any) -> tuple[str, str]:
        return refused(
            client.update_continuous_backups, TableName=table, PointInTimeRecoverySpecification=spec
        )

    assert refusal(PointInTimeRecoveryEnabled=False, RecoveryPeriodInDays=3) == validation(
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
    )
    for days, limit in ((0, "greater than or equal to 1"), (36, "less than or equal to 35")):
        code, message = refusal(PointInTimeRecoveryEnabled=True, RecoveryPeriodInDays=days)
        assert code == "ValidationException"
        assert (
            f"recoveryPeriodInDays' failed to satisfy constraint: Member must have value {limit}" in message
        )


def test_a_table_that_there_is_not(client: Any) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/nowhere"
    for name in ("nowhere", arn):
        expected = ("TableNotFoundException", f"Table not found: {name}")
        assert refused(client.describe_continuous_backups, TableName=name) == expected
        spec = {"PointInTimeRecoveryEnabled": True}
        assert (
            refused(client.update_continuous_backups, TableName=name, PointInTimeRecoverySpecification=spec)
            == expected
        )


def test_restoring_to_the_latest_time_and_to_now(client: Any) -> None:
    name = make_table(client, "pk")
    client.put_item(TableName=name, Item={"pk": {"S": "before"}})
    earliest = switch(client, name)["EarliestRestorableDateTime"]
    arn = client.describe_table(TableName=name)["Table"]["TableArn"]
    for source in ({"SourceTableName": name}, {"SourceTableArn": arn}):
        target = unique("restored")
        body = client.restore_table_to_point_in_time(
            TargetTableName=target, UseLatestRestorableTime=True, **source
        )["TableDescription"]
        assert body["RestoreSummary"] == {
            "SourceTableArn": arn,
            "RestoreDateTime": earliest,
            "RestoreInProgress": True,
        }
        wait_until_active(client, target)
        assert client.scan(TableName=target)["Items"] == [{"pk": {"S": "before"}}]


def restoring(client: Any, **request: Any) -> tuple[str, str]:
    return refused(client.restore_table_to_point_in_time, **{"TargetTableName": "target-table", **request})


def test_what_the_request_must_say(client: Any, table: str) -> None:
    now = datetime.now(UTC)
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}"
    assert restoring(
        client, SourceTableName=table, RestoreDateTime=now, UseLatestRestorableTime=True
    ) == validation(
        "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
        "restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime"
    )
    neither = validation(
        "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
    )
    assert restoring(client, SourceTableName=table) == neither
    assert restoring(client, SourceTableName=table, UseLatestRestorableTime=False) == neither
    latest = {"UseLatestRestorableTime": True}
    assert restoring(client, SourceTableName=table, SourceTableArn=arn, **latest) == validation(
        "Must provide exactly one of: sourceTableArn, sourceTableName"
    )
    assert restoring(client, **latest) == validation(
        "The parameter 'TableName' is required but was not present in the request"
    )
    assert restoring(client, SourceTableArn="table", **latest) == validation(
        "sourceTableArn is not a valid ARN"
    )
    assert restoring(
        client, SourceTableArn=arn.replace("000000000000", "111111111111"), **latest
    ) == validation("This action is only supported by accounts that match the resource owner\u2019s account.")


def test_the_order_of_checks(client: Any, table: str, hash_table: str) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=2)
    existing = {"TargetTableName": hash_table}
    assert restoring(client, SourceTableName="nowhere", RestoreDateTime=long_ago, **existing) == (
        "TableNotFoundException",
        "Table not found: nowhere",
    )
    assert restoring(client, SourceTableName=hash_table, RestoreDateTime=long_ago, **existing) == (
        "PointInTimeRecoveryUnavailableException",
        f"Point in time recovery is not enabled for table '{hash_table}'",
    )
    code, message = restoring(client, SourceTableName=table, RestoreDateTime=long_ago, **existing)
    assert code == "InvalidRestoreTimeException"
    setting = describe(client, table)["PointInTimeRecoveryDescription"]
    form = "%Y-%m-%dT%H:%M:%SZ"
    assert message == (
        f"RestoreDateTime '{long_ago.strftime(form)}' must be within EarliestRestorableDateTime "
        f"'{setting['EarliestRestorableDateTime'].strftime(form)}' and LatestRestorableDateTime "
        f"'{setting['LatestRestorableDateTime'].strftime(form)}'"
    )
    for moment in (0, datetime(9999, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(hours=1)):
        assert restoring(client, SourceTableName=table, RestoreDateTime=moment)[0] == code
    assert restoring(client, SourceTableName=table, UseLatestRestorableTime=True, **existing) == (
        "TableAlreadyExistsException",
        f"Table already exists: {hash_table}",
    )
    assert restoring(client, SourceTableName=table, UseLatestRestorableTime=True, TargetTableName=table) == (
        "TableAlreadyExistsException",
        f"Table already exists: {table}",
    )


def test_indexes_can_be_left_out(client: Any, table: str) -> None:
    target = unique("restored")
    client.restore_table_to_point_in_time(
        SourceTableName=table,
        TargetTableName=target,
        UseLatestRestorableTime=True,
        GlobalSecondaryIndexOverride=[],
    )
    wait_until_active(client, target)
    assert "GlobalSecondaryIndexes" not in client.describe_table(TableName=target)["Table"]
    off = describe(client, target)["PointInTimeRecoveryDescription"]
    assert off == {"PointInTimeRecoveryStatus": "DISABLED"}
