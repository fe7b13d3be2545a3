"""A data directory that is only read, for `hashrange verify`: alone, or beside a running server."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar, cast

import apsw

from hashrange.storage.engine import Reader
from hashrange.storage.errors import NotChecked, OpenError, StorageError
from hashrange.storage.sqlite import large_values, log_file, page_checksums, page_encryption, place, schema
from hashrange.storage.sqlite.checkpoint import LogLimits
from hashrange.storage.sqlite.directory_lock import LOCK_NAME, is_locked
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.opening import check_log_file
from hashrange.storage.sqlite.reader import SnapshotReader

T = TypeVar("T")

CACHE_KIB = 16 * 1024
STRUCTURE_PROBLEMS_MAX = 100
_PROGRESS_STEPS = 100_000  # of SQLite's machine, between two looks at the log
_LOG_PAGES = slice(16, 20)  # in the header of the log's index, in the machine's own byte order

FileState = tuple[int, int, int] | None


class Access(Enum):
    """How the files can be read."""

    SHARED = auto()  # as a server's own readers do, through the log's index
    WITHOUT_LOG = auto()  # there is no log: the data file is everything, as long as nobody changes it
    PRIVATE_INDEX = auto()  # the log's index is from before a crash: SQLite makes one in memory


class ReadOnlyStore:
    """Reads rows and counters. It takes no lock that a server needs, and changes nothing in the directory.

    The one exception is a log without its index in a directory that can be written: SQLite makes the index there, as it
    would for a server.
    """

    def __init__(self, directory: Path) -> None:
        """Open what is there; nothing is created, and no server is kept from starting."""
        self._resources = ExitStack()
        self._named = self._file = place.existing_data_file(directory)
        self._connection: apsw.Connection
        self._access: Access
        self._states: list[FileState]
        self._index_file: int | None = None
        self._log_due = LogLimits.of_volume(directory).start  # as for a server: the two are on one volume
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise

    @property
    def description(self) -> str:
        """Name the engine and its file."""
        return f"SQLite ({self._named})"

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot; again, if the files have changed under it."""
        return self._retried(lambda: self._read(step, seconds))

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        return self.read(lambda reader: cast("SnapshotReader", reader).counters())

    def structure_problems(self) -> Iterator[str]:
        """What SQLite's own check finds."""
        return iter(self._retried(self._check_structure))

    def close(self) -> None:
        """Close the file."""
        self._connection.close(True)
        self._resources.close()

    def _retried(self, action: Callable[[], T]) -> T:
        """Run an action, again if a server has started on the files meanwhile and they are not what they were."""
        while True:
            try:
                result = action()
            except StorageError:
                if not self._was_changed():
                    raise
            else:
                if not self._was_changed():
                    return result
            self._connection.close(True)
            self._open()

    def _was_changed(self) -> bool:
        return self._access is Access.WITHOUT_LOG and _states(self._file) != self._states

    def _read(self, step: Callable[[Reader], T], seconds: float | None) -> T:
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

    def _check_structure(self) -> list[str]:
        connection = self._connect()
        if self._access is not Access.WITHOUT_LOG:
            # The check has one snapshot from beginning to end, which keeps the log of a busy server from starting over.
            connection.set_progress_handler(self._is_log_long, _PROGRESS_STEPS)
        try:
            rows = connection.execute(f"PRAGMA integrity_check({STRUCTURE_PROBLEMS_MAX})").fetchall()
            # That a large value is its row's own is known by the checksum; the rest is a matter of their number.
            orphans = large_values.count_orphans(connection.cursor())
        except apsw.InterruptError:
            raise NotChecked("structure of the file: the server writes too much for it") from None
        except apsw.Error as error:
            return [str(translate(error))]
        finally:
            connection.close(True)
        problems = [str(row[0]) for row in rows if row[0] != "ok"]
        return [*problems, f"{orphans} large values belong to no row"] if orphans else problems

    def _is_log_long(self) -> bool:
        """Whether a server's log is due to start over; its length is in its index."""
        with suppress(OSError):
            header = os.pread(self._index(), _LOG_PAGES.stop, 0)
            is_long = int.from_bytes(header[_LOG_PAGES], sys.byteorder) >= self._log_due
            return is_long and is_locked(self._file.parent)
        return False

    def _index(self) -> int:
        """The log's index, open until the store is closed: closing a file drops all locks this process has on it."""
        path = place.index_of(self._file)
        if self._index_file is None or not os.path.samestat(os.fstat(self._index_file), path.stat()):
            self._index_file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._resources.callback(os.close, self._index_file)
        return self._index_file

    # Opening.

    def _open(self) -> None:
        """Find out how the files can be read, and see that nothing of them is lost."""
        while True:
            self._states = _states(self._file)
            is_live = is_locked(self._file.parent)
            try:
                self._access = self._choose_access(is_live=is_live)
                if not is_live:
                    self._check_files()
                self._connection = self._connect()
            except StorageError:
                if _states(self._file) == self._states:
                    raise
            else:
                return

    def _choose_access(self, *, is_live: bool) -> Access:
        if is_live:
            return Access.SHARED
        if not place.file_bytes(place.log_of(self._file)):
            return Access.WITHOUT_LOG
        if place.index_of(self._file).exists():
            return Access.PRIVATE_INDEX
        if not os.access(self._file.parent, os.W_OK):
            self._copy_elsewhere()
        return Access.SHARED

    def _copy_elsewhere(self) -> None:
        """Go on with a copy: a log without an index can be read only where an index can be made."""
        try:
            directory = Path(
                self._resources.enter_context(tempfile.TemporaryDirectory(prefix="hashrange-verify-"))
            )
            needed = place.file_bytes(self._file) + place.file_bytes(place.log_of(self._file))
            if shutil.disk_usage(directory).free < needed:
                raise OpenError(
                    f"{self._file} has a write-ahead log without an index, in a directory that cannot be written: "
                    f"it is read from a copy, which needs {needed} bytes in {directory.parent}. "
                    "Set TMPDIR to a directory with more space"
                )
            for path in (self._file, place.log_of(self._file)):
                shutil.copyfile(path, directory / path.name)
        except OSError as error:
            raise OpenError(f"cannot copy {self._file} to a place that can be written: {error}") from error
        page_encryption.unlock_copy(directory, self._file.parent)
        self._file = directory / self._file.name
        self._states = _states(self._file)

    def _check_files(self) -> None:
        """Refuse what a server would refuse to start on."""
        try:
            log = log_file.read_log(place.log_of(self._file))
            readable = log_file.readable_frames(place.log_of(self._file), log) if log else 0
            check_log_file(self._file, log, readable)
        except OSError as error:
            raise OpenError(f"cannot read data file {self._file}: {error.strerror}") from error

    def _connect(self) -> apsw.Connection:
        try:
            connection = self._new_connection()
            page_checksums.check_kept(connection, self._file)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            schema.pragma(connection, "query_only", 1)
            schema.prepare(connection, str(self._file))
        except apsw.Error as error:
            raise schema.opening_fault(error, str(self._file), reading=True) from error
        except OSError as error:
            raise OpenError(f"cannot read data file {self._file}: {error.strerror}") from error
        return connection

    def _new_connection(self) -> apsw.Connection:
        match self._access:
            case Access.SHARED:
                return schema.connect(str(self._file), cache_kib=CACHE_KIB)
            case Access.WITHOUT_LOG:
                return schema.connect_read_only(str(self._file), "immutable=1", cache_kib=CACHE_KIB)
            case Access.PRIVATE_INDEX:
                return schema.connect_read_only(str(self._file), "readonly_shm=1", cache_kib=CACHE_KIB)


def _states(path: Path) -> list[FileState]:
    """What changes when a server starts on the files, or writes to them."""
    return [
        _state(file) for file in (path, place.log_of(path), place.index_of(path), path.with_name(LOCK_NAME))
    ]


def _state(path: Path) -> FileState:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
