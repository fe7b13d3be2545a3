"""Writing the key sketches of this process, every few seconds."""

import secrets
from functools import partial

from hashrange import logs
from hashrange.capacity.key_sketches import KeySketches, Sketched
from hashrange.storage import insight_rows
from hashrange.storage.engine import Engine
from hashrange.storage.errors import Closed, StorageError

_WORKER_BYTES = 8
_ROWS_MAX = 40  # in one transaction: clients' writes wait for it
_LAST_MAX = 50  # transactions when the server stops

log = logs.Log("insights")


class InsightFlusher:
    """Hands sketches to the engine. Everything but `finish` is the event loop's."""

    def __init__(self, engine: Engine, sketches: KeySketches) -> None:
        self._engine = engine
        self._sketches = sketches
        self._worker = secrets.token_bytes(_WORKER_BYTES)
        self._is_writing = False

    def flush(self) -> None:
        """Write what has changed, unless the last time is not over yet."""
        if self._is_writing:
            return
        rows = self._sketches.take(_ROWS_MAX, insight_rows.packed)
        if not rows:
            return
        self._is_writing = True
        written = partial(self._written, [sketched for sketched, _ in rows])
        self._engine.submit(lambda tx: insight_rows.write(tx, self._worker, rows), written)

    def _written(self, sketched: list[Sketched], _: None, error: BaseException | None) -> None:
        self._is_writing = False
        if error is None:
            self.flush()
        elif not isinstance(error, Closed):
            self._sketches.put_back(sketched)
            log.warning("insights.unwritten", error=error)

    def finish(self) -> None:
        """Write the rest and wait for it: nobody observes or flushes any more. Not on the thread of the loop."""
        try:
            for _ in range(_LAST_MAX):
                rows = self._sketches.take(_ROWS_MAX, insight_rows.packed)
                if not rows:
                    return
                self._engine.write(partial(insight_rows.write, worker=self._worker, rows=rows))
        except StorageError as error:
            log.warning("insights.lost", error=error)
