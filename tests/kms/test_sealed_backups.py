"""Encrypted backups: nothing of an item is in their files, and no change of them goes unnoticed."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from clocked import Clocked
from encrypted_store import encrypted_store, key_file
from hashrange.cli import main
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupSource, DamagedBackup
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.storage import history
from new_tables import request as new_table

SECRET = "canary-in-a-backup"
_FLIPS = 60


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return key_file(tmp_path, 1)


@pytest.fixture
def service(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)  # several blocks
    with encrypted_store(tmp_path / "data", key) as opened:
        opened.call("CreateTable", **new_table("pk", TableName="one"))
        opened.settle()
        for number in range(10):
            item = {"pk": {"S": f"k{number}"}, "v": {"S": f"{SECRET}-{number}"}}
            opened.call("PutItem", TableName="one", Item=item)
        yield opened


def backed_up(service: Clocked) -> str:
    made = service.call("CreateBackup", TableName="one", BackupName="name")
    service.settle()
    return str(made["BackupDetails"]["BackupArn"])


def files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "data" / "backups").rglob("*") if path.is_file())


def read_all(service: Clocked, folder: str) -> list[str]:
    """What a restore would write, after the checks that it makes."""
    source = BackupSource(service.backups, folder)
    for _ in source.verify():
        pass
    return [key.hex() for chunk in source.chunks() for key, _ in chunk]


def test_a_backup_has_no_value_and_comes_back(service: Clocked, tmp_path: Path) -> None:
    arn = backed_up(service)
    data, manifest = files(tmp_path)
    for path in (data, manifest):
        assert SECRET.encode() not in path.read_bytes()
    assert b'"pk"' not in manifest.read_bytes()
    service.call("RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
    service.settle()
    items = service.call("Scan", TableName="again")["Items"]
    assert sorted(item["v"]["S"] for item in items) == [f"{SECRET}-{number}" for number in range(10)]


def test_a_changed_bit_anywhere_is_found(service: Clocked, tmp_path: Path) -> None:
    backed_up(service)
    folder = backup_folder(service)
    whole = read_all(service, folder)
    assert len(whole) == 10
    chance = random.Random(5)
    for path in files(tmp_path):
        content = path.read_bytes()
        for _ in range(_FLIPS):
            bit = chance.randrange(8 * len(content))
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            try:
                assert read_all(service, folder) == whole  # white space behind the digest
            except DamagedBackup:
                continue
        path.write_bytes(content)
    assert read_all(service, folder) == whole


def backup_folder(service: Clocked) -> str:
    (key,) = [info.key for info in service.backups.bucket.list() if backup_files.is_manifest(info.key)]
    return backup_files.folder_of(key)


def forged(service: Clocked, tmp_path: Path, blocks: list[bytes]) -> None:
    """Write a data file anew from whole blocks, without the checks that its manifest allows."""
    data, _ = files(tmp_path)
    data.write_bytes(b"".join(blocks))
    for _ in BackupSource(service.backups, backup_folder(service)).chunks():
        pass


def test_blocks_in_another_order_or_fewer_of_them_are_found(service: Clocked, tmp_path: Path) -> None:
    backed_up(service)
    content = files(tmp_path)[0].read_bytes()
    blocks = []
    while content:
        end = 8 + int.from_bytes(content[:4], "big")
        blocks.append(content[:end])
        content = content[end:]
    assert len(blocks) > 1
    forged(service, tmp_path, blocks)
    for wrong in (blocks[::-1], blocks[:-1], blocks[1:], [*blocks, blocks[-1]]):
        with pytest.raises(DamagedBackup):
            forged(service, tmp_path, wrong)


def test_a_backup_in_the_clear_in_place_of_a_known_one_is_refused(service: Clocked, tmp_path: Path) -> None:
    arn = backed_up(service)
    with encrypted_store(tmp_path / "other", None) as plain:
        plain.call("CreateTable", **new_table("pk", TableName="one"))
        plain.settle()
        plain.call("PutItem", TableName="one", Item={"pk": {"S": "forged"}})
        plain.call("CreateBackup", TableName="one", BackupName="name")
        plain.settle()
        source = (tmp_path / "other" / "backups") / backup_folder(plain)
    target = tmp_path / "data" / "backups" / backup_folder(service)
    shutil.rmtree(target)
    shutil.copytree(source, target)
    service.call("RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
    service.settle()
    assert service.refused("DescribeTable", TableName="again")[0] == "ResourceNotFoundException"


def test_a_planted_backup_in_the_clear_is_not_adopted(
    service: Clocked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with encrypted_store(tmp_path / "other", None) as plain:
        plain.call("CreateTable", **new_table("pk", TableName="one"))
        plain.settle()
        backed_up(plain)
    shutil.copytree(tmp_path / "other" / "backups", tmp_path / "data" / "backups", dirs_exist_ok=True)
    KeepBackups(service.engine, service.backups).step(service.clock.now())
    assert service.call("ListBackups")["BackupSummaries"] == []
    assert "is in the clear, and the data is encrypted" in str([record.__dict__ for record in caplog.records])


def test_encrypted_files_under_a_manifest_in_the_clear_are_damaged(service: Clocked) -> None:
    backed_up(service)
    folder = backup_folder(service)
    manifest = backup_files.read_manifest(service.backups, folder)
    backup_files.write_manifest(service.backups, manifest.place, manifest.backup)
    with pytest.raises(DamagedBackup):
        read_all(service, folder)


def test_verify_reads_the_files_with_the_key_only(
    service: Clocked, tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backed_up(service)
    command = ["verify", str(tmp_path / "data"), "--backups"]
    assert main([*command, "--root-key", f"file:{key}"]) == 0, capsys.readouterr()
    assert "1 backups: no problems" in capsys.readouterr().out
    data = files(tmp_path)[0]
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    assert main([*command, "--root-key", f"file:{key}"]) == 1
    assert "damaged backup" in capsys.readouterr().out


def test_a_new_database_with_the_key_adopts_the_backup_and_one_without_does_not(
    service: Clocked, tmp_path: Path, key: Path
) -> None:
    backed_up(service)
    for name, root_key, count in (("with", key, 1), ("without", None, 0)):
        shutil.copytree(tmp_path / "data" / "backups", tmp_path / name / "backups")
        with encrypted_store(tmp_path / name, root_key) as other:
            other.run_jobs()
            found = other.call("ListBackups")["BackupSummaries"]
            assert len(found) == count
            if found:
                arn = found[0]["BackupArn"]
                other.call("RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
                other.settle()
                assert other.call("Scan", TableName="again")["Count"] == 10


def test_a_backup_goes_on_under_the_same_key_after_a_crash(
    service: Clocked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_files, "FILE_BYTES", 1)  # each block is a file
    service.call("CreateBackup", TableName="one", BackupName="name")
    service.backing_up.step(service.clock.now())
    service.start_long_jobs()
    service.settle()
    assert len(files(tmp_path)) > 2
    assert len(read_all(service, backup_folder(service))) == 10


def test_rejected_items_of_an_import_are_in_a_report_that_the_key_opens(
    service: Clocked, tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket = service.make_bucket()
    bucket.put("in/one.json", f'{{"Item": {{"v": {{"S": "{SECRET}"}}}}}}\n'.encode())
    service.call(
        "ImportTable",
        S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "in"},
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters=new_table("pk", TableName="imported"),
    )
    service.settle()
    (report,) = [path for path in files(tmp_path) if "import-errors" in str(path)]
    assert report.name.endswith(".jsonl.sealed")
    assert b"Item" not in report.read_bytes()
    assert main(["root-key", "decrypt", str(report), "--root-key", f"file:{key}"]) == 0
    assert "in/one.json" in capsys.readouterr().out
    assert main(["root-key", "decrypt", str(report), "--root-key", f"file:{key_file(tmp_path, 2)}"]) == 1
    assert "under the root key with the id" in capsys.readouterr().err
