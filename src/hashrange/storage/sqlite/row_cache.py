"""A cache of rows that were read or written lately, as of the last commit.

Finding a row in the tree costs some three microseconds: a statement is run, pages are looked up, a checksum is
compared. That is more than half of what else an engine does for a GetItem. Rows that are asked for again are therefore
kept as readers get them. The reasons, and why no read can see a mixture of two commits: docs/design/052-row-cache.md.
"""

import threading
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from hashrange.storage import layout
from hashrange.storage.sqlite.cache_sizes import DEFAULT

ROW_BYTES_MAX = (
    8 * 1024
)  # larger ones would push out many others, and finding them is a small part of their cost
_OVERHEAD_BYTES = 150  # of two bytes objects and their place in a dictionary
# Items and index entries, and the stamps of tables, which every write looks at. Hardly anything else is read twice.
_CACHED = (layout.ROWS, layout.TABLE_VERSION)
_RANGES = tuple((first, bytes([first[0] + 1])) for first in _CACHED)

_DRAINED = 4  # forgotten rows that are given back for each new one

Row = tuple[bytes, bytes]


def may_have(start: bytes, end: bytes) -> bool:
    """Whether rows of this range are cached at all."""
    return any(start < last and first < end for first, last in _RANGES)


class RowCache:
    """Two generations of rows: when the younger one is full it becomes the older one, which is forgotten.

    What is in it holds for one version, that of the last commit. A commit withdraws the version before it begins, so
    that whoever has found rows here can tell afterwards whether they all were of one moment: if the version is still
    the one that its reading began with.

    To give the memory of a whole generation back takes tens of milliseconds. So that is done little by little, for
    every row that is added.
    """

    __slots__ = (
        "_bytes",
        "_bytes_max",
        "_current_version",
        "_forgotten",
        "_lock",
        "older",
        "recent",
        "version",
    )

    def __init__(self, current_version: Callable[[], object], bytes_max: int = DEFAULT.rows_bytes) -> None:
        """Keep about so many bytes; `current_version` differs after every commit."""
        self._current_version = current_version
        self._bytes_max = bytes_max // 2  # of one generation
        self._bytes = 0
        self._forgotten: list[dict[bytes, bytes]] = []
        self._lock = threading.Lock()
        self.recent: dict[bytes, bytes] = {}
        self.older: dict[bytes, bytes] = {}
        self.version: object = current_version()  # None: a commit is under way

    def find(self, key: bytes) -> bytes | None:
        """The value of a row; None: it is not here."""
        value = self.recent.get(key)
        return self.older.get(key) if value is None else value

    def keep(self, rows: Iterable[Row], version: object) -> None:
        """Add rows that were read, unless there was a commit since this version."""
        with self._lock:
            if self.version == version:
                for key, value in rows:
                    if len(value) <= ROW_BYTES_MAX and key.startswith(_CACHED):
                        self._put(key, value)

    def begin_commit(self) -> None:
        """Have readers notice that what they find may not be of one moment."""
        with self._lock:
            self.version = None

    def end_commit(self, changes: dict[bytes, bytes | None], overwritten: AbstractSet[bytes]) -> None:
        """Take over what a commit has written, as far as those rows are here or were `overwritten`."""
        with self._lock:
            # Most rows that are written are not here. They are left out without a look at one after the other.
            written = changes.keys()
            here = (written & self.recent.keys()) | (written & self.older.keys())
            here.update(key for key in written & overwritten if key.startswith(_CACHED))
            for key in here:
                value = changes[key]
                self.older.pop(key, None)
                if value is None or len(value) > ROW_BYTES_MAX:
                    self._drop(key)
                else:
                    self._put(key, value)
            self.version = self._current_version()

    def fail_commit(self) -> None:
        """Forget all rows after a commit of which nobody knows what it did."""
        self.wipe()
        self.version = self._current_version()

    def wipe(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._forgotten += (self.recent, self.older)
            self.recent, self.older = {}, {}
            self._bytes = 0

    def _put(self, key: bytes, value: bytes) -> None:
        before = self.recent.get(key)
        self.recent[key] = value
        self._bytes += len(value)
        self._bytes += len(key) + _OVERHEAD_BYTES if before is None else -len(before)
        if self._bytes > self._bytes_max:
            self._forgotten.append(self.older)
            self.recent, self.older = {}, self.recent
            self._bytes = 0
        if self._forgotten:
            self._drain(self._forgotten)

    def _drop(self, key: bytes) -> None:
        before = self.recent.pop(key, None)
        if before is not None:
            self._bytes -= len(before) + len(key) + _OVERHEAD_BYTES

    @staticmethod
    def _drain(forgotten: list[dict[bytes, bytes]]) -> None:
        rows = forgotten[-1]
        for _ in range(min(_DRAINED, len(rows))):
            rows.popitem()
        if not rows:
            forgotten.pop()
