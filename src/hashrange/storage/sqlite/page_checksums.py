"""Checksums of pages: SQLite's own extension `cksumvfs`, which comes with APSW.

It keeps a checksum in the last eight bytes of every page and compares it whenever a page is read from the file or from
the log. So damage shows as an error, and not as a key that is not found. A file has such checksums or not from its
creation on; one that has them must never be written without the extension.
"""

import ctypes
from functools import cache

import apsw
import apsw.sqlite_extra

from hashrange import logs

RESERVED_BYTES = 8
RESERVED_AT = 20  # where a file's first page says how many bytes of every page are reserved

log = logs.Log("storage.sqlite")


@cache
def load() -> bool:
    """Load the extension for all connections of the process to come; False if this APSW was built without it."""
    connection = apsw.Connection(":memory:")
    try:
        apsw.sqlite_extra.load(connection, "cksumvfs")
    except (LookupError, apsw.sqlite_extra.NotAvailable, apsw.Error) as error:
        log.warning("page_checksums.missing", reason=str(error))
        return False
    finally:
        connection.close(True)
    return True


def switch_on(connection: apsw.Connection) -> None:
    """Have a new file keep checksums, if the extension is there."""
    if load():
        reserved = ctypes.c_int(RESERVED_BYTES)
        connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(reserved))


def are_checked(connection: apsw.Connection) -> bool:
    """Whether this connection compares the checksums of the pages that it reads."""
    answer: object = connection.execute("PRAGMA checksum_verification").get
    return answer == "1"
