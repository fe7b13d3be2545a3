"""Checksums of pages: SQLite's own extension `cksumvfs`, which comes with APSW.

It keeps a checksum in the last eight bytes of every page and compares it whenever a page is read from the file or from
the log. So damage shows as an error, and not as a key that is not found. A file has such checksums or not from its
creation on; one that has them must never be written without the extension.
"""

import ctypes
from pathlib import Path

import apsw
import apsw.sqlite_extra

from hashrange import logs
from hashrange.storage.errors import OpenError
from hashrange.storage.sqlite import page_faults

RESERVED_BYTES = 8
RESERVED_AT = 20  # where a file's first page says how many bytes of every page are reserved

log = logs.Log("storage.sqlite")


def _load() -> None:
    """Load the extension for all connections of the process to come, unless this APSW was built without it."""
    page_faults.listen()
    connection = apsw.Connection(":memory:")
    try:
        apsw.sqlite_extra.load(connection, "cksumvfs")
    except (LookupError, apsw.sqlite_extra.NotAvailable, apsw.Error) as error:
        log.warning("page_checksums.missing", reason=str(error))
    finally:
        connection.close(True)


# It builds on what is SQLite's default at this moment, for good: nothing else may have come in between.
_load()


def switch_on(connection: apsw.Connection) -> None:
    """Have a new file keep checksums, if the extension is there."""
    if _verification(connection) is not None:
        reserved = ctypes.c_int(RESERVED_BYTES)
        connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(reserved))


def are_checked(connection: apsw.Connection) -> bool:
    """Whether this connection compares the checksums of the pages that it reads."""
    return _verification(connection) == "1"


def check_kept(connection: apsw.Connection, file: Path) -> None:
    """Raise if a file has checksums and this connection would not keep them."""
    with file.open("rb") as stream:
        has_checksums = stream.read(RESERVED_AT + 1)[RESERVED_AT:] == bytes([RESERVED_BYTES])
    if has_checksums and _verification(connection) is None:
        message = f"{file} has page checksums, and this APSW has no cksumvfs: install APSW from its wheels"
        raise OpenError(message)


def reserved_bytes(connection: apsw.Connection) -> int:
    """How many bytes of every page are kept free of rows, for a checksum or a tag."""
    reserved = ctypes.c_int(-1)  # which asks, and changes nothing
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(reserved))
    return reserved.value


def _verification(connection: apsw.Connection) -> object:
    return connection.execute("PRAGMA checksum_verification").get
