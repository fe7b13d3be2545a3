"""A scan as the caller holds it."""

from collections.abc import Callable, Iterator

from hashrange.storage.errors import StorageError

Row = tuple[bytes, bytes]


class Scan:
    """An iterator that ends with its step, however often it is asked afterwards."""

    __slots__ = ("_alive", "_rows")

    def __init__(self, rows: Iterator[Row], alive: Callable[[], bool]) -> None:
        self._rows = rows
        self._alive = alive

    def __iter__(self) -> Iterator[Row]:
        """Itself."""
        return self

    def __next__(self) -> Row:
        """Give the next row."""
        if not self._alive():
            raise StorageError("a scan does not outlive its step")
        return next(self._rows)
