"""The one place where SQLite's errors become storage errors."""

import apsw

from hashrange.storage.errors import Corrupt, DiskFull, StorageError, Unavailable
from hashrange.storage.sqlite import page_faults

_CORRUPT = (apsw.CorruptError, apsw.NotADBError)
# What a page whose checksum is wrong raises, and one that the file is too short for.
_DAMAGE_CODES = frozenset({apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS})
_TRANSIENT = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.InterruptError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)


def is_fault(error: apsw.Error) -> bool:
    """Whether the fault is the disk's or the file's, and not the caller's."""
    return isinstance(error, _CORRUPT + _TRANSIENT)


def translate(error: Exception) -> StorageError:
    """Give the storage error for an error of SQLite; a storage error stays what it is.

    What was read or written is in the error's notes.
    """
    if isinstance(error, StorageError):
        return error
    text = f"{type(error).__name__}: {error}"
    has_wrong_page = getattr(error, "extendedresult", 0) in _DAMAGE_CODES
    if has_wrong_page or isinstance(error, _CORRUPT):
        # Of a wrong page all that SQLite says is "disk I/O error".
        what = (
            "a page has a wrong checksum or is missing"
            if has_wrong_page
            else "the structure of a page is wrong"
        )
        page = page_faults.take()
        damage = Corrupt(
            "; ".join(filter(None, (f"{what} ({text})", page, *getattr(error, "__notes__", ()))))
        )
        damage.page = page
        return damage
    if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        return DiskFull(text)
    if isinstance(error, _TRANSIENT):
        return Unavailable(text)
    return StorageError(text)
