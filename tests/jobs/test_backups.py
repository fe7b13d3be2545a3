"""Backups: a table as it was at one moment, in files that outlive it, trusted only if they are whole."""

from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.values import Item
from hashrange.jobs import backup_files, piece_sizes
from hashrange.storage import history
from hashrange.storage.restore_rows import RESTORES
from item_tables import index
from new_tables import request as new_table

DAY = 86_400


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Clocked:
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)
    monkeypatch.setattr(piece_sizes, "rows_max", lambda _: 4)
    monkeypatch.setattr(backup_files, "FILE_BYTES", 300)  # several files
    service = Clocked(transition_ms=0)
    definition = new_table(
        "pk", TableName="tab", types={"g": "S"}, GlobalSecondaryIndexes=[index("by-g", "g")]
    )
    service.call("CreateTable", **definition)
    service.settle()
    return service


def put(service: Clocked, *numbers: int, value: str = "x") -> None:
    for number in numbers:
        item: Item = {"pk": {"S": f"k{number}"}, "g": {"S": f"g{number % 3}"}, "v": {"S": value}}
        service.call("PutItem", TableName="tab", Item=item)


def content(service: Clocked, name: str = "tab", **options: Any) -> dict[str, Item]:
    found = service.call("Scan", TableName=name, **options)["Items"]
    return {item["pk"]["S"]: item for item in found}


def back_up(service: Clocked, name: str = "first") -> str:
    arn: str = service.call("CreateBackup", TableName="tab", BackupName=name)["BackupDetails"]["BackupArn"]
    return arn


def status(service: Clocked, arn: str) -> str:
    text: str = service.call("DescribeBackup", BackupArn=arn)["BackupDescription"]["BackupDetails"][
        "BackupStatus"
    ]
    return text


def test_a_backup_is_the_table_at_the_moment_of_the_request(service: Clocked) -> None:
    put(service, *range(40))
    expected = content(service)
    arn = back_up(service)
    assert status(service, arn) == "CREATING"
    number = 0
    while service.backing_up.step(service.clock.now()) < 1:
        put(service, number, 100 + number, value="later")
        service.call("DeleteItem", TableName="tab", Key={"pk": {"S": f"k{39 - number}"}})
        number += 1
    assert number > 5, "there were writes between the chunks"
    assert status(service, arn) == "AVAILABLE"
    answer = service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    assert answer["TableDescription"]["TableStatus"] == "CREATING"
    assert answer["TableDescription"]["RestoreSummary"]["SourceBackupArn"] == arn
    service.run_jobs()
    assert service.describe("restored")["TableStatus"] == "ACTIVE"
    assert "RestoreSummary" not in service.describe("restored")
    assert content(service, "restored") == expected
    assert content(service, "restored", IndexName="by-g") == expected
    assert service.describe("restored")["ItemCount"] == 40


def test_a_backup_outlives_its_table_and_its_database(service: Clocked) -> None:
    put(service, *range(10))
    expected = content(service)
    arn = back_up(service)
    service.run_jobs()
    service.call("DeleteTable", TableName="tab")
    service.settle()
    fresh = Clocked(transition_ms=0, now=service.clock.now())
    fresh.keeping_backups = type(fresh.keeping_backups)(fresh.engine, service.backups)
    fresh.backups = service.backups
    fresh.start_long_jobs()
    fresh.run_jobs()
    assert [found["BackupArn"] for found in fresh.call("ListBackups")["BackupSummaries"]] == [arn]
    fresh.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="tab")
    fresh.run_jobs()
    assert content(fresh) == expected


def test_a_deleted_table_with_recovery_leaves_a_backup_that_expires(service: Clocked) -> None:
    put(service, *range(10))
    expected = content(service)
    spec = {"PointInTimeRecoveryEnabled": True}
    service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)
    service.call("DeleteTable", TableName="tab")
    service.settle()
    assert service.call("ListBackups")["BackupSummaries"] == []
    (found,) = service.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    assert found["BackupName"] == "tab$DeletedTableBackup"
    assert found["BackupArn"].endswith("-00000000")
    assert found["BackupStatus"] == "AVAILABLE"
    code, message = service.refused("DeleteBackup", BackupArn=found["BackupArn"])
    assert code == "ValidationException"
    assert "User is not allowed to delete the system backup" in str(message)
    service.call("RestoreTableFromBackup", BackupArn=found["BackupArn"], TargetTableName="tab")
    service.run_jobs()
    assert content(service) == expected
    service.clock.advance(36 * DAY)
    service.run_jobs()
    service.run_jobs()
    assert service.call("ListBackups", BackupType="ALL")["BackupSummaries"] == []
    assert list(service.backups.bucket.list()) == []


def files(service: Clocked) -> list[Path]:
    return sorted(path for path in service.backup_folder.rglob("data-*") if path.is_file())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut, Path.unlink])
@pytest.mark.parametrize("which", ["data-*", "manifest.json"])
def test_a_backup_whose_files_are_missing_or_cut_is_refused_at_once(
    service: Clocked, damage: Any, which: str
) -> None:
    put(service, *range(40))
    arn = back_up(service)
    service.run_jobs()
    path = max(service.backup_folder.rglob(which))
    damage(path)
    code, message = service.refused("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    assert code == "ValidationException"
    assert str(message).startswith(f"Invalid Request: Backup {arn} is damaged: ")
    assert path.name in str(message)
    assert service.refused("DescribeTable", TableName="restored") == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: restored not found",
    )


