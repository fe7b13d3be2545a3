"""The one place where SQLite's errors become storage errors."""

import apsw

from hashrange.storage.errors import Corrupt, StorageError, Unavailable

_CORRUPT = (apsw.CorruptError, apsw.NotADBError)
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
    """Give the storage error for an error of SQLite."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, _CORRUPT):
        return Corrupt(text)
    if isinstance(error, _TRANSIENT):
        return Unavailable(text)
    return StorageError(text)
