"""The errors that every engine raises."""

from hashrange.core.schema import KeyState
from hashrange.kms.table_key import SealedKey
from hashrange.storage import layout


class StorageError(Exception):
    """Base of all errors that engines raise."""


class Conflict(StorageError):
    """The step kept conflicting with concurrent ones: nothing was written, and a retry may succeed."""


class ReadTimeout(StorageError):
    """A read has used up its time: run it again on a thread where nobody waits for it."""


class Unavailable(StorageError):
    """The engine cannot do it now (disk full, I/O error, connection lost, closed).

    For a write the outcome is unknown, but it is all or nothing: after a restart the step's writes
    are either all there or all missing. The engine keeps working once the fault is gone.
    """


class DiskFull(Unavailable):
    """There is no space left: nothing was written."""


class Closed(Unavailable):
    """The engine was closed before it got to the step: nothing was written."""


class Corrupt(StorageError):
    """The stored bytes are damaged or are not Hashrange's."""

    page = ""  # which one it is, if that is known: many rows are on it


class DamagedRow(Corrupt):
    """A row's checksum does not fit its key and value; only this row is affected."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return f"wrong checksum: {layout.describe(self.key)}"


class KeyUnusable(StorageError):
    """The key of the key service that rows are encrypted under cannot be used, for instance because it is disabled."""

    def __init__(self, key_arn: str, state: KeyState) -> None:
        super().__init__(key_arn, state)
        self.key_arn = key_arn
        self.state: KeyState = state

    def __str__(self) -> str:
        return f"the key {self.key_arn} cannot be used: it is {self.state}"


class KeyNeeded(KeyUnusable):
    """Another key service has to open the key of a table first, which nobody has asked it for."""

    def __init__(self, sealed: SealedKey) -> None:
        super().__init__(sealed.key_arn, "unreachable")
        self.sealed = sealed


class NotChecked(StorageError):
    """A verification could not look at something; the message says at what, and why."""


class Replaced(StorageError):
    """The data is not what this server has opened any more: it has gone back in time, or is other data altogether."""


class OpenError(StorageError):
    """The engine cannot be opened; the message is meant for the person at the terminal."""


class Locked(OpenError):
    """Another server has the data directory open."""


class NotWritable(OpenError):
    """The data directory cannot be created, read or written."""


class FormatTooOld(OpenError):
    """The data was written by an older Hashrange than this one; before 1.0 formats change without a bridge."""


class FormatTooNew(OpenError):
    """The data was written by a newer Hashrange than this one."""
