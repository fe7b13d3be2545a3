"""Backups in a bucket of a real S3 API, by a server that is killed and by one that has never seen them."""

import secrets
import time
from pathlib import Path

import pytest

from bank import Teller, await_active, back_up, check_copies, open_bank, restore_backup
from faults.line import Line
from moto_server import ACCESS_KEY, SECRET_KEY, s3_client
from serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_backups_in_a_bucket(tmp_path: Path, s3_endpoint: str) -> None:
    bucket = f"bucket-{secrets.token_hex(6)}"
    client = s3_client(s3_endpoint)
    client.create_bucket(Bucket=bucket)
    flags = ("--s3", s3_endpoint, "--backups", f"s3://{bucket}/some/prefix", "--log-level", "warning")
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    tellers = [Teller("teller", "seed")]
    with serving("--data-dir", str(tmp_path / "old"), *flags, environment=keys) as server:
        with Line(server.port) as line:
            open_bank(line, tellers)
            copy = back_up(line)
        server.process.kill()
    with serving("--data-dir", str(tmp_path / "old"), *flags, environment=keys) as server:
        with Line(server.port) as line:
            check_copies(line, [restore_backup(line, copy, "restored")], tellers)
        assert "Traceback" not in server.log_text()
    with (
        serving("--data-dir", str(tmp_path / "new"), *flags, environment=keys) as server,
        Line(server.port) as line,
    ):
        deadline = time.monotonic() + 60
        while not line.call("ListBackups", {})["BackupSummaries"]:
            assert time.monotonic() < deadline, "the backup is not adopted"
            time.sleep(0.05)
        adopted = restore_backup(line, copy, "bank")
        await_active(line, "bank")
        check_copies(line, [adopted], tellers)
        line.call("DeleteBackup", {"BackupArn": copy.name})
        while client.list_objects_v2(Bucket=bucket).get("KeyCount"):
            assert time.monotonic() < deadline + 60, "the files are not deleted"
            time.sleep(0.05)
