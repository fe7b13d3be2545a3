"""Reclaim space: clear the rows of deleted tables and indexes, then return free pages to the file system."""

from functools import partial

from hashrange import logs
from hashrange.core.keys import encoding
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import Corrupt, DamagedRow, DiskFull

log = logs.Log("jobs")

# Clients' writes wait while a chunk is cleared; rows of 400 KB take a hundred times longer than small ones.
_CHUNK_ROWS = 200
_CHUNK_PAGES = 250
_PAUSE_SECONDS = 0.002  # between chunks, so that clients' writes go first
_FULL_PAUSE_SECONDS = 0.1
_SHRINK_FACTOR = 4  # of a chunk for whose log the disk has no room

_GARBAGE_END = encoding.prefix_end(layout.GARBAGE)


class ReclaimSpace:
    """Clears a bounded number of rows in every step, however large the deleted table was.

    A table whose rows are damaged is left when the damage is met, until the process is restarted.
    """

    name = "reclaim-space"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._has_free_pages = True  # the process before this one may have left some
        self._damaged: set[bytes] = set()  # marks of rows that cannot be cleared
        self._has_met_damage = False  # when it returned pages
        self._divisor = 1  # of a chunk's size

    def step(self, _now: float) -> float:
        """Clear a chunk of rows, or return a chunk of pages."""
        try:
            pause = self._step()
        except DiskFull:
            if self._divisor > _CHUNK_ROWS:
                raise
            self._divisor *= _SHRINK_FACTOR
            return _FULL_PAUSE_SECONDS
        self._divisor = max(1, self._divisor // 2)
        return pause

    def _step(self) -> float:
        if (mark := self._next_mark()) is not None:
            self._clear(mark)
            return _PAUSE_SECONDS
        if self._has_free_pages:
            pages_max = max(1, _CHUNK_PAGES // self._divisor)
            self._has_free_pages = self._vacuum(pages_max) >= pages_max
            return _PAUSE_SECONDS
        return IDLE_SECONDS

    def _next_mark(self) -> bytes | None:
        start = layout.GARBAGE
        while True:
            try:
                return self._engine.read(partial(self._first_mark, start))
            except DamagedRow as damaged:
                # All that a mark says is in its key.
                if damaged.key not in self._damaged:
                    return damaged.key
                start = damaged.key + b"\0"

    def _first_mark(self, start: bytes, reader: Reader) -> bytes | None:
        marks = (mark for mark, _ in reader.scan(start, _GARBAGE_END))
        return next((mark for mark in marks if mark not in self._damaged), None)

    def _clear(self, mark: bytes) -> None:
        rows_max = max(1, _CHUNK_ROWS // self._divisor)
        try:
            self._engine.write(partial(_clear_chunk, mark=mark, rows_max=rows_max))
            self._has_free_pages = True
        except Corrupt as error:
            # The good rows of this chunk stay. Without them a damaged page would be next to other tables' pages, and
            # SQLite looks at the neighbours of a page that becomes empty.
            self._damaged.add(mark)
            prefix = mark[len(layout.GARBAGE) :]
            log.error("reclaim.damaged", garbage=layout.describe_prefix(prefix), reason=str(error))

    def _vacuum(self, pages_max: int) -> int:
        try:
            return self._engine.maintain(pages_max)
        except Corrupt as error:
            # The free pages are used again by writes to come.
            if not self._has_met_damage:
                self._has_met_damage = True
                log.error("vacuum.damaged", reason=str(error))
            return 0


def _clear_chunk(tx: Transaction, *, mark: bytes, rows_max: int) -> None:
    tx.use_reserve()
    prefix = mark[len(layout.GARBAGE) :]
    if tx.clear(prefix, encoding.prefix_end(prefix), limit=rows_max) < rows_max:
        tx.delete(mark)
