"""A data directory that is only read, for `hashrange verify`: alone, or beside a running server."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import apsw

from hashrange.storage.engine import Reader
from hashrange.storage.errors import Locked, NotChecked, OpenError
from hashrange.storage.sqlite import page_checksums, schema
from hashrange.storage.sqlite.checkpoint import LOG_PAGES_START
from hashrange.storage.sqlite.directory_lock import DirectoryLock
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.opening import check_log
from hashrange.storage.sqlite.reader import SnapshotReader

T = TypeVar("T")

CACHE_KIB = 16 * 1024
STRUCTURE_PROBLEMS_MAX = 100
_PROGRESS_STEPS = 100_000  # of SQLite's machine, between two looks at the log
_LOG_PAGES = slice(16, 20)  # in the header of the log's index, in the machine's own byte order


class ReadOnlyStore:
    """Reads rows and counters; changes nothing but, after a crash, the log's index."""

    def __init__(self, directory: Path) -> None:
        """Lock the directory if no server has it; nothing is created."""
        self._file = schema.data_file(directory)
        if not directory.is_dir() or not self._file.exists():
            raise OpenError(f"there is no data in {directory}")
        self._lock: DirectoryLock | None = None
        with contextlib.suppress(Locked):  # a server is running, and goes on
            self._lock = DirectoryLock(directory)
        try:
            self._connection = self._connect(is_first=not self.is_live)
        except BaseException:
            self._release()
            raise

    @property
    def is_live(self) -> bool:
        """Whether a server has the directory open."""
        return self._lock is None

    @property
    def description(self) -> str:
        """Name the engine and its file."""
        return f"SQLite ({self._file})"

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""
        reader = SnapshotReader(self._connection, checks_pages=False)
        try:
            reader.begin_step(object(), seconds)
            result = step(reader)
            reader.end_step()
        except apsw.Error as error:
            reader.locate(error)
            # After some errors SQLite ends the snapshot by itself.
            self._connection.close(True)
            self._connection = self._connect()
            raise translate(error) from error
        except BaseException:
            reader.end_step()
            raise
        return result

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        return self.read(lambda reader: cast("SnapshotReader", reader).counters())

    def structure_problems(self) -> Iterator[str]:
        """What SQLite's own check finds."""
        connection = self._connect()
        if self.is_live:
            # The check has one snapshot from beginning to end, which keeps the log of a busy server from starting over.
            connection.set_progress_handler(self._is_log_long, _PROGRESS_STEPS)
        try:
            rows = connection.execute(f"PRAGMA integrity_check({STRUCTURE_PROBLEMS_MAX})").fetchall()
            yield from (str(row[0]) for row in rows if row[0] != "ok")
        except apsw.InterruptError:
            raise NotChecked("structure of the file: the server writes too much for it") from None
        except apsw.Error as error:
            yield str(translate(error))
        finally:
            connection.close(True)

    def _is_log_long(self) -> bool:
        """Whether the log is due to start over; its length is in its index."""
        with self._file.with_name(self._file.name + "-shm").open("rb") as index:
            header = index.read(_LOG_PAGES.stop)
        return int.from_bytes(header[_LOG_PAGES], sys.byteorder) >= LOG_PAGES_START

    def close(self) -> None:
        """Close the file and release the directory."""
        self._connection.close(True)
        self._release()

    def _connect(self, *, is_first: bool = False) -> apsw.Connection:
        try:
            connection = schema.connect(str(self._file), cache_kib=CACHE_KIB)
            page_checksums.check_kept(connection, self._file)
            if is_first:
                check_log(connection, self._file)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            schema.pragma(connection, "query_only", 1)
            schema.prepare(connection, str(self._file))
        except apsw.Error as error:
            raise schema.opening_fault(error, str(self._file)) from error
        return connection

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
