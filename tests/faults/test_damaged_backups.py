"""Damaged rows and pages under a backup and a restore: both end, say what is damaged, and leave the server well."""

import time
from pathlib import Path

import pytest

from faults.line import Line, Refused
from faults.stores import fill, note, opened
from faults.tables import NOTES
from hashrange.storage.sqlite.schema import PAGE_BYTES
from serving import serving
from storage.damage import flip, pages_with, run_sql

pytestmark = pytest.mark.slow

_SECONDS = 60


def damage_row(directory: Path) -> None:
    run_sql(
        directory,
        "UPDATE rows SET v = CAST(substr(v, 1, 30) || x'7f' || substr(v, 32) AS BLOB) "
        "WHERE substr(k, 1, 1) = x'10' AND instr(v, ?) AND substr(k, 6, 2) = x'0000'",
        (note(30)["text"]["S"][:20].encode(),),
    )


def damage_page(directory: Path) -> None:
    (page, *_) = pages_with(directory, note(30)["text"]["S"][:100].encode())
    flip(directory / "hashrange.db", page * PAGE_BYTES + 5000)


@pytest.mark.parametrize("damage", [damage_row, damage_page])
def test_damage_ends_backup_and_restore(tmp_path: Path, damage: object) -> None:
    with opened(tmp_path) as service:
        fill(service)
    assert callable(damage)
    damage(tmp_path)
    with serving("--data-dir", str(tmp_path)) as server, Line(server.port) as line:
        made = line.call("CreateBackup", {"TableName": NOTES, "BackupName": "name"})["BackupDetails"]
        request = {"BackupArn": made["BackupArn"]}
        deadline = time.monotonic() + _SECONDS
        while True:
            body = line.call("DescribeBackup", request)["BackupDescription"]["BackupDetails"]
            if body["BackupStatus"] != "CREATING":
                break
            assert time.monotonic() < deadline, server.log_text()
            time.sleep(0.02)
        assert body["BackupStatus"] == "FAILED"
        with pytest.raises(Refused, match=r"has failed: .*table number"):
            line.call("RestoreTableFromBackup", {**request, "TargetTableName": "restored"})
        spec = {"PointInTimeRecoveryEnabled": True}
        line.call("UpdateContinuousBackups", {"TableName": NOTES, "PointInTimeRecoverySpecification": spec})
        restore = {"SourceTableName": NOTES, "TargetTableName": "restored", "UseLatestRestorableTime": True}
        line.call("RestoreTableToPointInTime", restore)
        while "restored" in line.call("ListTables", {})["TableNames"]:
            assert time.monotonic() < deadline, server.log_text()
            time.sleep(0.02)
        line.call("PutItem", {"TableName": NOTES, "Item": note(31)})
        log = server.log_text()
    assert "Traceback" not in log
    assert f"backup.failed table={NOTES} " in log
    assert "restore.failed table=restored " in log
