"""Fewer system calls for a commit: the frames that it appends to the write-ahead log are written together.

A compiled helper (`_log_writes.c`) takes the place of some of SQLite's system calls, for the whole process. Where it
was not built SQLite writes as ever. Measured, and why nothing is on disk later: docs/design/053-log-writes.md.
"""

import sys
import threading
from typing import Protocol

import apsw

Addresses = tuple[int, int, int, int, int]


class Helper(Protocol):
    """The compiled one."""

    def __call__(
        self, open_: int, close: int, control: int, read: int, write: int, /
    ) -> Addresses: ...  # of those to call instead


helper: Helper | None
try:
    from hashrange.storage.sqlite._log_writes import replacements as helper
except ImportError:
    helper = None

_VFS = "unix"
_CALLS = ("open", "close", "fcntl", "pread64", "pwrite64")
_lock = threading.Lock()
_installed: list[Addresses] = []


def install() -> bool:
    """Have SQLite call the helper, once; gives whether it does."""
    with _lock:
        if not _installed and helper is not None and sys.platform == "linux":
            vfs = apsw.VFS("hashrange-log-writes", _VFS)
            try:
                _install(vfs, helper)
            finally:
                vfs.unregister()
        return bool(_installed)


def _install(vfs: apsw.VFS, replacements: Helper) -> None:
    calls = [vfs.xGetSystemCall(name) for name in _CALLS]
    addresses = [call for call in calls if call]
    if len(addresses) < len(_CALLS):
        return  # this SQLite reads and writes by other calls
    open_, close, control, read, write = addresses
    mine = replacements(open_, close, control, read, write)
    # Opening comes last: until it is replaced no file counts as a log.
    for name, address in reversed(tuple(zip(_CALLS, mine, strict=True))):
        vfs.xSetSystemCall(name, address)
    _installed.append(mine)
