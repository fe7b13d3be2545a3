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
_TRANSACTIONS_MAX = 10  # in a row

log = logs.Log("heat")


class HeatFlusher:
    """Hands windows to the engine. All of it is the event loop's."""

    def __init__(self, engine: Engine, heat: Heat) -> None:
        self._engine = engine
        self._heat = heat
        self.worker = secrets.token_bytes(_WORKER_BYTES)
        self._is_writing = False
        self._is_failing = False

    def flush(self) -> None:
        """Write the windows that have changed, unless the last time is not over yet."""
        if not self._is_writing:
            self._write_some(_TRANSACTIONS_MAX)

    def _write_some(self, transactions: int) -> None:
        windows = self._heat.take_changed(_WINDOWS_MAX) if transactions else []
        self._is_writing = bool(windows)
        if windows:
            step = partial(_write, flush=HeatFlush.of(self.worker, windows))
            self._engine.submit(step, partial(self._written, transactions - 1), reads=())

    def _written(self, transactions: int, _: None, error: BaseException | None) -> None:
        # What was not written now is written when there is more traffic; the heat of a past minute is no great loss.
        if error is None:
            self._is_failing = False
            self._write_some(transactions)
            return
        self._is_writing = False
        if not self._is_failing and not isinstance(error, Closed):
            log.warning("heat.unwritten", error=error)
        self._is_failing = True


def _write(tx: Transaction, *, flush: HeatFlush) -> None:
    flush.write(tx)
