"""Files that are missing, cut, damaged or not each other's: refused in plain words, with what is lost."""

import os
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import apsw
import pytest

from hashrange.storage.errors import Corrupt, Unavailable
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.log_file import FRAME_HEADER_BYTES, HEADER_BYTES, read_log
from hashrange.storage.sqlite.schema import PAGE_BYTES
from storage.damage import flip

pytestmark = pytest.mark.slow

FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES


def write(engine: SqliteEngine, numbers: range) -> None:
    for number in numbers:
        engine.write(lambda tx, number=number: tx.put(b"%05d" % number, b"<%05d>" % number * 200))


def crashed(directory: Path, *, rows: int = 60) -> Path:
    """A data directory as kill -9 leaves it: 30 rows in the file, the others in the log."""
    engine = SqliteEngine.open(directory / "running")
    write(engine, range(30))
    engine.close()
    engine = SqliteEngine.open(directory / "running")
    write(engine, range(30, rows))
    shutil.copytree(directory / "running", directory / "crashed")
    engine.close()
    return directory / "crashed"


def rows_in(directory: Path) -> int:
    engine = SqliteEngine.open(directory)
    try:
        return len(engine.read(lambda reader: list(reader.scan(b"", b"z"))))
    finally:
        engine.close()


def refused(directory: Path, words: str) -> None:
    """Refused every time, and nothing is touched."""
    before = {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix != ".lock"}
    for _ in range(2):
        with pytest.raises(Corrupt, match=words):
            SqliteEngine.open(directory)
    for name, content in before.items():
        if not name.endswith("-shm"):
            assert (directory / name).read_bytes() == content


def test_a_crashed_store_is_whole(tmp_path: Path) -> None:
    assert rows_in(crashed(tmp_path)) == 60


def test_a_log_without_its_file_is_refused(tmp_path: Path) -> None:
    directory = crashed(tmp_path)
    (directory / "hashrange.db").unlink()
    refused(directory, "is missing, but its write-ahead log is there")


@pytest.mark.parametrize("with_log", [True, False])
def test_an_empty_file_is_refused(tmp_path: Path, with_log: bool) -> None:
    directory = crashed(tmp_path)
    (directory / "hashrange.db").write_bytes(b"")
    if not with_log:
        (directory / "hashrange.db-wal").unlink()
    refused(directory, "is empty: everything in it is lost")


@pytest.mark.parametrize("kept", [100, PAGE_BYTES, 3 * PAGE_BYTES, 5 * PAGE_BYTES + 17])
def test_a_file_that_was_cut_is_refused_with_what_is_lost(tmp_path: Path, kept: int) -> None:
    engine = SqliteEngine.open(tmp_path)
    write(engine, range(300))
    engine.close()
    file = tmp_path / "hashrange.db"
    pages = file.stat().st_size // PAGE_BYTES
    with file.open("r+b") as stream:
        stream.truncate(kept)
    lost = pages - kept // PAGE_BYTES
    refused(tmp_path, f"is cut off: of {pages} pages {kept // PAGE_BYTES} are there, and {lost} are lost")


def test_a_log_with_damage_in_the_middle_is_refused_and_can_be_cut_there(tmp_path: Path) -> None:
    directory = crashed(tmp_path)
    log = directory / "hashrange.db-wal"
    flip(log, HEADER_BYTES + 20 * FRAME_BYTES + 1000)
    refused(directory, "damaged behind frame .*: at least .* acknowledged commits")
    try:
        SqliteEngine.open(directory)
    except Corrupt as error:
        size = int(str(error).partition("truncate -s ")[2].split()[0])
    with log.open("r+b") as stream:
        stream.truncate(size)
    assert 30 < rows_in(directory) < 60


@pytest.mark.parametrize("at", [0, 9, 17, 25, 31])
def test_a_log_with_a_damaged_header_is_refused(tmp_path: Path, at: int) -> None:
    directory = crashed(tmp_path)
    flip(directory / "hashrange.db-wal", at, 0x80 if at == 9 else 0x10)
    with pytest.raises(Corrupt, match=r"log|damaged"):
        SqliteEngine.open(directory)


def test_a_log_that_ends_in_the_middle_of_a_commit_is_what_a_crash_leaves(tmp_path: Path) -> None:
    directory = crashed(tmp_path)
    log = directory / "hashrange.db-wal"
    with log.open("r+b") as stream:
        stream.truncate(log.stat().st_size - 100)
    assert rows_in(directory) == 59


def test_the_log_of_another_file_is_refused(tmp_path: Path) -> None:
    directory, other = crashed(tmp_path / "a"), crashed(tmp_path / "b")
    shutil.copy(other / "hashrange.db-wal", directory / "hashrange.db-wal")
    refused(directory, "does not belong to it")


