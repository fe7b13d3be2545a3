"""`hashrange verify` on places of every kind: what it says of them, and that it leaves them as they are."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from faults.stores import fact, fill, opened
from faults.tables import FACTS
from hashrange import cli
from hashrange.storage.engine import Reader
from hashrange.storage.errors import NotChecked
from hashrange.storage.sqlite import SqliteEngine, checkpoint
from hashrange.storage.sqlite.log_file import FRAME_HEADER_BYTES, HEADER_BYTES, read_log, readable_frames
from hashrange.storage.sqlite.read_only import ReadOnlyStore
from hashrange.storage.sqlite.schema import PAGE_BYTES
from storage.damage import flip

pytestmark = pytest.mark.slow

Files = dict[str, tuple[bytes, int]]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two data directories: `stopped`, and `crashed`, which has more in its log."""
    base = tmp_path_factory.mktemp("originals")
    with opened(base / "running") as service:
        fill(service)
    shutil.copytree(base / "running", base / "stopped")
    with opened(base / "running") as service:
        for number in range(1000, 1010):
            service.call("PutItem", TableName=FACTS, Item=fact(number))
        shutil.copytree(base / "running", base / "crashed")
    return base


@pytest.fixture
def stopped(originals: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(originals / "stopped", tmp_path / "stopped"))


@pytest.fixture
def crashed(originals: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(originals / "crashed", tmp_path / "crashed"))


