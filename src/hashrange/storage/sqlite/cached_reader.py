"""A reader that finds rows in the cache, and lends a snapshot only for what is not there.

Most reads of an event loop are of one row. One that the cache has needs neither a connection nor a snapshot.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from hashrange.storage.engine import JoinRows, PackRows
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.row_cache import Row, RowCache


class Lender(Protocol):
    """Has readers with snapshots."""

    def lend(self, commit_version: object, seconds: float) -> SnapshotReader:
        """A reader that nobody else uses, for a step with this timeout that sees everything up to this version."""


class CachedReader:
    """The engine's `Reader` for one step that began with the version that the cache holds for."""

    __slots__ = ("_cache", "_found", "_lender", "_misses", "_seconds", "_version", "behind")

    def __init__(self, cache: RowCache, version: object, lender: Lender, seconds: float) -> None:
        self._cache = cache
        self._version = version
        self._lender = lender
        self._seconds = seconds
        self._found = False  # something in the cache
        self._misses: list[Row] = []  # that the cache is to have from now on
        self.behind: SnapshotReader | None = None  # what reads the rest

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        cache = self._cache
        value = cache.recent.get(key)
        if value is not None:
            self._found = True
            return value
        value = cache.older.get(key)
        if value is not None:
            self._found = True
        else:
            value = self._snapshot().get(key)
        if value is not None:
            self._misses.append((key, value))
        return value

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None] | None:
        """Give the values at some keys; None if there is a large one among them."""
        values: list[bytes | None] = list(map(self._cache.recent.get, keys))
        if None not in values:
            self._found = True
            return values
        missing = [key for key, value in zip(keys, values, strict=True) if value is None]
        read = self._snapshot().get_many(missing)
        if read is None:
            return None
        self._found = self._found or len(missing) < len(keys)
        rows = dict(zip(missing, read, strict=True))
        self._misses.extend((key, value) for key, value in rows.items() if value is not None)
        return [rows[key] if value is None else value for key, value in zip(keys, values, strict=True)]

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows of a range."""
        return self._snapshot().scan(start, end, reverse=reverse, limit=limit)

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        return self._snapshot().counter(key)

    @property
    def joined(self) -> JoinRows | None:
        """What gives rows in one piece."""
        return self._snapshot().joined

    @property
    def packed(self) -> PackRows:
        """What gives rows in pieces."""
        return self._snapshot().packed

    def _snapshot(self) -> SnapshotReader:
        if self.behind is None:
            self.behind = self._lender.lend(self._version, self._seconds)
        return self.behind

    def ends_consistent(self) -> bool:
        """Whether all that the step has read is of one moment; then the cache gets what it had not."""
        cache = self._cache
        if self._misses:
            cache.keep(self._misses, self._version)
        return not self._found or cache.version == self._version
