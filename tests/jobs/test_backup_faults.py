"""Backups and restores that cannot go on: they wait or end, say why, and hold up nobody."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clocked import MIDNIGHT, Clocked
from hashrange.core.keys import encoding, primary_key
from hashrange.core.values import Item
from hashrange.jobs import backup_files, piece_sizes
from hashrange.jobs.backup_files import BackupPlace, FileWriter
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.objects.errors import Unreachable
from hashrange.objects.folder import FolderBucket
from hashrange.objects.folder_writer import FolderWriter
from hashrange.storage import history, layout, scratch
from hashrange.storage.engine import Reader
from hashrange.storage.errors import DamagedRow
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.sqlite import SqliteEngine
from new_tables import request as new_table

DAY = 86_400
PITR = {"PointInTimeRecoveryEnabled": True}


class MoodyBucket(FolderBucket):
    """A bucket that cannot be reached for some keys."""

    unreachable = ""

    def writer(self, key: str) -> FolderWriter:
        self._refuse(key)
        return super().writer(key)

    def read(self, key: str, *, offset: int = 0, etag: str | None = None) -> Iterator[bytes]:
        self._refuse(key)
        return super().read(key, offset=offset, etag=etag)

    def delete(self, key: str) -> None:
        self._refuse(key)
        super().delete(key)

    def _refuse(self, key: str) -> None:
        if self.unreachable and self.unreachable in key:
            raise Unreachable("no route")


class World:
    """A service with a bucket that the test can take away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, service: Clocked) -> None:
        monkeypatch.setattr(history, "CHUNK_ROWS", 4)
        monkeypatch.setattr(piece_sizes, "rows_max", lambda _: 4)
        self.service = service
        self.bucket = MoodyBucket("backups", service.backup_folder)
        place = BackupPlace(self.bucket, "")
        service.backups = place
        service.start_long_jobs()
        service.keeping_backups = KeepBackups(service.engine, place)
        for name in ("one", "two"):
            service.call("CreateTable", **new_table("pk", TableName=name))
        service.settle()
        for number in range(10):
            for name in ("one", "two"):
                item: Item = {"pk": {"S": f"k{number}"}, "v": {"S": name}}
                service.call("PutItem", TableName=name, Item=item)

    def back_up(self, table: str) -> str:
        answer = self.service.call("CreateBackup", TableName=table, BackupName="name")
        self.service.clock.advance(0.01)
        return str(answer["BackupDetails"]["BackupArn"])

    def status(self, arn: str) -> str:
        answer = self.service.call("DescribeBackup", BackupArn=arn)
        return str(answer["BackupDescription"]["BackupDetails"]["BackupStatus"])

    def content(self, name: str) -> set[str]:
        return {item["pk"]["S"] for item in self.service.call("Scan", TableName=name)["Items"]}

    def is_held(self, name: str) -> bool:
        table = self.service.catalogue.find("000000000000", "us-east-1", name)
        assert table is not None
        return table.held

    def later(self, seconds: float = 120.0) -> None:
        self.service.pass_real_time(seconds)
        self.service.run_jobs()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch, Clocked(transition_ms=0))


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    """A world on disk."""
    with closing(SqliteEngine.open(tmp_path / "data")) as engine:
        yield World(monkeypatch, Clocked(engine, transition_ms=0))


