"""Syncs of the log and large commits beside the event loop: a compiled helper makes them, without Python's lock.

Without it the loop's own commits have SQLite wait for the disk, and with it everybody who does not need the disk. Why
what is not synced yet is seen by nobody: docs/design/054-background-sync.md.
"""

import contextlib
import ctypes
import os
from types import ModuleType
from typing import Any, NamedTuple

import apsw

from hashrange.storage.checksums import native_crc32
from hashrange.storage.sqlite import extension, large_values

helper: ModuleType | None
try:
    from hashrange.storage.sqlite import _background_sync

    helper = _background_sync
except ImportError:
    helper = None

_ENTRY = "hashrange_sync_init"
_COMMIT, _SYNC = 2, 3  # stages of a commit: its rows are stored, it is made, it is synced

_WAKEUPS_MAX = 64  # bytes that are read from the pipe at once; each says the same


Rows = tuple[tuple[bytes, bytes], ...]
"""Keys and values, which the helper gives their checksums."""


class Ended(NamedTuple):
    """How the last sync ended, and the commit that came before it if that was the helper's, too."""

    stage: int  # that it came to
    code: int  # SQLite's result of that; zero if all is on disk
    seconds: float  # that the sync took
    log_pages: int  # after a commit of the helper's; negative if it has changed nothing

    @property
    def is_undone(self) -> bool:
        """Whether there is no commit: what was stored of it is to be rolled back."""
        return self.stage < _SYNC

    @property
    def is_doubtful(self) -> bool:
        """Whether it was the commit itself that failed, not what came before."""
        return self.stage == _COMMIT


class BackgroundSync:
    """Syncs the log of one connection, one sync at a time; they are numbered."""

    def __init__(self, native: Any, connection: apsw.Connection) -> None:
        """Use `start`."""
        self._native = native
        self._connection = connection
        self._address = ctypes.c_void_p()
        self.wakeups, self._told = os.pipe()  # from the first one something can be read after every sync
        os.set_blocking(self.wakeups, False)
        os.set_blocking(self._told, False)
        self._syncer = native.start(self._told)
        self._last = 0
        crc32 = native_crc32()
        self.stores = crc32 is not None and extension.load(connection, native, _ENTRY)  # it can make commits
        if self.stores:
            native.prepare(self._syncer, connection.sqlite3_pointer(), large_values.PUT_SMALL, crc32)

    @classmethod
    def start(cls, connection: apsw.Connection) -> "BackgroundSync | None":
        """Start the thread; None where the helper was not built."""
        return None if helper is None else cls(helper, connection)

    def next_number(self) -> int:
        """The number of the sync that is begun, or skipped, next."""
        return self._last + 1

    def begin(self, rows: Rows | None = None) -> None:
        """Begin to sync the log, after storing rows and committing if there are some.

        Nobody may use the connection until that is over.
        """
        file = ctypes.addressof(self._address)
        self._connection.file_control("main", apsw.SQLITE_FCNTL_JOURNAL_POINTER, file)
        self._last = self._native.begin(self._syncer, self._address.value or 0, rows)

    def skip(self) -> None:
        """There is nothing to sync after all: whoever waits for it need not."""
        self._last += 1
        self._native.skip(self._syncer)

    def is_over(self) -> bool:
        """Whether the last sync is over."""
        return bool(self._native.over(self._syncer) >= self._last)

    def wait(self, number: int) -> Ended:
        """Wait for a sync; tells how the last one ended."""
        return Ended(*self._native.wait(self._syncer, number))

    def wake_loop(self) -> None:
        """Write to the pipe, as the end of a sync does."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._told, b"\0")

    def take_wakeups(self) -> None:
        """Read what the pipe has."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wakeups, _WAKEUPS_MAX)

    def close(self) -> None:
        """End the thread."""
        self._native.close(self._syncer)
        os.close(self.wakeups)
        os.close(self._told)
