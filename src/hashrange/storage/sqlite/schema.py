"""The file's tables and settings, and how a connection to it is opened."""

from pathlib import Path
from typing import Any

import apsw

from hashrange.storage.errors import Corrupt, NotWritable, StorageError
from hashrange.storage.formats import FORMAT_VERSION, check_version
from hashrange.storage.sqlite import page_checksums
from hashrange.storage.sqlite.faults import translate

APPLICATION_ID = 0x48524E47  # "HRNG", so that file(1) and we can tell whose database it is

PAGE_BYTES = 8192
BUSY_TIMEOUT_MS = 10_000
STATEMENT_CACHE_SIZE = 32

# WITHOUT ROWID keeps a row in one B-tree, so neighbouring keys share pages: a Query reads what it returns.
_TABLES = """
CREATE TABLE rows(k BLOB PRIMARY KEY, v BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE counters(k BLOB PRIMARY KEY, n INTEGER NOT NULL, complement INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""


def data_file(directory: Path) -> Path:
    """Give the path of the database file in a data directory."""
    return directory / "hashrange.db"


def open_file(path: Path, *, cache_kib: int) -> apsw.Connection:
    """Open a data file or create it; give the connection for writing."""
    try:
        connection = connect(str(path), cache_kib=cache_kib)
    except apsw.Error as error:
        raise _opening_fault(error, str(path)) from error
    try:
        prepare(connection, str(path))
    except BaseException:
        connection.close(True)
        raise
    return connection


def connect(path: str, *, cache_kib: int) -> apsw.Connection:
    """Open a connection with the settings every connection shares."""
    connection = apsw.Connection(path, statementcachesize=STATEMENT_CACHE_SIZE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Without this SQLite plans by the value bound to a LIMIT, and prepares the statement again whenever it changes.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    pragma(connection, "cache_size", -cache_kib)
    # Mapped pages count as the process's memory, without a bound.
    pragma(connection, "mmap_size", 0)
    pragma(connection, "synchronous", "FULL")
    pragma(connection, "wal_autocheckpoint", 0)
    return connection


def prepare(connection: apsw.Connection, name: str) -> None:
    """Create the tables in a new file; check that an existing one is ours and of this format."""
    try:
        empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
        if not empty:
            _check(connection, name)
        else:
            page_checksums.switch_on(connection)
        pragma(connection, "page_size", PAGE_BYTES)
        pragma(connection, "auto_vacuum", "INCREMENTAL")
        if pragma(connection, "journal_mode", "WAL") not in ("wal", "memory"):
            raise NotWritable(f"the file system of {name} cannot hold a write-ahead log")
        if empty:
            _create(connection)
    except apsw.Error as error:
        raise _opening_fault(error, name) from error


def _opening_fault(error: apsw.Error, name: str) -> StorageError:
    """Give the storage error for an error while opening."""
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError):
        return NotWritable(f"cannot write data file {name}: {error}")
    if isinstance(error, apsw.NotADBError | apsw.CorruptError | apsw.SQLError):
        return Corrupt(f"data file {name} is damaged: {error}")
    return translate(error)


def pragma(connection: apsw.Connection, name: str, value: int | str) -> Any:
    """Set a pragma and give its answer; some take effect only when the answer is read."""
    return connection.execute(f"PRAGMA {name} = {value}").get


def _create(connection: apsw.Connection) -> None:
    with connection:
        pragma(connection, "application_id", APPLICATION_ID)
        connection.execute(_TABLES).fetchall()
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT_VERSION),))


def _check(connection: apsw.Connection, name: str) -> None:
    if connection.execute("PRAGMA application_id").get != APPLICATION_ID:
        raise Corrupt(f"{name} is a SQLite file, but not one of Hashrange's")
    version = connection.execute("SELECT value FROM meta WHERE name = 'format'").get
    check_version(version, f"data file {name}")