def logged(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(f"{record.message} {record.__dict__['fields']}" for record in caplog.records)


ALL = {f"k{number}" for number in range(10)}


def test_a_backup_that_cannot_be_written_waits_and_the_next_one_is_made(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.bucket.unreachable = "/one/"
    first, second = world.back_up("one"), world.back_up("two")
    with caplog.at_level(logging.INFO, "hashrange"):
        for _ in range(5):
            world.later()
    assert (world.status(first), world.status(second)) == ("CREATING", "AVAILABLE")
    assert 1 <= caplog.text.count("job.failed") <= 5, "at most once a minute"
    assert "no route" in logged(caplog)
    world.bucket.unreachable = ""
    with caplog.at_level(logging.INFO, "hashrange"):
        world.later()
    assert world.status(first) == "AVAILABLE"


def test_a_backup_that_cannot_be_read_waits_and_the_next_one_is_restored(world: World) -> None:
    first, second = world.back_up("one"), world.back_up("two")
    world.service.run_jobs()
    world.bucket.unreachable = "/one/"
    world.service.call("RestoreTableFromBackup", BackupArn=first, TargetTableName="first")
    world.service.call("RestoreTableFromBackup", BackupArn=second, TargetTableName="second")
    world.later()
    assert world.content("second") == ALL
    assert world.service.describe("first")["TableStatus"] == "CREATING"
    world.bucket.unreachable = ""
    world.later()
    assert world.content("first") == ALL


def test_a_restore_that_fails_for_a_day_is_given_up(world: World) -> None:
    arn = world.back_up("one")
    world.service.run_jobs()
    world.bucket.unreachable = "/one/"
    world.service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="first")
    for _ in range(3):
        world.later(DAY / 2 + 1)
    assert world.service.refused("DescribeTable", TableName="first")[0] == "ResourceNotFoundException"


def test_a_backup_that_cannot_be_deleted_is_deleted_later(world: World) -> None:
    arn = world.back_up("one")
    world.service.run_jobs()
    world.bucket.unreachable = "/one/"
    world.service.call("DeleteBackup", BackupArn=arn)
    other = world.back_up("two")
    world.later()
    assert world.status(other) == "AVAILABLE"
    assert any("/one/" in info.key for info in world.bucket.list())
    world.bucket.unreachable = ""
    world.later()
    assert not any("/one/" in info.key for info in world.bucket.list())


@pytest.fixture
def damaged(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which an item of the table `one` cannot be read."""
    table = world.service.catalogue.find("000000000000", "us-east-1", "one")
    assert table is not None
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + primary_key.of_key(table, {"pk": {"S": "k5"}})
    read_rows = PastTable._read_rows

    def read(past: PastTable, reader: Reader, start: bytes) -> tuple[list[Row], bytes | None]:
        if past._table.number == table.number:
            raise DamagedRow(row)
        return read_rows(past, reader, start)

    monkeypatch.setattr(PastTable, "_read_rows", read)
    return world


def test_a_damaged_item_fails_the_backup_and_is_named(
    damaged: World, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = damaged.back_up("one"), damaged.back_up("two")
    with caplog.at_level(logging.INFO, "hashrange"):
        damaged.later()
    assert (damaged.status(first), damaged.status(second)) == ("FAILED", "AVAILABLE")
    code, message = damaged.service.refused(
        "RestoreTableFromBackup", BackupArn=first, TargetTableName="redamaged"
    )
    assert code == "ValidationException"
    assert "has failed: wrong checksum" in str(message)
    assert b"k5".hex() in str(message)
    assert "backup.failed" in logged(caplog)
    assert not damaged.is_held("one")
    assert not any("/one/" in info.key for info in damaged.bucket.list())
    damaged.service.call("DeleteBackup", BackupArn=first)
    damaged.later()
    assert damaged.service.refused("DescribeBackup", BackupArn=first)[0] == "BackupNotFoundException"


def test_a_damaged_item_ends_the_restore_of_its_table(
    damaged: World, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        damaged.service.call("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=PITR)
    for name in ("one", "two"):
        damaged.service.call(
            "RestoreTableToPointInTime",
            SourceTableName=name,
            TargetTableName=f"{name}-again",
            UseLatestRestorableTime=True,
        )
    with caplog.at_level(logging.INFO, "hashrange"):
        damaged.later()
    assert damaged.content("two-again") == ALL
    assert damaged.service.refused("DescribeTable", TableName="one-again")[0] == "ResourceNotFoundException"
    assert "restore.failed" in logged(caplog)
    assert b"k5".hex() in logged(caplog)
    assert not damaged.is_held("one")


def test_a_full_disk_has_the_backup_wait(stored: World, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = stored.back_up("one")
    for number in range(10):
        stored.service.call("DeleteItem", TableName="one", Key={"pk": {"S": f"k{number}"}})
    with monkeypatch.context() as patch:
        patch.setattr(scratch, "FREE_BYTES_MIN", 2**60)
        stored.later()
        assert stored.status(arn) == "CREATING"
    stored.later()
    assert stored.status(arn) == "AVAILABLE"
    stored.service.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName="restored")
    stored.later()
    assert stored.content("restored") == ALL


def test_a_scratch_file_is_beside_the_data_and_leaves_no_name(stored: World) -> None:
    directory = stored.service.engine.directory
    assert directory is not None
    before = sorted(path.name for path in directory.iterdir())
    file = scratch.ScratchFile(directory, "CREATE TABLE t(k BLOB)")
    file.write([("INSERT INTO t VALUES (?)", [(b"x" * 100_000,)])])
    assert sorted(path.name for path in directory.iterdir()) == before
    assert [len(row[0]) for row in file.rows("SELECT k FROM t", ()) if isinstance(row[0], bytes)] == [100_000]
    file.close()


def test_a_scratch_file_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    with pytest.raises(scratch.ScratchUnavailable, match="gone"):
        scratch.ScratchFile(tmp_path / "gone", "CREATE TABLE t(k BLOB)")


def unfinished(world: World, place: JobPlace) -> str:
    """A data file of a backup that nobody knows."""
    folder = world.service.backups.folder(place, "lost")
    writer = FileWriter(world.service.backups, folder, 0)
    writer.write([(b"k", b"v")])
    return folder + writer.commit().name


def test_files_of_unfinished_backups_are_cleared_after_a_week(world: World) -> None:
    old = JobPlace("000000000000", "us-east-1", f"{int((MIDNIGHT - 8 * DAY) * 1000):014d}-0123abcd")
    young = old._replace(id=f"{int((MIDNIGHT - DAY) * 1000):014d}-0123abcd")
    keys = [unfinished(world, old), unfinished(world, old), unfinished(world, young)]
    foreign = ["notes.txt", "000000000000/us-east-1/lost/readme/data.txt"]
    for key in foreign:
        world.bucket.put(key, b"somebody else's")
    arn = world.back_up("one")
    world.service.keeping_backups = KeepBackups(world.service.engine, world.service.backups)
    world.service.run_jobs()
    left = [info.key for info in world.bucket.list() if "/one/" not in info.key]
    assert sorted(left) == sorted([keys[2], *foreign])
    assert world.status(arn) == "AVAILABLE"


def test_a_damaged_backup_is_good_again_when_its_files_are(world: World) -> None:
    arn = world.back_up("one")
    world.service.run_jobs()
    (file,) = world.service.backup_folder.rglob("data-*")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    request = {"BackupArn": arn, "TargetTableName": "again"}
    world.service.call("RestoreTableFromBackup", **request)
    world.service.run_jobs()

    def look_again() -> None:
        world.service.keeping_backups = KeepBackups(world.service.engine, world.service.backups)
        world.service.run_jobs()

    look_again()
    assert "is damaged" in str(world.service.refused("RestoreTableFromBackup", **request)[1])
    file.write_bytes(content)
    look_again()
    world.service.call("RestoreTableFromBackup", **request)
    world.service.run_jobs()
    assert world.content("again") == ALL


def test_a_backup_in_the_wrong_folder_is_not_adopted(world: World) -> None:
    world.back_up("one")
    world.service.run_jobs()
    (folder,) = world.service.backup_folder.glob("*/*/one/*")
    folder.rename(folder.with_name("01489602797149-73d8d5bc"))
    fresh = Clocked(transition_ms=0, now=world.service.clock.now())
    fresh.keeping_backups = KeepBackups(fresh.engine, world.service.backups)
    fresh.run_jobs()
    assert fresh.call("ListBackups")["BackupSummaries"] == []


def test_two_writers_of_one_backup_never_have_one_file(world: World) -> None:
    place = JobPlace("000000000000", "us-east-1", "01699920000000-0123abcd")
    assert unfinished(world, place) != unfinished(world, place)


def test_an_expired_backup_is_kept_while_it_is_restored(world: World) -> None:
    service = world.service
    service.call("UpdateContinuousBackups", TableName="one", PointInTimeRecoverySpecification=PITR)
    service.call("DeleteTable", TableName="one")
    service.settle()
    (found,) = service.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    service.call("RestoreTableFromBackup", BackupArn=found["BackupArn"], TargetTableName="again")
    service.clock.advance(36 * DAY)
    service.keeping_backups.step(service.clock.now())
    assert world.status(found["BackupArn"]) == "AVAILABLE"
    service.run_jobs()
    assert world.content("again") == ALL
    service.run_jobs()
    assert service.refused("DescribeBackup", BackupArn=found["BackupArn"])[0] == "BackupNotFoundException"


def test_the_backup_of_a_deleted_table_can_be_deleted_while_it_cannot_be_written(world: World) -> None:
    """The disk may be full of the very table, which nothing else would clear away."""
    service = world.service
    service.call("UpdateContinuousBackups", TableName="one", PointInTimeRecoverySpecification=PITR)
    table = service.catalogue.find("000000000000", "us-east-1", "one")
    assert table is not None
    prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)

    def rows() -> int:
        return service.engine.read(
            lambda reader: sum(1 for _ in reader.scan(prefix, encoding.prefix_end(prefix)))
        )

    world.bucket.unreachable = "/one/"
    service.call("DeleteTable", TableName="one")
    service.settle()
    world.later()
    (found,) = service.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    assert (found["BackupStatus"], rows()) == ("CREATING", 10)
    world.bucket.unreachable = ""
    service.call("DeleteBackup", BackupArn=found["BackupArn"])
    for _ in range(2):
        world.later()
    assert service.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"] == []
    assert rows() == 0
    assert not any("/one/" in info.key for info in world.bucket.list())


def test_many_files_are_looked_at_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.jobs.kept_backups._KEYS_AT_ONCE", 3)
    monkeypatch.setattr(backup_files, "FILE_BYTES", 1)
    arns = [world.back_up("one") for _ in range(4)]
    world.service.run_jobs()
    fresh = Clocked(transition_ms=0, now=world.service.clock.now())
    fresh.keeping_backups = KeepBackups(fresh.engine, world.service.backups)
    fresh.run_jobs()
    assert [found["BackupArn"] for found in fresh.call("ListBackups")["BackupSummaries"]] == arns
