"""PostgreSQL's errors in the storage layer's words; the one seam where they are translated."""

from psycopg import pq
from psycopg.pq.abc import PGresult

from hashrange.storage.errors import Conflict, Corrupt, StorageError, Unavailable

SERIALIZATION_FAILURE = "40001"
# Also deadlock, lock timeout; and a key inserted by someone else that was missing before.
_CONFLICTS = frozenset({SERIALIZATION_FAILURE, "40P01", "55P03", "23505"})
# The session ends: read-only since a failover, shut down by the administrator, idle for too long.
_ENDINGS = frozenset({"25006", "25P03", "25P04", "57P01", "57P02", "57P03", "57P04", "57P05"})
_PASSING_CLASSES = frozenset({"08", "53", "55", "57", "58"})
_DAMAGED = frozenset({"XX001", "XX002", "42P01", "42703", "3F000"})


class Broken(Exception):
    """The connection is gone: whatever was under way on it may or may not have happened."""


class TimedOut(Broken):
    """There was no answer in time."""


class Refused(Exception):
    """The server says no to a statement; its transaction is rolled back."""

    def __init__(self, code: str, message: str, at: int = 0) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.at = at  # which statement of its pipeline

    @property
    def is_conflict(self) -> bool:
        """Whether the same transaction may go through when it is tried again."""
        return self.code in _CONFLICTS

    @property
    def ends_session(self) -> bool:
        """Whether the connection is of no more use, though the server still answered."""
        return self.code in _ENDINGS


def refused(result: PGresult, at: int) -> Refused:
    """Give the refusal that a result stands for."""
    code = result.error_field(pq.DiagnosticField.SQLSTATE) or b"XX000"
    message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b""
    return Refused(code.decode(), message.decode("utf-8", "replace"), at)


def translate(error: Exception) -> StorageError:
    """Give the storage error that says what `error` means to a caller."""
    if isinstance(error, StorageError):
        return error
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, Broken):
        return Unavailable(text)
    if isinstance(error, Refused):
        if error.is_conflict:
            return Conflict(text)
        if error.code in _DAMAGED:
            return Corrupt(text)
        if error.ends_session or error.code[:2] in _PASSING_CLASSES:
            return Unavailable(text)
    return StorageError(text)
