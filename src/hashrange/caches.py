"""A cache that never grows past its bound."""

import contextlib
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A dictionary of at most so many entries; the oldest goes first. Any thread may use it."""

    __slots__ = ("_entries", "_entries_max", "get")

    def __init__(self, entries_max: int) -> None:
        self._entries: dict[K, V] = {}
        self._entries_max = entries_max
        self.get = self._entries.get  # bound once: it is called for every request

    def put(self, key: K, value: V) -> None:
        """Remember a value; where there is no room, forget the one that was put first."""
        entries = self._entries
        entries[key] = value
        while len(entries) > self._entries_max:
            # Another thread may be about to remove the same one.
            with contextlib.suppress(KeyError, RuntimeError, StopIteration):
                del entries[next(iter(entries))]

    def __len__(self) -> int:
        return len(self._entries)
