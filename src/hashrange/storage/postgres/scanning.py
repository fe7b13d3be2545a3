"""A scan as the caller holds it."""

import time
from collections.abc import Callable, Iterator

from hashrange.storage.errors import ReadTimeout, StorageError

Row = tuple[bytes, bytes]


class Scan:
    """An iterator that ends with its step, however often it is asked afterwards."""

    __slots__ = ("_alive", "_deadline", "_rows")

    def __init__(
        self, rows: Iterator[Row], alive: Callable[[], bool], *, seconds: float | None = None
    ) -> None:
        self._rows = rows
        self._alive = alive
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def __iter__(self) -> Iterator[Row]:
        """Itself."""
        return self

    def __next__(self) -> Row:
        """Give the next row."""
        if not self._alive():
            raise StorageError("a scan does not outlive its step")
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise ReadTimeout
        return next(self._rows)