def test_a_backup_whose_folder_is_gone_is_refused_at_once(service: Clocked) -> None:
    arn = back_up(service)
    service.run_jobs()
    service.backup_folder.rename(service.backup_folder.with_name("elsewhere"))
    try:
        code, message = service.refused("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    finally:
        service.backup_folder.with_name("elsewhere").rename(service.backup_folder)
    assert (code, "is damaged" in str(message)) == ("ValidationException", True)


def test_a_damage_that_is_found_later_ends_the_restore_and_says_why(service: Clocked) -> None:
    put(service, *range(40))
    arn = back_up(service)
    service.run_jobs()
    assert len(files(service)) > 1
    flip(files(service)[-1])
    name = files(service)[-1].name
    service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    service.run_jobs()
    code, message = service.refused("DescribeTable", TableName="restored")
    assert code == "ResourceNotFoundException"
    assert "Table: restored not found. Its restore has failed at 2023-11-14T00:00:0" in str(message)
    assert f"{name} has a wrong length or checksum" in str(message)
    code, message = service.refused("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    assert code == "ValidationException"
    assert "is damaged" in str(message)
    assert name in str(message)
    service.clock.advance(8 * DAY)
    assert "failed" not in str(service.refused("DescribeTable", TableName="restored")[1])


def test_a_job_that_was_cut_off_goes_on_behind_its_last_finished_file(service: Clocked) -> None:
    put(service, *range(40))
    expected = content(service)
    arn = back_up(service)
    for _ in range(5):
        service.backing_up.step(service.clock.now())
    service.backing_up.close()
    service.start_long_jobs()
    put(service, *range(20), value="later")
    service.run_jobs()
    service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    service.restoring.step(service.clock.now())
    service.start_long_jobs()
    service.run_jobs()
    assert content(service, "restored") == expected


def test_a_restore_writes_many_items_in_one_commit_and_fewer_where_each_has_index_rows() -> None:
    service = Clocked(transition_ms=0)
    indexes = [index(f"by-{name}", name) for name in "abc"]
    for name, options in (("bare", {}), ("indexed", {"GlobalSecondaryIndexes": indexes})):
        types = dict.fromkeys("abc", "S") if options else {}
        service.call("CreateTable", **new_table("pk", TableName=name, types=types, **options))
        service.settle()
        for number in range(400):
            item: Item = {key: {"S": f"{number}"} for key in ("pk", "a", "b", "c")}
            service.call("PutItem", TableName=name, Item=item)
        arn = service.call("CreateBackup", TableName=name, BackupName="one")["BackupDetails"]["BackupArn"]
        service.run_jobs()
        service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName=f"{name}-again")
        seen: list[int] = []
        while service.restoring.step(service.clock.now()) < 1:
            for _, restore in service.engine.read(lambda reader: list(RESTORES.everywhere(reader))):
                seen.append(restore.items)
        assert sorted({0, *seen}) == ([0, 200, 400] if name == "bare" else list(range(0, 401, 50)))
        assert len(content(service, f"{name}-again")) == 400


def test_listing(service: Clocked) -> None:
    arns = []
    for number in range(5):
        arns.append(back_up(service, f"name-{number}"))
        service.clock.advance(10)
    service.run_jobs()
    first = service.call("ListBackups", Limit=2)
    assert [found["BackupArn"] for found in first["BackupSummaries"]] == arns[:2]
    assert first["LastEvaluatedBackupArn"] == arns[1]
    rest = service.call("ListBackups", Limit=3, ExclusiveStartBackupArn=arns[1])
    assert [found["BackupArn"] for found in rest["BackupSummaries"]] == arns[2:]
    assert "LastEvaluatedBackupArn" not in rest
    assert service.call("ListBackups", TableName="other")["BackupSummaries"] == []
    created = [
        found["BackupCreationDateTime"] for found in (*first["BackupSummaries"], *rest["BackupSummaries"])
    ]
    within = service.call("ListBackups", TimeRangeLowerBound=created[1], TimeRangeUpperBound=created[3])
    assert [found["BackupArn"] for found in within["BackupSummaries"]] == arns[1:3]


def test_deleting(service: Clocked) -> None:
    put(service, 1)
    arn = back_up(service)
    service.run_jobs()
    answer = service.call("DeleteBackup", BackupArn=arn)
    assert answer["BackupDescription"]["BackupDetails"]["BackupStatus"] == "DELETED"
    for operation in ("DescribeBackup", "DeleteBackup"):
        assert service.refused(operation, BackupArn=arn) == (
            "BackupNotFoundException",
            f"Backup not found: {arn}",
        )
    service.run_jobs()
    assert list(service.backups.bucket.list()) == []


def test_a_backup_that_is_deleted_while_it_is_made_leaves_nothing(service: Clocked) -> None:
    put(service, *range(40))
    arn = back_up(service)
    for _ in range(4):
        service.backing_up.step(service.clock.now())
    service.call("DeleteBackup", BackupArn=arn)
    service.run_jobs()
    assert list(service.backups.bucket.list()) == []
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    assert not table.held
    assert table.log is None


@pytest.mark.parametrize("names", [("zzz", "zzz"), ("one", "two")])
def test_an_index_is_restored_once_and_has_a_name_of_its_own(
    service: Clocked, names: tuple[str, str]
) -> None:
    arn = back_up(service)
    service.run_jobs()
    override = [index(name, "g") for name in names]
    code, _ = service.refused(
        "RestoreTableFromBackup",
        BackupArn=arn,
        TargetTableName="restored",
        GlobalSecondaryIndexOverride=override,
    )
    assert code == "ValidationException"
    service.call(
        "RestoreTableFromBackup",
        BackupArn=arn,
        TargetTableName="restored",
        GlobalSecondaryIndexOverride=override[:1],
    )
    service.run_jobs()
    assert [found["IndexName"] for found in service.describe("restored")["GlobalSecondaryIndexes"]] == [
        names[0]
    ]
