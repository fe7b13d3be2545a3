"""Gaps: ranges of keys that cannot be read because a page is damaged, and where they end."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from hashrange.core.keys import encoding
from hashrange.storage.engine import Reader
from hashrange.storage.errors import Corrupt, DamagedRow

T = TypeVar("T")

END = b"\xff" * 8  # behind every key of the layout


class Readable(Protocol):
    """A store that can be read."""

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""


def first_key(store: Readable, start: bytes) -> bytes | None:
    """The first key from `start` on, `END` if there is none; None if it cannot be read."""
    try:
        return store.read(lambda reader: next(reader.scan(start, END, limit=1), (END,))[0])
    except DamagedRow as damaged:
        return damaged.key
    except Corrupt:
        return None


def next_readable(store: Readable, start: bytes) -> bytes | None:
    """A key behind what cannot be read, as near as a few dozen attempts find one; None: there is none.

    First the keys behind all that begin with a shorter and shorter head of `start` are tried; then, at the length
    that helped, the bytes between the last that did not and the first that did.
    """
    for length in range(len(start), 0, -1):
        if start[length - 1] == 0xFF or first_key(store, encoding.prefix_end(start[:length])) is None:
            continue
        head, low = start[:length], start[length] if length < len(start) else 0xFF
        high = 0x100  # `head` with this byte would be the key that was readable
        while high - low > 1:
            middle = (low + high) // 2
            if first_key(store, head + bytes([middle])) is None:
                low = middle
            else:
                high = middle
        behind = head + bytes([high]) if high <= 0xFF else encoding.prefix_end(head)
        key = first_key(store, behind)
        return None if key == END else key
    return None
