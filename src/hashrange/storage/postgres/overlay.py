"""The writes of a batch over the rows of the database: what was written, and ranges of both."""

from collections.abc import Iterator
from typing import Final

from hashrange.storage.overlay import Overlay

Row = tuple[bytes, bytes]


class Unwritten:
    """Says that neither this step nor one before it wrote to a key."""


UNWRITTEN: Final = Unwritten()


class RangeOverlay(Overlay):
    """An overlay that can be merged with what the database has."""

    __slots__ = ()

    def written(self, key: bytes) -> bytes | Unwritten | None:
        """What was written to a key last, if anything was."""
        if key in self.own:
            return self.own[key]
        return self.accepted.get(key, UNWRITTEN)

    def within(self, start: bytes, end: bytes, *, reverse: bool) -> list[tuple[bytes, bytes | None]]:
        """The writes in a range, in order."""
        writes = {key: value for key, value in self.accepted.items() if start <= key < end}
        writes.update({key: value for key, value in self.own.items() if start <= key < end})
        return sorted(writes.items(), reverse=reverse)


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
