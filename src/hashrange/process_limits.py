"""What a server asks of the operating system and of the allocator for the whole process."""

import contextlib
import ctypes
import resource

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # as malloc.h numbers them
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


def allow_many_connections() -> None:
    """Raise the limit of open files to what the operating system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
