"""Syncs of the log beside the event loop: a compiled helper waits for the disk on a thread without Python's lock.

Without it the loop's own commits have SQLite wait for the disk, and with it everybody who does not need the disk. Why
what is not synced yet is seen by nobody: docs/design/054-background-sync.md.
"""

import contextlib
import ctypes
import os
from types import ModuleType
from typing import Any

import apsw

helper: ModuleType | None
try:
    from hashrange.storage.sqlite import _background_sync

    helper = _background_sync
except ImportError:
    helper = None

_WAKEUPS_MAX = 64  # bytes that are read from the pipe at once; each says the same


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

    @classmethod
    def start(cls, connection: apsw.Connection) -> "BackgroundSync | None":
        """Start the thread; None where the helper was not built."""
        return None if helper is None else cls(helper, connection)

    def next_number(self) -> int:
        """The number of the sync that is begun, or skipped, next."""
        return self._last + 1

    def begin(self) -> None:
        """Begin to sync the log; nobody may use the connection until that is over."""
        file = ctypes.addressof(self._address)
        self._connection.file_control("main", apsw.SQLITE_FCNTL_JOURNAL_POINTER, file)
        self._last = self._native.begin(self._syncer, self._address.value or 0)

    def skip(self) -> None:
        """There is nothing to sync after all: whoever waits for it need not."""
        self._last += 1
        self._native.skip(self._syncer)

    def is_over(self) -> bool:
        """Whether the last sync is over."""
        return bool(self._native.over(self._syncer) >= self._last)

    def wait(self, number: int) -> tuple[int, float]:
        """Wait for a sync; gives what SQLite said of the last one, zero if all is on disk, and how long it took."""
        code, seconds = self._native.wait(self._syncer, number)
        return code, seconds

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
