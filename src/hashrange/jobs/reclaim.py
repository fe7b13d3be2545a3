"""Reclaim space: clear the rows of deleted tables and indexes, then return free pages to the file system."""

from hashrange.core.keys import encoding
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Transaction

# Clients' writes wait while a chunk is cleared; rows of 400 KB take a hundred times longer than small ones.
_CHUNK_ROWS = 200
_CHUNK_PAGES = 250
_PAUSE_SECONDS = 0.002  # between chunks, so that clients' writes go first


class ReclaimSpace:
    """Clears a bounded number of rows in every step, however large the deleted table was."""

    name = "reclaim-space"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._has_free_pages = True  # the process before this one may have left some

    def step(self, _now: float) -> float:
        """Clear a chunk of rows, or return a chunk of pages."""
        if self._engine.read(lambda reader: next(reader.scan(*_GARBAGE, limit=1), None)) is not None:
            self._engine.write(_clear_chunk)
            self._has_free_pages = True
            return _PAUSE_SECONDS
        if self._has_free_pages:
            self._has_free_pages = self._engine.maintain(_CHUNK_PAGES) >= _CHUNK_PAGES
            return _PAUSE_SECONDS
        return IDLE_SECONDS


_GARBAGE = (layout.GARBAGE, encoding.prefix_end(layout.GARBAGE))


def _clear_chunk(tx: Transaction) -> None:
    for marker, _ in tx.scan(*_GARBAGE, limit=1):
        prefix = marker[len(layout.GARBAGE) :]
        if tx.clear(prefix, encoding.prefix_end(prefix), limit=_CHUNK_ROWS) < _CHUNK_ROWS:
            tx.delete(marker)
