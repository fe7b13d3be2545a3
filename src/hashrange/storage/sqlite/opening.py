"""Opening a data file: created whole or not at all, and refused if it or its log has lost something."""

import contextlib
import os
from pathlib import Path

import apsw

from hashrange import logs
from hashrange.storage.errors import Corrupt, NotWritable, OpenError, StorageError, Unavailable
from hashrange.storage.sqlite import log_file, page_checksums, schema
from hashrange.storage.sqlite.log_file import LogFile
from hashrange.storage.sqlite.reserve import Reserve

log = logs.Log("storage.sqlite")

_MAGIC = b"SQLite format 3\0"
_PAGE_BYTES = slice(16, 18)  # in the header of a data file
_PAGE_COUNT = slice(28, 32)
_USER_VERSION = slice(60, 64)
_INDEX_BYTES = 1024 * 1024  # more than the index of a log takes
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def open_file(path: Path, *, cache_kib: int, is_first: bool = True) -> apsw.Connection:
    """Open a data file or create it; give the connection for writing.

    The first to open it looks at what is there: later on the log may change at any moment.
    """
    if is_first:
        _look_at_files(path)
    try:
        return _open(path, cache_kib, is_first=is_first)
    except Unavailable:
        # Room for the log's index is all that is missing, perhaps.
        if not is_first or _free_bytes(path) > _INDEX_BYTES or log_file.read_log(_log_of(path)) is None:
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
            check_log(connection, path)
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
        log_bytes = _log_of(path).stat().st_size if _log_of(path).exists() else 0
        if not path.exists():
            if log_bytes:
                raise Corrupt(
                    f"data file {path} is missing, but its write-ahead log is there with {log_bytes} bytes of the "
                    "last writes: put the file back beside it, or move the log away to start empty"
                )
            _create(path)
        elif path.stat().st_size == 0:
            raise Corrupt(
                f"data file {path} is empty: everything in it is lost. Restore it, or delete it to start empty"
            )
        elif not log_bytes:
            _check_length(path, None, 0)
    except OSError as error:
        raise NotWritable(f"cannot use data file {path}: {error.strerror}") from error


def _create(path: Path) -> None:
    """Create the file under another name first: a file under its own name is whole."""
    new = path.with_name(path.name + ".new")
    _remove(new)
    try:
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


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def check_log(connection: apsw.Connection, path: Path) -> None:
    """Refuse a log that lost commits or is another file's, and a file that lost pages which the log does not have."""
    found = log_file.read_log(_log_of(path))
    readable = 0
    # Nothing may be changed before it is clear that nothing is lost, not even when the connection is closed.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    if found is not None:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        readable = max(0, connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0])
        _check_frames(path, found, readable)
        _check_generation(path, found, readable)
    _check_length(path, found, readable)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _check_frames(path: Path, found: LogFile, readable: int) -> None:
    lost = found.lost_commits(readable)
    if lost or (found.frames and not found.is_header_whole):
        count = f"at least {lost}" if lost else "an unknown number of"
        raise Corrupt(
            f"the write-ahead log of {path} is damaged behind frame {readable}: {count} acknowledged commits "
            f"cannot be read any more. Restore a backup; or, to go on without them, keep a copy of both files and "
            f"run: truncate -s {found.bytes_of(readable) if readable else 0} {_log_of(path)}"
        )
    if any(frame.file_pages and frame.number > readable for frame in found.frames):
        log.warning("log.last_commit_unreadable", reason="not finished when the server stopped, or damaged")


def _check_generation(path: Path, found: LogFile, readable: int) -> None:
    versions = log_file.user_versions(_log_of(path), found, readable)
    stored = int.from_bytes(_header(path)[_USER_VERSION], "big")
    if versions and not versions[0] - 1 <= stored <= versions[-1]:
        raise Corrupt(
            f"the write-ahead log beside {path} does not belong to it: the file was replaced, or restored without "
            "its log. Put the right one there, or move the log away to start without it"
        )


def _check_length(path: Path, found: LogFile | None, readable: int) -> None:
    header = _header(path)
    page_bytes = int.from_bytes(header[_PAGE_BYTES], "big")
    if not header.startswith(_MAGIC) or page_bytes not in log_file.PAGE_BYTES:
        return  # whatever it is, it is refused for that
    pages, there = int.from_bytes(header[_PAGE_COUNT], "big"), path.stat().st_size // page_bytes
    if there >= pages:
        return
    in_log = {frame.page for frame in found.frames if frame.number <= readable} if found else set()
    lost = set(range(there + 1, pages + 1)) - in_log
    if lost:
        raise Corrupt(
            f"data file {path} is cut off: of {pages} pages {there} are there, and {len(lost)} are lost. "
            "Restore a backup"
        )


def _header(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(100)


def _take_in_log(path: Path) -> None:
    """Copy the log into the file without the index file that readers share, for which there may be no room."""
    try:
        connection = apsw.Connection(str(path))
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
    found = log_file.read_log(_log_of(path))
    growth = (found.file_pages() if found else 0) * schema.PAGE_BYTES - path.stat().st_size
    needed = max(0, growth) + _INDEX_BYTES
    return OpenError(
        f"the volume of {path} is full: {_free_bytes(path)} bytes are free, about {needed} are needed to take in "
        f"the write-ahead log ({error})"
    )
