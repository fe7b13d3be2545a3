"""Frames that are written together: the log has every commit when it is acknowledged."""

import fcntl
import os
import random
import resource
import shutil
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ctypes import CFUNCTYPE, c_char_p, c_int, c_int64, c_size_t, c_ssize_t, c_void_p, cast, string_at
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import apsw
import pytest

from hashrange.storage.sqlite import log_writes
from sizes import size

try:
    from hashrange.storage.sqlite import _log_writes
except ImportError:
    _log_writes = None  # type: ignore[assignment]

_OPEN = CFUNCTYPE(c_int, c_char_p, c_int, c_int)
_CLOSE = CFUNCTYPE(c_int, c_int)
_CONTROL = CFUNCTYPE(c_int, c_int, c_int, c_void_p)
_READ = CFUNCTYPE(c_ssize_t, c_int, c_void_p, c_size_t, c_int64)
_WRITE = CFUNCTYPE(c_ssize_t, c_int, c_void_p, c_size_t, c_int64)

pytestmark = pytest.mark.skipif(
    not log_writes.install(), reason="the compiled helper of the log was not built, or SQLite has other calls"
)
ROWS = 40


class Database:
    """A small database with a log, in a directory of its own, and what should be in it."""

    def __init__(self, folder: Path, *, cache_pages: int = 100, page_bytes: int = 1024) -> None:
        folder.mkdir()
        self.file = folder / "data.db"
        self.connection = apsw.Connection(str(self.file), vfs="unix")
        for setting in (
            f"page_size = {page_bytes}",
            "journal_mode = wal",
            "synchronous = full",
            "wal_autocheckpoint = 0",
            f"cache_size = {cache_pages}",
        ):
            self.connection.execute(f"PRAGMA {setting}").fetchall()
        self.connection.execute("CREATE TABLE rows(k INTEGER PRIMARY KEY, v BLOB)")
        self.rows: dict[int, bytes] = {}

    def write(self, rows: dict[int, bytes]) -> None:
        """Write rows in one transaction, again and again while it lasts."""
        self.connection.execute("BEGIN IMMEDIATE")
        for row in rows.items():
            self.connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", row)

    def commit(self, rows: dict[int, bytes]) -> None:
        self.connection.execute("COMMIT")
        self.rows.update(rows)

    def after_a_crash(self, folder: Path) -> dict[int, bytes]:
        """What a database finds that opens the files as the file system has them now."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in ("data.db", "data.db-wal"):
            shutil.copyfile(self.file.with_name(name), folder / name)
        connection = apsw.Connection(str(folder / "data.db"), vfs="unix")
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        rows = stored(connection)
        connection.close()
        return rows


def stored(connection: apsw.Connection) -> dict[int, bytes]:
    rows: Any = connection.execute("SELECT k, v FROM rows").fetchall()
    return dict(rows)


def some_rows(source: random.Random) -> dict[int, bytes]:
    count = source.choice((1, 3, ROWS))
    return {source.randrange(ROWS): source.randbytes(source.choice((10, 700, 5000))) for _ in range(count)}


@pytest.fixture(params=[1024, 8192, 65536])
def page_bytes(request: pytest.FixtureRequest) -> int:
    return int(request.param)


# With a cache of a few pages SQLite spills pages to the log before the commit, writes some of those frames once more
# where they are, and then all checksums behind them again: a header at a time, without their pages.
@pytest.mark.parametrize("cache_pages", [1, 10, 1000])
def test_every_commit_is_in_the_log_when_it_is_acknowledged(
    tmp_path: Path, cache_pages: int, page_bytes: int
) -> None:
    source = random.Random(cache_pages * page_bytes)
    database = Database(tmp_path / "one", cache_pages=cache_pages, page_bytes=page_bytes)
    for number in range(size(25, 250)):
        rows = some_rows(source)
        database.write(rows)
        if number % 5 == 4:
            database.connection.execute("ROLLBACK")
        else:
            database.commit(rows)
        if number % 9 == 8:
            mode = source.choice((apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_RESTART))
            database.connection.wal_checkpoint(mode=mode)
        assert database.after_a_crash(tmp_path / "copy") == database.rows
    database.connection.close()


def test_a_reader_beside_it_sees_every_commit(tmp_path: Path) -> None:
    source = random.Random(7)
    database = Database(tmp_path / "one", cache_pages=1)
    reader = apsw.Connection(str(database.file), vfs="unix")
    for _ in range(size(40, 400)):
        rows = some_rows(source)
        database.write(rows)
        assert stored(reader) == database.rows
        database.commit(rows)
        assert stored(reader) == database.rows


def test_databases_that_commit_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    databases = [Database(tmp_path / f"{number}", cache_pages=5) for number in range(3)]

    def work(database: Database, seed: int) -> None:
        source = random.Random(seed)
        for _ in range(size(60, 600)):
            rows = some_rows(source)
            database.write(rows)
            database.commit(rows)

    threads = [threading.Thread(target=work, args=each) for each in zip(databases, range(3), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in databases:
        assert database.after_a_crash(tmp_path / "copy") == database.rows


@pytest.fixture
def small_files() -> Iterator[int]:
    """The files of this process cannot grow beyond so many bytes."""
    limit, most = 40_000, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most[1]))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, most)


def test_a_commit_that_does_not_fit_fails_and_leaves_no_trace(tmp_path: Path, small_files: int) -> None:
    database = Database(tmp_path / "one")
    first = {1: b"a" * 100}
    database.write(first)
    database.commit(first)
    database.write(dict.fromkeys(range(2, 20), b"b" * 5000))
    with pytest.raises(apsw.Error):
        database.connection.execute("COMMIT")
    if database.connection.in_transaction:
        database.connection.execute("ROLLBACK")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    assert database.after_a_crash(tmp_path / "copy") == first
    second = dict.fromkeys(range(30, 50), b"c" * 5000)
    database.write(second)
    database.commit(second)
    assert database.after_a_crash(tmp_path / "copy") == {**first, **second}
    assert small_files


def test_a_commit_of_many_pages_takes_few_calls(tmp_path: Path) -> None:
    database = Database(tmp_path / "one", cache_pages=1000)
    rows = dict.fromkeys(range(ROWS), b"v" * 5000)  # 200 pages
    database.write(rows)
    before = _writes()
    database.commit(rows)
    assert _writes() - before < 50


def _writes() -> int:
    """System calls that wrote something, of this thread."""
    (line,) = (
        line
        for line in Path("/proc/thread-self/io").read_text("utf-8").splitlines()
        if line.startswith("syscw")
    )
    return int(line.split()[1])


def _frames_of_another(tmp_path: Path, *, ends: str) -> tuple[Database, apsw.Connection, dict[int, bytes]]:
    """A database, one writer whose transaction was spilled and rolled back, and rows that another has committed since.

    What the first has changed is in the file, not in the log, and page 1 is not among it: its rollback reads no frame.
    """
    first = Database(tmp_path / "one", cache_pages=10, page_bytes=4096)
    rows = dict.fromkeys(range(400), b"0" * 3000)
    first.write(rows)
    first.commit(rows)
    first.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    second = apsw.Connection(str(first.file), vfs="unix")
    second.execute("PRAGMA synchronous = full").fetchall()
    second.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    first.write(dict.fromkeys(range(100), b"A" * 3000))
    if ends == "close":
        first.connection.close(True)
    else:
        first.connection.execute("ROLLBACK")
    committed = dict.fromkeys(range(300, 400), b"B" * 3000)
    for row in committed.items():
        second.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", row)
    return first, second, {**rows, **committed}


def test_frames_that_were_rolled_back_are_not_written_over_those_of_another_writer(tmp_path: Path) -> None:
    first, second, rows = _frames_of_another(tmp_path, ends="rollback")
    assert stored(first.connection) == rows
    assert stored(second) == rows
    assert first.after_a_crash(tmp_path / "copy") == rows


def test_a_writer_that_is_closed_in_a_transaction_leaves_nothing_in_the_log(tmp_path: Path) -> None:
    first, second, rows = _frames_of_another(tmp_path, ends="close")
    assert stored(second) == rows
    assert first.after_a_crash(tmp_path / "copy") == rows


class Calls:
    """A helper of its own, over system calls that the test makes up: one log is open, and another one."""

    LOG, OTHER, INDEX, DATABASE = 4000, 4001, 4002, 4003

    def __init__(self, folder: Path, *, index: int = INDEX, database: int = DATABASE) -> None:
        # A copy has a buffer of its own.
        copy = shutil.copyfile(_log_writes.__file__, folder / "_log_writes.so")
        loader = ExtensionFileLoader("_log_writes", str(copy))
        module = module_from_spec(ModuleSpec("_log_writes", loader, origin=str(copy)))
        self._files = {b"a-wal": self.LOG, b"b-wal": self.OTHER, b"a-shm": index, b"a.db": database}
        self.written: list[tuple[int, bytes, int]] = []  # file, bytes, place
        self.write_at_most = 1 << 30
        self.before_write: Callable[[], object] = lambda: None
        self._originals = (
            _OPEN(lambda path, _flags, _mode: self._files[path]),
            _CLOSE(lambda _file: 0),
            _CONTROL(lambda _file, _command, _argument: 0),
            _READ(lambda _file, _bytes, _count, _at: 0),
            _WRITE(self._write),
        )
        addresses = module.replacements(*(cast(call, c_void_p).value for call in self._originals))
        types = (_OPEN, _CLOSE, _CONTROL, _READ, _WRITE)
        self._open, _, self._control, self._read, self._replaced_write = map(_at_address, types, addresses)
        for path in self._files:
            self._open(path, 0, 0)

    def _write(self, file: int, start: int, count: int, at: int) -> int:
        self.before_write()
        count = min(count, self.write_at_most)
        self.written.append((file, string_at(start, count), at))
        return count

    def write(self, file: int, data: bytes, at: int) -> None:
        """Write as SQLite does, until all of it is written."""
        while data:
            count = self._replaced_write(file, data, len(data), at)
            data, at = data[count:], at + count

    def try_to_write(self, file: int, data: bytes, at: int) -> int:
        """Write once."""
        count: int = self._replaced_write(file, data, len(data), at)
        return count

    def read(self, file: int) -> None:
        self._read(file, None, 0, 0)

    def unlock(self, file: int) -> None:
        """Give up the lock of writers."""
        lock = struct.pack("hhxxxxqqi4x", fcntl.F_UNLCK, 0, 120, 1, 0)
        self._control(file, fcntl.F_SETLK, lock)


def _at_address(kind: Any, address: int) -> Any:
    return kind(address)


def test_the_end_of_a_page_that_was_cut_short_is_no_header(tmp_path: Path) -> None:
    calls = Calls(tmp_path)
    calls.write_at_most = 512 - 24
    calls.write(calls.LOG, b"p" * 512, 56)  # a page on its own: its header was not held back
    assert sum(len(data) for _, data, _ in calls.written) == 512


def test_what_is_read_from_another_log_does_not_wait_for_a_write(tmp_path: Path) -> None:
    calls = Calls(tmp_path)
    begun, may_end = threading.Event(), threading.Event()
    calls.before_write = lambda: (begun.set(), may_end.wait(10))
    writer = threading.Thread(target=calls.write, args=(calls.LOG, b"w" * 32, 0))
    writer.start()
    assert begun.wait(10)
    reader = threading.Thread(target=calls.read, args=(calls.OTHER,))
    reader.start()
    reader.join(5)
    waited = reader.is_alive()
    may_end.set()
    writer.join()
    reader.join()
    assert not waited


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_database_gets_all_that_a_checkpoint_writes(tmp_path: Path, kind: str) -> None:
    """It is waited for in between, where that can be done; elsewhere nothing is different."""
    with ExitStack() as stack:
        if kind == "file":
            number = stack.enter_context((tmp_path / "x").open("wb")).fileno()
        else:
            ends = os.pipe()
            number = ends[1]
            for end in ends:
                stack.callback(os.close, end)
        calls = Calls(tmp_path, database=number)
        pages = [bytes([place]) * 8192 for place in range(40)]
        for place, page in enumerate(pages):
            calls.write(number, page, 8192 * 2 * place)
        assert calls.written == [(number, page, 8192 * 2 * place) for place, page in enumerate(pages)]


def test_a_database_that_cannot_be_waited_for_fails_a_write(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        number = file.fileno()
    calls = Calls(tmp_path, database=number)  # which is closed by now
    outcomes = [calls.try_to_write(number, b"p" * 8192, 8192 * place) for place in range(17)]
    assert outcomes.count(-1) == 1
    assert outcomes.count(8192) == 16


HEADER, PAGE = b"\0" * 24, b"p" * 512  # of a frame that is not the last of its commit


@pytest.mark.parametrize("index", [Calls.INDEX, 5000])
def test_what_was_rolled_back_is_never_written_after_the_lock_was_given_up(
    tmp_path: Path, index: int
) -> None:
    """Also if the index of the log has a number that is larger than the helper looks at."""
    calls = Calls(tmp_path, index=index)
    calls.write(calls.LOG, b"w" * 32, 0)
    calls.write(calls.LOG, HEADER, 32)
    calls.write(calls.LOG, PAGE, 56)
    calls.unlock(index)
    calls.written.clear()
    calls.read(calls.LOG)
    assert calls.written == []
