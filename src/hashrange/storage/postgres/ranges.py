"""Reading a range in pages, so that a bounded part of it is in memory, for as long as its step lasts."""

import time
from collections.abc import Callable, Iterator

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import ReadTimeout, StorageError
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.arrays import int8
from hashrange.storage.postgres.long_keys import HEAD_BYTES, first_head, group
from hashrange.storage.postgres.pipeline import Call

Run = Callable[[Call], PGresult]
Row = tuple[bytes, bytes]

_FIRST_ROWS = 32
_MOST_ROWS = 2000
_PAGE_BYTES = 512 * 1024


def read_range(run: Run, start: bytes, end: bytes, *, reverse: bool, hint: int | None) -> Iterator[Row]:
    """Give the rows of a range; `hint` is the number of rows the caller will take, if it is known."""
    for page in read_pages(run, first_head(start), end, reverse=reverse, hint=hint):
        for number in range(page.ntuples):
            key, value = page.get_value(number, 0) or b"", page.get_value(number, 1) or b""
            if len(key) == HEAD_BYTES:
                yield from group(run, key, start, end, reverse=reverse)
            else:
                yield key, value


def read_pages(run: Run, start: bytes, end: bytes, *, reverse: bool, hint: int | None) -> Iterator[PGresult]:
    """Give the rows of a range as pages of about the same size in bytes."""
    name = statements.SCAN_REVERSE if reverse else statements.SCAN
    rows = _FIRST_ROWS if hint is None else max(1, min(hint, _MOST_ROWS))
    while start < end:
        page = run(Call(name, (start, end, int8(rows))))
        if page.ntuples:
            yield page
        if page.ntuples < rows:
            return
        last = page.get_value(page.ntuples - 1, 0) or b""
        if reverse:
            end = last
        else:
            start = last + b"\0"
        rows = _next_rows(page)


def _next_rows(page: PGresult) -> int:
    sample = range(0, page.ntuples, max(1, page.ntuples // 4))
    size = sum(len(page.get_value(number, 1) or b"") + HEAD_BYTES // 20 for number in sample)
    return max(1, min(_MOST_ROWS, page.ntuples * 4, _PAGE_BYTES * len(sample) // size))


class Scan:
    """An iterator that raises once its step is over."""

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
