"""Memory in pages of 2 MB: the processor finds its way to what a server keeps with fewer steps.

Rows, SQLite's pages and Python's objects lie in hundreds of megabytes of pages of 4 KB, more than a processor remembers
the places of, and on a virtual machine finding one takes several times as long. The kernel can put 512 of them together
(`MADV_COLLAPSE`, from Linux 6.1 on). It is asked for that on a thread beside the event loop and for memory that is in
use already, so that neither the loop waits for it nor is memory taken that nobody uses. Measured:
docs/design/055-huge-pages.md.
"""

import ctypes
import errno
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

UNIT_BYTES = 2 * 1024 * 1024
LOOK_SECONDS = 5.0
FAILURES_MAX = 16  # in a row: the kernel has no memory for more, and looks for it in vain each time
PAUSE_SECONDS = 0.01  # after each unit: while it is copied, who needs new memory waits
RESIDENT_MIN = 0.75  # the part of a unit that has to be in use, so that little memory is taken that is not

_ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_MAPS, _SIZES = Path("/proc/self/maps"), Path("/proc/self/statm")
_MADV_COLLAPSE = 25  # as mman.h numbers it
_HEAP = "[heap]"
_PATH = 5  # which column of a line of maps is the path
_RESIDENT = 1  # which number of statm


class Mapping(NamedTuple):
    """Memory that belongs to no file, and is written to."""

    start: int
    end: int

    def units(self) -> range:
        """The addresses of the units that lie in it whole."""
        return range(-(-self.start // UNIT_BYTES) * UNIT_BYTES, self.end - UNIT_BYTES + 1, UNIT_BYTES)


def mappings(lines: Iterable[str]) -> Iterator[Mapping]:
    """The heap and what is mapped without a file, from the lines of `/proc/self/maps`."""
    for line in lines:
        columns = line.split()
        is_anonymous = len(columns) == _PATH or columns[_PATH] == _HEAP
        if is_anonymous and columns[1] == "rw-p":
            start, _, end = columns[0].partition("-")
            yield Mapping(int(start, 16), int(end, 16))


class HugePages:
    """Collapses what has come into use, on a thread of its own."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self._libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._resident = ctypes.create_string_buffer(UNIT_BYTES // self._page_bytes)
        self._done: set[int] = set()  # units that were collapsed, or cannot be
        self._seen_pages = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hashrange-huge-pages", daemon=True)

    def start(self) -> None:
        """Start the thread, if the system has such pages and whoever runs it has not turned them off."""
        if is_enabled():
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                is_whole = not self._has_grown() or self.look()
            except OSError:  # too many files are open, perhaps
                is_whole = False
            if not is_whole:
                self._seen_pages = 0  # the next look tries again

    def _has_grown(self) -> bool:
        """Whether more memory is in use than at the last look, by a unit at least."""
        pages = int(_SIZES.read_text("ascii").split()[_RESIDENT])
        grown = pages - self._seen_pages
        if 0 <= grown < UNIT_BYTES // self._page_bytes:
            return False
        self._seen_pages = pages
        return True

    def look(self) -> bool:
        """Collapse every unit that is in use and was not collapsed yet; False if that was not possible for all."""
        with _MAPS.open(encoding="utf-8", errors="replace") as lines:
            units = [unit for mapping in mappings(lines) for unit in mapping.units()]
        self._done.intersection_update(units)
        is_whole, failures = True, 0
        for unit in units:
            if unit in self._done or not self._is_used(unit):
                continue
            if self._collapse(unit):
                failures = 0
            else:
                is_whole, failures = False, failures + 1
            if failures == FAILURES_MAX or self._stopping.wait(PAUSE_SECONDS):
                return False
        return is_whole

    def _is_used(self, unit: int) -> bool:
        """Whether most of a unit is in memory; what was unmapped meanwhile is not."""
        if self._libc.mincore(unit, UNIT_BYTES, self._resident):
            return False
        return sum(page & 1 for page in self._resident.raw) >= RESIDENT_MIN * len(self._resident)

    def _collapse(self, unit: int) -> bool:
        """Put the pages of a unit together; False if the system has no memory for that now."""
        failed = self._libc.madvise(unit, UNIT_BYTES, _MADV_COLLAPSE)
        if failed and ctypes.get_errno() != errno.EINVAL:  # which an older kernel says of every unit
            return False
        self._done.add(unit)
        return True


def is_enabled(enabled: Path = _ENABLED) -> bool:
    """Whether the system has huge pages, and gives them to who asks for them."""
    try:
        return "[never]" not in enabled.read_text("ascii")
    except OSError:
        return False
