"""What a server asks of the operating system and of the allocator for the whole process."""

import contextlib
import ctypes
import os
import resource
from collections.abc import Iterator

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # as malloc.h numbers them
_UMASK = 0o077
_PR_SET_DUMPABLE = 4  # as prctl.h numbers it
_KEPT_BYTES = 16 * 1024 * 1024


def keep_freed_memory() -> None:
    """Have the allocator keep what large answers took: given back, it is cleared page by page for the next one.

    All threads share one arena. Otherwise each keeps what its costliest request took, and no other can use it.
    """
    with contextlib.suppress(OSError, AttributeError):  # only glibc has this
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        allocator.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        allocator.mallopt(_M_ARENA_MAX, 1)


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Have what this process creates belong to its user alone: files get mode 0600, directories 0700."""
    before = os.umask(_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def leave_no_core_dump() -> None:
    """Have no key or secret of this process written down when it crashes, nor read by others of the same user."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):  # only Linux has this; a core that is piped needs it
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def allow_many_connections() -> None:
    """Raise the limit of open files to what the operating system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
