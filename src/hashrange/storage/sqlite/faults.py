"""SQLite's errors in the storage layer's words; the one seam where they are translated."""

import apsw

from hashrange.storage.errors import Corrupt, StorageError, Unavailable

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
_PASSING = (
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
    """Whether the engine is in trouble, rather than the one who asked."""
    return isinstance(error, _DAMAGED + _PASSING)


def translate(error: Exception) -> StorageError:
    """Give the storage error that says what `error` means to a caller."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, _DAMAGED):
        return Corrupt(text)
    if isinstance(error, _PASSING):
        return Unavailable(text)
    return StorageError(text)
