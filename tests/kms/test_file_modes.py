"""What a server writes belongs to its user alone, whatever the umask of the shell is."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from item_tables import make_table
from serving import serving
from transfers import until
from warm import COLD

MakeClient = Callable[..., Any]


def open_to_others(folder: Path) -> list[str]:
    """The files and directories that somebody else may read, write or enter."""
    return sorted(
        f"{path.relative_to(folder.parent)} {stat.S_IMODE(path.stat().st_mode):04o}"
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    )


def export_table(client: Any, table: str, bucket: Path) -> None:
    """Export a table into a folder that is made as private as the operator would."""
    bucket.mkdir(mode=0o700, parents=True)
    bucket.parent.chmod(0o700)
    client.update_continuous_backups(
        TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    made = client.export_table_to_point_in_time(TableArn=arn, S3Bucket=bucket.name)["ExportDescription"]

    def finished() -> bool:
        shown = client.describe_export(ExportArn=made["ExportArn"])["ExportDescription"]
        return bool(shown["ExportStatus"] == "COMPLETED")

    until(finished)


def test_no_file_of_the_data_is_open_to_others(tmp_path: Path, make_client: MakeClient) -> None:
    data = tmp_path / "data"
    before = os.umask(0)
    try:
        flags = ("--data-dir", str(data), "--transition-ms", "0", "--audit-log", str(data / "audit.jsonl"))
        with serving(*flags, "--workers", "2", interpreter=COLD) as running:
            client = make_client(endpoint=running.endpoint)
            table = make_table(client, "pk")
            client.put_item(TableName=table, Item={"pk": {"S": "a"}})
            export_table(client, table, data / "buckets" / "bucket")
            made = client.create_backup(TableName=table, BackupName="name")["BackupDetails"]
            make_client("kms", endpoint=running.endpoint).create_key()  # and root.key with it

            def finished() -> bool:
                shown = client.describe_backup(BackupArn=made["BackupArn"])["BackupDescription"]
                return bool(shown["BackupDetails"]["BackupStatus"] == "AVAILABLE")

            until(finished)
            assert {path.name for path in data.iterdir()} >= {
                *("hashrange.db", "hashrange.db-wal", "hashrange.db-shm", "hashrange.lock"),
                *("hashrange.write-lock", "hashrange.reserve", "backups", "root.key"),
            }
            assert list(data.glob("backups/*/*/*/*/manifest.json"))
            assert list(data.glob("buckets/bucket/AWSDynamoDB/*/manifest-summary.json"))
            assert open_to_others(data) == []
    finally:
        os.umask(before)
