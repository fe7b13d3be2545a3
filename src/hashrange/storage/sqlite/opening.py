"""Opening a data file: created whole or not at all, and refused if it or its log has lost something."""

import contextlib
import os
from pathlib import Path

import apsw

from hashrange import logs
from hashrange.storage.errors import Corrupt, NotWritable, OpenError, StorageError, Unavailable
from hashrange.storage.sqlite import log_file, log_writes, page_checksums, page_encryption, place, schema
from hashrange.storage.sqlite.log_file import LogFile
from hashrange.storage.sqlite.reserve import Reserve

log = logs.Log("storage.sqlite")

_USER_VERSION = slice(60, 64)  # in the header of a data file
_INDEX_BYTES = 1024 * 1024  # more than the index of a log takes
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def open_file(path: Path, *, cache_kib: int, is_first: bool = True) -> apsw.Connection:
    """Open a data file or create it; give the connection for writing.

    The first to open it looks at what is there: later on the log may change at any moment.
    """
    log_writes.install()
    if is_first:
        _look_at_files(path)
    try:
        return _open(path, cache_kib, is_first=is_first)
    except Unavailable:
        # Room for the log's index is all that is missing, perhaps.
        if not is_first or _free_bytes(path) > _INDEX_BYTES or log_file.read_log(place.log_of(path)) is None:
            raise
    if Reserve.of_volume(path.parent).give_up():
        with contextlib.suppress(Unavailable):
            return _open(path, cache_kib, is_first=True)
    _take_in_log(path)
    return _open(path, cache_kib, is_first=True)


def _open(path: Path, cache_kib: int, *, is_first: bool) -> apsw.Connection:
    try:
        connection = schema.connect(str(path), cache_kib=cache_kib)
    except apsw.Error as error:
        raise schema.opening_fault(error, str(path)) from error
    try:
        page_checksums.check_kept(connection, path)
        if is_first:
            _check_log(connection, path)
        schema.prepare(connection, str(path))
    except apsw.Error as error:
        connection.close(True)
        raise schema.opening_fault(error, str(path)) from error
    except OSError as error:
        connection.close(True)
        raise NotWritable(f"cannot read data file {path}: {error.strerror}") from error
    except BaseException:
        connection.close(True)
        raise
    return connection


def _look_at_files(path: Path) -> None:
    """Create the file if there is none; refuse what is left of one that is lost."""
    try:
        if not place.has_data_file(path):
            _create(path)
    except OSError as error:
        raise NotWritable(f"cannot use data file {path}: {error.strerror}") from error


def _create(path: Path) -> None:
    """Create the file under another name first: a file under its own name is whole."""
    new = path.with_name(path.name + ".new")
    _remove(new)
    try:
        # SQLite gives the log and its index the mode of the data file.
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = schema.connect(str(new), cache_kib=schema.CREATION_CACHE_KIB, create=True)
        try:
            schema.prepare(connection, str(new), create=True)
        finally:
            connection.close(True)
        new.rename(path)
        _sync_directory(path.parent)
    except apsw.Error as error:
        raise schema.opening_fault(error, str(path)) from error
    finally:
        _remove(new)


def _remove(path: Path) -> None:
    for suffix in _SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_log(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file or a log that has lost something; SQLite says what of the log it reads."""
    found = log_file.read_log(place.log_of(path))
    readable = 0
    # Nothing may be changed before it is clear that nothing is lost, not even when the connection is closed.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    if found is not None:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        readable = max(0, connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0])
    check_log_file(path, found, readable)
    if found is not None:
        _sync_log(path, found.bytes_of(readable))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _sync_log(path: Path, size: int) -> None:
    """Have on disk what commits are going to follow: the last server may have stopped because its disk failed."""
    try:
        log_file.write_again(place.log_of(path), size)
    except OSError as error:
        raise OpenError(f"cannot sync the write-ahead log of {path}: {error.strerror}") from error


def check_log_file(path: Path, found: LogFile | None, readable: int) -> None:
    """Refuse a log that lost commits or is another file's, and a file that lost pages which the log does not have."""
    if found is not None:
        _check_frames(path, found, readable)
        _check_generation(path, found, readable)
    place.check_length(path, found, readable)


def _check_frames(path: Path, found: LogFile, readable: int) -> None:
    lost = found.lost_commits(readable)
    if lost or (found.frames and not found.is_header_whole):
        count = f"at least {lost}" if lost else "an unknown number of"
        raise Corrupt(
            f"the write-ahead log of {path} is damaged behind frame {readable}: {count} acknowledged commits "
            f"cannot be read any more. Restore a backup; or, to go on without them, keep a copy of both files and "
            f"run: truncate -s {found.bytes_of(readable) if readable else 0} {place.log_of(path)}"
        )
    if any(frame.file_pages and frame.number > readable for frame in found.frames):
        log.warning("log.last_commit_unreadable", reason="not finished when the server stopped, or damaged")


def _check_generation(path: Path, found: LogFile, readable: int) -> None:
    versions = log_file.user_versions(place.log_of(path), found, readable)
    stored = int.from_bytes(place.header(path)[_USER_VERSION], "big")
    if versions and not versions[0] - 1 <= stored <= versions[-1]:
        raise Corrupt(
            f"the write-ahead log beside {path} does not belong to it: the file was replaced, or restored without "
            "its log. Put the right one there, or move the log away to start without it"
        )


def _take_in_log(path: Path) -> None:
    """Copy the log into the file without the index file that readers share, for which there may be no room."""
    try:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = page_encryption.connect(str(path), str(path), flags, schema.STATEMENT_CACHE_SIZE)
        try:
            schema.pragma(connection, "locking_mode", "EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            with contextlib.suppress(apsw.Error):
                connection.close(True)
    except apsw.Error as error:
        raise _full_volume(path, error) from error


def _free_bytes(path: Path) -> int:
    volume = os.statvfs(path.parent)
    return volume.f_bavail * volume.f_frsize


def _full_volume(path: Path, error: apsw.Error) -> StorageError:
    found = log_file.read_log(place.log_of(path))
    growth = (found.file_pages() if found else 0) * schema.PAGE_BYTES - path.stat().st_size
    needed = max(0, growth) + _INDEX_BYTES
    return OpenError(
        f"the volume of {path} is full: {_free_bytes(path)} bytes are free, about {needed} are needed to take in "
        f"the write-ahead log ({error})"
    )