def test_an_older_file_beside_a_newer_log_is_refused(tmp_path: Path) -> None:
    """The classic mistake: the data file is restored from a backup, the log is left where it is."""
    running = tmp_path / "running"
    for start in range(0, 90, 30):
        engine = SqliteEngine.open(running)
        write(engine, range(start, start + 30))
        engine.close()
        if start == 0:
            shutil.copy(running / "hashrange.db", tmp_path / "backup")
    engine = SqliteEngine.open(running)
    write(engine, range(90, 120))
    shutil.copytree(running, tmp_path / "crashed")
    engine.close()
    shutil.copy(tmp_path / "backup", tmp_path / "crashed" / "hashrange.db")
    refused(tmp_path / "crashed", "does not belong to it")


def test_a_whole_log_loses_no_commits(tmp_path: Path) -> None:
    found = read_log(crashed(tmp_path) / "hashrange.db-wal")
    assert found is not None
    assert found.is_header_whole
    assert found.lost_commits(found.frames[-1].number) == 0
    assert found.lost_commits(0) == 29  # the last one might not have been acknowledged


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    shutil.copy(path.with_suffix(".old"), path)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


LOSSES = [
    *product(["hashrange.db", "hashrange.db-wal", "hashrange.db-shm", "hashrange.lock"], [removed, replaced]),
    ("hashrange.db", emptied),
    ("hashrange.db-wal", cut_off),
]


@pytest.mark.parametrize(("name", "change"), LOSSES)
def test_a_file_that_is_taken_away_from_a_running_engine_stops_its_writes(
    tmp_path: Path, name: str, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.storage.sqlite.guard.LOOK_SECONDS", 0)
    engine = SqliteEngine.open(tmp_path)
    write(engine, range(10))
    assert engine.read(lambda reader: len(list(reader.scan(b"", b"z")))) == 10
    change(tmp_path / name)
    for _ in range(2):
        with pytest.raises(Unavailable, match=f"{name} was {change.__name__.replace('_', ' ')}"):
            write(engine, range(10, 11))
    if change not in (emptied, cut_off):
        assert engine.read(lambda reader: len(list(reader.scan(b"", b"z")))) == 10
    engine.close()


def test_a_data_directory_that_is_removed_stops_writes_and_nothing_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.storage.sqlite.guard.LOOK_SECONDS", 0)
    engine = SqliteEngine.open(tmp_path / "data")
    write(engine, range(10))
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(Unavailable, match="was removed"):
        write(engine, range(10, 11))
    engine.close()


def guarded(directory: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteEngine:
    """An engine with ten commits in its log, which looks at its files before every commit."""
    monkeypatch.setattr("hashrange.storage.sqlite.guard.LOOK_SECONDS", 0)
    engine = SqliteEngine.open(directory)
    write(engine, range(10))
    return engine


@pytest.mark.parametrize("kept_bytes", [0, 10, HEADER_BYTES, HEADER_BYTES + 3 * FRAME_BYTES])
def test_a_log_that_was_cut_is_noticed_when_more_is_behind_the_hole(
    tmp_path: Path, kept_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = guarded(tmp_path, monkeypatch)
    log, data = tmp_path / "hashrange.db-wal", tmp_path / "hashrange.db"
    log_bytes, before = log.stat().st_size, data.read_bytes()
    os.truncate(log, kept_bytes)
    os.truncate(log, log_bytes)
    for _ in range(2):
        with pytest.raises(Unavailable, match="-wal was cut off"):
            write(engine, range(10, 11))
    engine.close()
    assert data.read_bytes() == before  # zeros are not copied over it
    assert log.exists()


def test_a_log_that_starts_over_was_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = guarded(tmp_path, monkeypatch)
    for mode in (apsw.SQLITE_CHECKPOINT_TRUNCATE, apsw.SQLITE_CHECKPOINT_RESTART) * 2:
        engine.write(lambda tx: tx.put(b"a", bytes(50_000)))
        engine._release_snapshots(True)
        engine._writer.wal_checkpoint(mode=mode)
        write(engine, range(20, 22))
    engine.close()


def test_looking_at_the_log_leaves_the_locks_of_sqlite_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that closes a file loses its locks on it, and another one may then take the log away."""
    engine = guarded(tmp_path, monkeypatch)
    before = locks_of(tmp_path / "hashrange.db-shm")
    assert before
    for number in range(20, 25):
        write(engine, range(number, number + 1))
        engine._guard.watch()
    assert locks_of(tmp_path / "hashrange.db-shm") == before
    engine.close()


def locks_of(path: Path) -> list[str]:
    """The locks that this process has on a file, as Linux lists them."""
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text("ascii").splitlines()
    return sorted(line.split(": ", 1)[1] for line in lines if inode in line and f" {os.getpid()} " in line)