def files(directory: Path) -> Files:
    """Everything in a directory, with the time of its last change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


def verified(place: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.main(["verify", "--json", str(place)]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def refusal(place: Path | str, capsys: pytest.CaptureFixture[str]) -> str:
    """What verify says of a place that it cannot read, in one line."""
    capsys.readouterr()
    assert cli.main(["verify", str(place)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("hashrange: ")
    assert shown.err.count("\n") == 1
    return shown.err


def test_nothing_is_changed_in_a_directory_whose_server_was_stopped(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(stopped)
    report = verified(stopped, capsys)
    assert (report["problems"], report["skipped"]) == ([], [])
    assert files(stopped) == before


def test_nothing_is_changed_in_a_directory_whose_server_was_killed_and_its_log_is_read(
    stopped: Path, crashed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(crashed)
    assert {"hashrange.db-wal", "hashrange.db-shm"} < before.keys()
    report = verified(crashed, capsys)
    assert (report["problems"], report["skipped"]) == ([], [])
    assert report["rows"] > verified(stopped, capsys)["rows"]
    assert files(crashed) == before


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    for parent in (directory.parent, *directory.parents[1:4]):
        parent.chmod(parent.stat().st_mode | 0o755)
    for path in directory.iterdir():
        path.chmod(0o444)
    directory.chmod(0o555)
    try:
        yield
    finally:
        directory.chmod(0o755)


def verify_as_nobody(place: Path) -> int:
    """The exit status of verify as a user who may write nothing; root might write everywhere."""

    def run() -> None:
        if os.getuid() == 0:
            os.setuid(65534)
        os._exit(cli.main(["verify", str(place)]))

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join(60)
    assert child.exitcode is not None
    return child.exitcode


@pytest.mark.parametrize(
    "lost", [[], ["hashrange.db-shm"], ["hashrange.lock"], ["hashrange.db-shm", "hashrange.lock"]]
)
@pytest.mark.parametrize("kind", ["stopped", "crashed"])
def test_a_copy_that_cannot_be_written_is_verified(
    originals: Path, tmp_path: Path, kind: str, lost: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    directory = Path(shutil.copytree(originals / kind, tmp_path / "copy"))
    for name in lost:
        (directory / name).unlink(missing_ok=True)
    before = files(directory)
    with read_only(directory):
        status = verify_as_nobody(directory)
    shown = capfd.readouterr()
    assert (status, "no problems" in shown.out) == (0, True), shown.err
    assert str(directory / "hashrange.db") in shown.out
    assert files(directory) == before


def test_a_copy_that_is_needed_elsewhere_and_has_no_room_there(
    crashed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (crashed / "hashrange.db-shm").unlink()
    monkeypatch.setattr(os, "access", lambda *_: False)
    full = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert "Set TMPDIR to a directory with more space" in refusal(crashed, capsys)


def count(reader: Reader) -> int:
    return sum(1 for _ in reader.scan(b"", b"\xff" * 8))


def test_a_server_starts_beside_it_and_what_it_writes_is_read(stopped: Path) -> None:
    store = ReadOnlyStore(stopped)
    rows = store.read(count)
    engine = SqliteEngine.open(stopped)
    engine.write(lambda tx: [tx.put(b"\x7f%05d" % number, b"x" * 500) for number in range(500)])
    assert store.read(count) == rows + 500
    assert list(store.structure_problems()) == []
    engine.close()
    assert store.read(count) == rows + 500
    store.close()
    SqliteEngine.open(stopped).close()


def test_a_server_that_comes_and_goes_during_one_step_is_noticed(stopped: Path) -> None:
    """The step reads old and new pages, which do not belong together, so it runs again."""
    store = ReadOnlyStore(stopped)
    attempts = []

    def step(reader: Reader) -> int:
        if not attempts:
            engine = SqliteEngine.open(stopped)
            engine.write(lambda tx: [tx.put(b"\x01%05d" % number, b"x" * 500) for number in range(500)])
            engine.close()
        attempts.append(reader)
        return count(reader)

    rows = store.read(step)
    assert len(attempts) == 2
    assert rows == store.read(count)
    store.close()


_WRITER = """
import sys, pathlib
from hashrange.storage.sqlite import SqliteEngine, checkpoint
engine = SqliteEngine.open(pathlib.Path(sys.argv[1]))
engine.write(lambda tx: [tx.put(b"\\x7f%05d" % number, b"x" * 500) for number in range(500)])
print("written", flush=True)
sys.stdin.readline()
engine.close()
print("closed", flush=True)
"""


def test_a_server_starts_beside_it_after_a_crash(crashed: Path) -> None:
    store = ReadOnlyStore(crashed)
    rows = store.read(count)
    command = [sys.executable, "-c", _WRITER, str(crashed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "written\n"
        assert store.read(count) == rows + 500
        server.stdin.write("\n")
        server.stdin.flush()
        assert server.stdout.readline() == "closed\n"
    assert store.read(count) == rows + 500
    store.close()


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    os.truncate(path, 5 * PAGE_BYTES)


def replace_by_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_by_rubbish(path: Path) -> None:
    path.write_bytes(b"rubbish " * 10_000)


def replace_by_foreign_database(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs(x)").fetchall()
    connection.close()


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("crashed", remove, "is missing, but its write-ahead log is there with"),
        ("stopped", remove, "there is no data in {}: it has no hashrange.db"),
        ("crashed", empty, "is empty: everything in it is lost"),
        ("stopped", empty, "is empty: everything in it is lost"),
        ("stopped", cut, "is cut off: of "),
        ("stopped", replace_by_directory, "it is a directory. Move it away and put the data file there"),
        ("stopped", replace_by_rubbish, "is not a SQLite database, or its header is damaged"),
        ("stopped", replace_by_foreign_database, "is a SQLite file, but not one of Hashrange's"),
    ],
)
def test_verify_says_of_a_lost_file_what_a_start_says(
    originals: Path,
    tmp_path: Path,
    kind: str,
    change: Callable[[Path], None],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    directory = Path(shutil.copytree(originals / kind, tmp_path / "data"))
    change(directory / "hashrange.db")
    names = {path.name for path in directory.iterdir()}
    message = refusal(directory, capsys)
    assert words.format(directory) in message
    assert {path.name for path in directory.iterdir()} == names
    if (kind, change) != ("stopped", remove):
        assert cli.main(["serve", "--port", "0", "--data-dir", str(directory)]) == 1
        assert capsys.readouterr().err == message


def test_places_that_are_no_data_directories(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = stopped / "nothing" / "here"
    assert f"there is no data in {nowhere}: no such directory" in refusal(nowhere, capsys)
    assert not nowhere.parent.exists()
    file = stopped / "hashrange.db"
    expected = f"cannot use data directory {file}: it is a file; the directory is {stopped}"
    assert expected in refusal(file, capsys)
    assert cli.main(["serve", "--data-dir", str(file)]) == 1
    assert expected in capsys.readouterr().err
    assert cli.main(["migrate", "--from", str(file), "--to", str(nowhere)]) == 1
    assert expected in capsys.readouterr().err
    assert cli.main(["migrate", "--from", str(nowhere), "--to", str(nowhere)]) == 1
    assert "no such directory" in capsys.readouterr().err
    assert "cannot read data directory" in refusal(file / "data", capsys)
    assert "cannot read data directory" in refusal("x" * 5000, capsys)
    assert "cannot use data directory /dev/null: it is no directory" in refusal("/dev/null", capsys)
    assert cli.main(["serve", "--data-dir", "x" * 5000]) == 1
    assert "cannot use data directory" in capsys.readouterr().err
    assert "neither a directory nor a URL" in refusal("mysql://x", capsys)


def test_an_error_is_part_of_a_report_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--json", str(tmp_path)]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert "there is no data in" in report["error"]


@pytest.mark.parametrize("frame", [0, 5])
def test_a_damaged_log_is_refused(crashed: Path, frame: int, capsys: pytest.CaptureFixture[str]) -> None:
    flip(crashed / "hashrange.db-wal", HEADER_BYTES + frame * (FRAME_HEADER_BYTES + PAGE_BYTES) + 1000)
    before = files(crashed)
    message = refusal(crashed, capsys)
    assert "acknowledged commits cannot be read any more" in message
    assert files(crashed) == before
    assert cli.main(["serve", "--port", "0", "--data-dir", str(crashed)]) == 1
    assert capsys.readouterr().err == message


def test_frames_are_counted_as_sqlite_counts_them(crashed: Path) -> None:
    path = crashed / "hashrange.db-wal"
    log = read_log(path)
    assert log is not None
    connection = apsw.Connection(str(crashed / "hashrange.db"))
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    assert readable_frames(path, log) == connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]
    connection.close()


@pytest.mark.parametrize(("start", "is_checked"), [(100_000, True), (20, False)])
def test_the_check_of_a_file_ends_when_the_server_s_log_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: int, is_checked: bool
) -> None:
    monkeypatch.setattr(checkpoint, "IDLE_SECONDS", 1000.0)
    monkeypatch.setattr("hashrange.storage.sqlite.read_only._PROGRESS_STEPS", 10)
    engine = SqliteEngine.open(tmp_path)
    for number in range(100):
        engine.write(lambda tx, number=number: tx.put(b"k%d" % number, bytes(1000)))
    # A volume of a few gigabytes has a shorter log than others.
    limits = checkpoint.LogLimits(start, 2 * start)
    monkeypatch.setattr(checkpoint.LogLimits, "of_volume", lambda _: limits)
    store = ReadOnlyStore(tmp_path)
    try:
        if is_checked:
            assert list(store.structure_problems()) == []
        else:
            with pytest.raises(NotChecked):
                list(store.structure_problems())
    finally:
        store.close()
        engine.close()
