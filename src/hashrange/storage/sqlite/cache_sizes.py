"""How much memory the embedded engine's caches may take, and which of them gets how much."""

import os
from pathlib import Path
from typing import NamedTuple

_MB = 1024 * 1024
_SHARE = 16  # of the machine's memory, if nobody says how much
_TOTAL_MIN = 64 * _MB
_TOTAL_MAX = 640 * _MB
_READER_MAX = 32 * _MB
_WRITER_MAX = 16 * _MB  # more than a commit changes, which would be written to the log twice
_CONTROL_GROUPS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),  # version 1
)


class CacheSizes(NamedTuple):
    """The caches of one process; they grow as they are used."""

    rows_bytes: int
    writer_kib: int
    reader_kib: int  # of each

    @classmethod
    def of(cls, total_bytes: int) -> "CacheSizes":
        """Shares of so many bytes: most of them for rows, which survive commits.

        SQLite drops all pages of a reader at its first look after a commit, one by one; and at the end of a commit that
        has balanced its tree it may walk over all pages that the writer has. Much of either would cost more than it
        saves. There are two readers most of the time: the event loop's, and one for a long read.
        """
        writer, reader = min(total_bytes // 8, _WRITER_MAX), min(total_bytes // 8, _READER_MAX)
        return cls(total_bytes - writer - 2 * reader, writer // 1024, reader // 1024)


DEFAULT = CacheSizes.of(128 * _MB)


def of_machine(memory_bytes: int, workers: int = 1) -> CacheSizes:
    """What each of some processes takes on a machine with so much memory, if nobody says how much."""
    return CacheSizes.of(min(_TOTAL_MAX, max(_TOTAL_MIN, memory_bytes // _SHARE)) // workers)


def machine_memory(limits: tuple[Path, ...] = _CONTROL_GROUPS) -> int:
    """The bytes of memory that this process may use: the machine's, or its container's where that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in limits:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdecimal():
            total = min(total, int(text))
    return total
