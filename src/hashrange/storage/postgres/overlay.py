"""The writes of a batch, in memory over the database: a step's own over those of the steps before it."""

from collections.abc import Iterator
from typing import Final

Row = tuple[bytes, bytes]
Writes = dict[bytes, bytes | None]


class Unwritten:
    """Says that neither this step nor one before it wrote to a key."""


UNWRITTEN: Final = Unwritten()


class Overlay:
    """Rows and counters as the steps of a batch leave them; None stands for a row that is deleted."""

    __slots__ = ("accepted", "accepted_adds", "accepted_emptied", "adds", "emptied", "own", "pending_bytes")

    def __init__(self) -> None:
        self.accepted: Writes = {}
        self.accepted_adds: dict[bytes, int] = {}
        self.own: Writes = {}
        self.adds: dict[bytes, int] = {}
        self.accepted_emptied: set[bytes] = set()  # heads of long keys that were all cleared
        self.emptied: set[bytes] = set()
        self.pending_bytes = 0

    def get(self, key: bytes) -> bytes | Unwritten | None:
        """What was written to a key last, if anything was."""
        if key in self.own:
            return self.own[key]
        return self.accepted.get(key, UNWRITTEN)

    def added(self, key: bytes) -> int:
        """What was added to a counter so far."""
        return self.accepted_adds.get(key, 0) + self.adds.get(key, 0)

    def within(self, start: bytes, end: bytes, *, reverse: bool) -> list[tuple[bytes, bytes | None]]:
        """The writes in a range, in order."""
        found = {key: value for key, value in self.accepted.items() if start <= key < end}
        found.update({key: value for key, value in self.own.items() if start <= key < end})
        return sorted(found.items(), reverse=reverse)

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        self.accepted.update(self.own)
        for key, amount in self.adds.items():
            self.accepted_adds[key] = self.accepted_adds.get(key, 0) + amount
        self.accepted_emptied |= self.emptied
        self.discard()

    def discard(self) -> None:
        """Forget what the step wrote."""
        self.own.clear()
        self.adds.clear()
        self.emptied.clear()


def merged(
    stored: Iterator[Row], written: list[tuple[bytes, bytes | None]], *, reverse: bool
) -> Iterator[Row]:
    """Stored rows with the writes over them, both in the same order."""
    writes = iter(written)
    write = next(writes, None)
    for key, value in stored:
        while write is not None and write[0] != key and (write[0] > key if reverse else write[0] < key):
            if write[1] is not None:
                yield write[0], write[1]
            write = next(writes, None)
        if write is not None and write[0] == key:
            if write[1] is not None:
                yield key, write[1]
            write = next(writes, None)
        else:
            yield key, value
    while write is not None:
        if write[1] is not None:
            yield write[0], write[1]
        write = next(writes, None)
