"""The file's tables and settings, and how a connection to it is opened."""

import os
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from hashrange.storage.errors import Corrupt, NotWritable, StorageError
from hashrange.storage.formats import FORMAT_VERSION, check_version
from hashrange.storage.sqlite import large_values, page_checksums, page_encryption, page_faults
from hashrange.storage.sqlite.faults import translate

APPLICATION_ID = 0x48524E47  # "HRNG", so that file(1) and we can tell whose database it is

PAGE_BYTES = page_faults.PAGE_BYTES
BUSY_TIMEOUT_MS = 10_000
STATEMENT_CACHE_SIZE = 32
CREATION_CACHE_KIB = 256
LOG_FILE_BYTES = 256 * 1024 * 1024
GENERATION_MAX = 2**31

# WITHOUT ROWID keeps a row in one B-tree, so neighbouring keys share pages: a Query reads what it returns. A value is
# a blob, or the number of a large value.
_TABLES = f"""
CREATE TABLE rows(k BLOB PRIMARY KEY, v ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE counters(k BLOB PRIMARY KEY, n INTEGER NOT NULL, complement INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
{large_values.TABLE}
"""


def data_file(directory: Path) -> Path:
    """Give the path of the database file in a data directory."""
    return directory / "hashrange.db"


def connect(path: str, *, cache_kib: int, create: bool = False) -> apsw.Connection:
    """Open a connection for reading and writing with the settings every connection shares."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return _connect(path, path, flags, cache_kib)


def connect_read_only(path: str, parameter: str, *, cache_kib: int) -> apsw.Connection:
    """Open a connection that changes no file; the parameter of https://sqlite.org/uri.html says how it does without."""
    uri = f"file:{quote(os.fsencode(path))}?{parameter}"
    return _connect(path, uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, cache_kib)


def _connect(path: str, name: str, flags: int, cache_kib: int) -> apsw.Connection:
    # No two threads use a connection at a time: the engine has locks for that. SQLite would take one of its own for
    # every step of a statement and every column of a row, which was an eighth of a Query of 100 items.
    flags |= apsw.SQLITE_OPEN_NOMUTEX
    connection = page_encryption.connect(path, name, flags, STATEMENT_CACHE_SIZE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Without this SQLite plans by the value bound to a LIMIT, and prepares the statement again whenever it changes.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    pragma(connection, "cache_size", -cache_kib)
    # Mapped pages count as the process's memory, without a bound.
    pragma(connection, "mmap_size", 0)
    pragma(connection, "synchronous", "FULL")
    pragma(connection, "wal_autocheckpoint", 0)
    # A log that was longer once, because something kept it from starting over, becomes short again.
    pragma(connection, "journal_size_limit", LOG_FILE_BYTES)
    return connection


def prepare(connection: apsw.Connection, name: str, *, create: bool = False) -> None:
    """Check that a file is ours and of this format; or create the tables in a new one."""
    try:
        if not create:
            _check(connection, name)
            return
        page_checksums.switch_on(connection)
        pragma(connection, "page_size", PAGE_BYTES)
        pragma(connection, "auto_vacuum", "INCREMENTAL")
        if pragma(connection, "journal_mode", "WAL") not in ("wal", "memory"):
            raise NotWritable(f"the file system of {name} cannot hold a write-ahead log")
        _create(connection)
    except apsw.Error as error:
        raise opening_fault(error, name) from error


def opening_fault(error: apsw.Error, name: str, *, reading: bool = False) -> StorageError:
    """Give the storage error for an error while opening, with the file it is about and what can be done."""
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError):
        return NotWritable(f"cannot {'read' if reading else 'write'} data file {name}: {error}")
    if isinstance(error, apsw.NotADBError):
        return Corrupt(
            f"data file {name} is not a SQLite database, or its header is damaged. Restore a backup"
        )
    fault = translate(error)
    if not isinstance(error, apsw.SQLError) and not isinstance(fault, Corrupt):
        return type(fault)(f"cannot open data file {name}: {fault}")
    advice = "" if reading else f"; `hashrange verify {Path(name).parent}` says what is damaged"
    return Corrupt(f"data file {name} is damaged: {fault}. Restore a backup{advice}")


def pragma(connection: apsw.Connection, name: str, value: int | str) -> Any:
    """Set a pragma and give its answer; some take effect only when the answer is read."""
    return connection.execute(f"PRAGMA {name} = {value}").get


def _create(connection: apsw.Connection) -> None:
    with connection:
        pragma(connection, "application_id", APPLICATION_ID)
        # The number of the log's round, which the first commit of every round raises; opening.py compares them.
        pragma(connection, "user_version", random.randrange(1, GENERATION_MAX // 2))  # noqa: S311 - no secret
        connection.execute(_TABLES).fetchall()
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT_VERSION),))
        # With another number in its header the file would be read without looking at the checksums of its pages.
        reserved = page_checksums.reserved_bytes(connection)
        connection.execute("INSERT INTO meta VALUES ('reserved', ?)", (str(reserved),))


def _check(connection: apsw.Connection, name: str) -> None:
    if connection.execute("PRAGMA application_id").get != APPLICATION_ID:
        raise Corrupt(f"{name} is a SQLite file, but not one of Hashrange's")
    version = connection.execute("SELECT value FROM meta WHERE name = 'format'").get
    check_version(version, f"data file {name}")
    reserved = connection.execute("SELECT value FROM meta WHERE name = 'reserved'").get
    if reserved != str(page_checksums.reserved_bytes(connection)):
        raise Corrupt(f"the header of data file {name} is damaged. Restore a backup")
