"""Writing what this process has seen of heat, every few seconds, so that whoever splits partitions knows of it."""

import secrets
from functools import partial

from hashrange import logs
from hashrange.capacity.heat import Heat
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.heat_rows import HeatFlush

FLUSH_SECONDS = 10.0
_WORKER_BYTES = 8
_WINDOWS_MAX = 20  # in one transaction: clients' writes wait for it

log = logs.Log("heat")


class HeatFlusher:
    """Hands windows to the engine. All of it is the event loop's."""

    def __init__(self, engine: Engine, heat: Heat) -> None:
        self._engine = engine
        self._heat = heat
        self.worker = secrets.token_bytes(_WORKER_BYTES)
        self._is_writing = False

    def flush(self) -> None:
        """Write some of the windows that have changed, unless the last time is not over yet."""
        windows = [] if self._is_writing else self._heat.take_changed(_WINDOWS_MAX)
        if windows:
            self._is_writing = True
            self._engine.submit(
                partial(_write, flush=HeatFlush.of(self.worker, windows)), self._written, reads=()
            )

    def _written(self, _: None, error: BaseException | None) -> None:
        # What was not written now is written when there is more traffic; the heat of a past minute is no great loss.
        self._is_writing = False
        if error is not None and not isinstance(error, Closed):
            log.warning("heat.unwritten", error=error)


def _write(tx: Transaction, *, flush: HeatFlush) -> None:
    flush.write(tx)
