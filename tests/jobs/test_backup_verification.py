"""Verifying backups: what is wrong with files, manifests or rows is named, and nothing else is."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clocked import Clocked
from hashrange import cli
from hashrange.core.values import Item
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backup_verification import verify_backups
from hashrange.objects.errors import Unreachable
from hashrange.objects.folder import FolderBucket
from hashrange.objects.interface import ObjectInfo
from hashrange.storage import history
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.verification import Report
from new_tables import request as new_table

pytestmark = pytest.mark.slow


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    """A store on disk with three backups of several files each."""
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)
    monkeypatch.setattr(backup_files, "FILE_BYTES", 300)
    with closing(SqliteEngine.open(tmp_path / "data")) as engine:
        service = Clocked(engine, transition_ms=0)
        service.call("CreateTable", **new_table("pk", TableName="tab"))
        service.settle()
        for number in range(40):
            item: Item = {"pk": {"S": f"k{number}"}, "v": {"S": "x"}}
            service.call("PutItem", TableName="tab", Item=item)
        for _ in range(3):
            service.call("CreateBackup", TableName="tab", BackupName="name")
            service.clock.advance(1)
        service.run_jobs()
        yield service


def verified(service: Clocked) -> tuple[int, list[tuple[str, str]]]:
    """How many backups there are, and kind and file of every problem."""
    report, seen = Report(), list[int]()
    count = verify_backups(service.engine, service.backups, report, seen.append)
    assert report.skipped == []
    assert len(report.problems) == report.problem_count
    if not report.problems and count:
        assert seen == list(range(1, len(seen) + 1)), "progress is told"
    return count, [(problem.kind, f"{problem.place} {problem.detail}") for problem in report.problems]


def first(service: Clocked, pattern: str) -> Path:
    return min(service.backup_folder.rglob(pattern))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_good_backups_have_no_problems(service: Clocked) -> None:
    assert verified(service) == (3, [])


@pytest.mark.parametrize("damage", [flip, Path.unlink])
def test_a_damaged_or_missing_data_file_is_named(service: Clocked, damage: Callable[[Path], None]) -> None:
    file = first(service, "data-*")
    damage(file)
    count, ((kind, text),) = verified(service)
    assert (count, kind) == (3, "damaged backup")
    assert f"{file.parent.name}/{file.name} " in text


def test_a_damaged_manifest_is_named(service: Clocked) -> None:
    flip(first(service, "manifest.json"))
    ((kind, text),) = verified(service)[1]
    assert kind == "damaged backup"
    assert "manifest.json has a wrong checksum" in text


def test_a_missing_manifest_or_folder_is_a_backup_without_files(service: Clocked) -> None:
    first(service, "manifest.json").unlink()
    shutil.rmtree(max(service.backup_folder.rglob("manifest.json")).parent)
    count, problems = verified(service)
    assert (count, [kind for kind, _ in problems]) == (1, ["backup without files"] * 2)


def test_no_folder_at_all(service: Clocked) -> None:
    service.backup_folder.rename(service.backup_folder.with_name(f"{service.backup_folder.name}-away"))
    try:
        count, problems = verified(service)
    finally:
        service.backup_folder.with_name(f"{service.backup_folder.name}-away").rename(service.backup_folder)
    assert (count, [kind for kind, _ in problems]) == (0, ["backup without files"] * 3)


def test_files_that_nobody_knows(service: Clocked) -> None:
    folder = first(service, "manifest.json").parent
    (folder / "data-000099-01234567.blocks").write_bytes(b"x")
    (folder / "notes.txt").write_bytes(b"x")
    stranger = folder.with_name("01489602797149-73d8d5bc")
    stranger.mkdir()
    (stranger / "data-000000-01234567.blocks").write_bytes(b"x")
    (service.backup_folder / "readme").write_bytes(b"not in a backup's folder, so nobody's business")
    count, problems = verified(service)
    assert count == 3
    assert [(kind, text.split()[0].rpartition("/")[2]) for kind, text in problems] == [
        ("unfinished backup", ""),
        ("extra file", "data-000099-01234567.blocks"),
        ("extra file", "notes.txt"),
    ]


def test_a_backup_that_the_database_does_not_know_or_knows_otherwise(service: Clocked) -> None:
    (place, _), (other, backup), _ = service.engine.read(lambda reader: list(BACKUPS.everywhere(reader)))
    service.engine.write(lambda tx: BACKUPS.remove(tx, place))
    row = type(backup)(**{name: getattr(backup, name) for name in backup.__struct_fields__} | {"files": ()})
    service.engine.write(lambda tx: BACKUPS.save(tx, other, row, active=False))
    kinds = [kind for kind, _ in verified(service)[1]]
    assert kinds == ["backup without row", "damaged backup"]


def test_a_backup_in_the_wrong_folder(service: Clocked) -> None:
    folder = first(service, "manifest.json").parent
    folder.rename(folder.with_name("01489602797149-73d8d5bc"))
    kinds = [kind for kind, _ in verified(service)[1]]
    assert kinds == ["damaged backup", "backup without files"]


def test_what_is_being_made_or_deleted_is_no_problem(service: Clocked) -> None:
    arns = [found["BackupArn"] for found in service.call("ListBackups")["BackupSummaries"]]
    service.call("DeleteBackup", BackupArn=arns[0])
    first(service, "data-*").unlink()
    service.call("CreateBackup", TableName="tab", BackupName="name")
    for _ in range(4):
        service.backing_up.step(service.clock.now())
    assert verified(service)[1] == []
    service.run_jobs()
    assert verified(service) == (3, [])


def test_a_bucket_that_cannot_be_read_is_a_problem(service: Clocked) -> None:
    class Away(FolderBucket):
        def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
            raise Unreachable("no route")

    service.backups = BackupPlace(Away("away", service.backup_folder), "")
    count, ((kind, text),) = verified(service)
    assert (count, kind) == (0, "unreadable backups")
    assert "no route" in text


def test_the_command_reads_backups_when_it_is_told_to(
    service: Clocked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(tmp_path / "data")
    where = ["--backups", str(service.backup_folder)]
    assert cli.main(["verify", data, *where]) == 0
    assert ", 3 backups: no problems" in capsys.readouterr().out
    file = first(service, "data-*")
    flip(file)
    assert cli.main(["verify", data]) == 0, "not without being told"
    capsys.readouterr()
    assert cli.main(["verify", "--json", data, *where]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["backups"], len(found["problems"])) == (False, 3, 1)
    assert cli.main(["verify", data, "--backups"]) == 1, "the default folder, which is not there"
    assert capsys.readouterr().out.count("backup without files") == 3
    assert not (tmp_path / "data" / "backups").exists()
    assert cli.main(["verify", data, "--backups", "s3://bucket/x", "--s3", "ftp://x"]) == 1
    assert "unreadable backups: bucket: " in capsys.readouterr().out
