"""Opening a data directory: who may have it, and what may be in it."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hashrange.storage.errors import Corrupt, FormatTooNew, FormatTooOld, Locked, NotWritable, Unavailable
from hashrange.storage.formats import FORMAT_VERSION
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES


def edit(directory: Path, sql: str) -> None:
    connection = apsw.Connection(str(directory / "hashrange.db"))
    connection.execute(sql).fetchall()
    connection.close()


def test_a_new_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    SqliteEngine.open(directory).close()
    names = sorted(path.name for path in directory.iterdir())
    assert names == ["hashrange.db", "hashrange.lock", "hashrange.reserve"]


def test_the_file_has_the_settings_the_design_note_names(sqlite: SqliteEngine, tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "data" / "hashrange.db"))
    pragmas = {
        name: connection.execute(f"PRAGMA {name}").get
        for name in ("journal_mode", "page_size", "auto_vacuum")
    }
    assert pragmas == {"journal_mode": "wal", "page_size": PAGE_BYTES, "auto_vacuum": 2}
    assert sqlite._writer.execute("PRAGMA synchronous").get == 2


def test_a_directory_has_one_owner(sqlite: SqliteEngine, tmp_path: Path) -> None:
    with pytest.raises(Locked, match=rf"data is in use by another server \(process {os.getpid()}\)"):
        SqliteEngine.open(tmp_path / "data")
    sqlite.close()
    SqliteEngine.open(tmp_path / "data").close()


def test_the_lock_is_between_processes_and_dies_with_its_owner(tmp_path: Path) -> None:
    code = "import sys, pathlib; from hashrange.storage.sqlite import SqliteEngine\n"
    code += "SqliteEngine.open(pathlib.Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        with pytest.raises(Locked, match=f"process {owner.pid}"):
            SqliteEngine.open(tmp_path)
    finally:
        owner.kill()
        owner.communicate()
    SqliteEngine.open(tmp_path).close()


def test_a_failed_opening_keeps_no_lock(tmp_path: Path) -> None:
    (tmp_path / "hashrange.db").write_bytes(b"not a database at all" * 1000)
    for _ in range(2):
        with pytest.raises(Corrupt):
            SqliteEngine.open(tmp_path)
    (tmp_path / "hashrange.db").unlink()
    SqliteEngine.open(tmp_path).close()


@pytest.mark.parametrize("newer", [FORMAT_VERSION + 1, 1000])
def test_a_newer_format_is_refused_in_plain_words(tmp_path: Path, newer: int) -> None:
    SqliteEngine.open(tmp_path).close()
    edit(tmp_path, f"UPDATE meta SET value = '{newer}' WHERE name = 'format'")
    with pytest.raises(FormatTooNew, match=f"format {newer}, this version of Hashrange reads up to"):
        SqliteEngine.open(tmp_path)


def test_an_older_format_is_refused_in_plain_words(tmp_path: Path) -> None:
    SqliteEngine.open(tmp_path).close()
    edit(tmp_path, "UPDATE meta SET value = '1' WHERE name = 'format'")
    with pytest.raises(FormatTooOld, match=f"format 1, this version of Hashrange reads {FORMAT_VERSION}"):
        SqliteEngine.open(tmp_path)


def test_the_current_format_is_opened(tmp_path: Path) -> None:
    SqliteEngine.open(tmp_path).close()
    edit(tmp_path, f"UPDATE meta SET value = '{FORMAT_VERSION}' WHERE name = 'format'")
    SqliteEngine.open(tmp_path).close()


@pytest.mark.parametrize("damage", ["DELETE FROM meta", "UPDATE meta SET value = 'x'", "DROP TABLE meta"])
def test_a_file_without_a_readable_format_is_corrupt(tmp_path: Path, damage: str) -> None:
    SqliteEngine.open(tmp_path).close()
    edit(tmp_path, damage)
    with pytest.raises(Corrupt):
        SqliteEngine.open(tmp_path)


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    edit(tmp_path, "CREATE TABLE theirs(x)")
    before = (tmp_path / "hashrange.db").read_bytes()
    with pytest.raises(Corrupt, match="not one of Hashrange's"):
        SqliteEngine.open(tmp_path)
    assert (tmp_path / "hashrange.db").read_bytes() == before


def test_a_creation_that_was_cut_short_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "hashrange.db.new").write_bytes(b"half of it")
    (tmp_path / "hashrange.db.new-journal").write_bytes(b"more")
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: tx.put(b"k", b"v"))
    engine.close()
    assert not list(tmp_path.glob("*.new*"))


@pytest.mark.parametrize("place", ["file/data", "file"])
def test_a_place_that_cannot_be_a_directory_is_not_writable(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NotWritable, match="cannot use data directory"):
        SqliteEngine.open(tmp_path / place)


def open_as_nobody(directory: Path, results: "multiprocessing.Queue[str]") -> None:
    os.setuid(65534)
    try:
        SqliteEngine.open(directory)
    except NotWritable as error:
        results.put(str(error))
    except BaseException as error:  # noqa: BLE001 - the parent shows it
        results.put(repr(error))
    else:
        results.put("opened")


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("file_mode", ["no lock file yet", "lock file open to all", "all files readable"])
def test_no_permission_is_not_writable(file_mode: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("owned")
    for parent in (base, *base.parents[:2]):
        parent.chmod(0o755)
    directory = base / "data"
    SqliteEngine.open(directory).close()
    if file_mode == "no lock file yet":
        (directory / "hashrange.lock").unlink()
    else:
        (directory / "hashrange.lock").chmod(0o666)
        (directory / "hashrange.db").chmod(0o600 if file_mode == "lock file open to all" else 0o644)
    results: multiprocessing.Queue[str] = multiprocessing.get_context("fork").Queue()
    child = multiprocessing.get_context("fork").Process(target=open_as_nobody, args=(directory, results))
    child.start()
    message = results.get(timeout=60)
    child.join(60)
    assert message.startswith("cannot "), message
    assert str(directory) in message


def test_damage_met_while_reading_is_corrupt(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(b"%05d" % number, b"x" * 500) for number in range(2000)])
    engine.close()
    file = tmp_path / "hashrange.db"
    with file.open("r+b") as stream:
        for page in range(5, file.stat().st_size // PAGE_BYTES):
            stream.seek(page * PAGE_BYTES)
            stream.write(b"\xee" * 64)
    engine = SqliteEngine.open(tmp_path)
    with pytest.raises(Corrupt):
        engine.read(lambda reader: list(reader.scan(b"", b"z")))
    with pytest.raises(Corrupt):
        engine.write(lambda tx: list(tx.scan(b"", b"z")))
    engine.close()


def test_errors_have_the_families_callers_rely_on() -> None:
    from hashrange.storage import errors

    assert issubclass(errors.Closed, Unavailable)
    for kind in (errors.Locked, errors.NotWritable, errors.FormatTooNew):
        assert issubclass(kind, errors.OpenError)
