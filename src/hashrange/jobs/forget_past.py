"""Forget the past: delete what --eventual-lag has kept of rows, once no read can ask for it any more."""

from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import past
from hashrange.storage.engine import Engine

_CHUNK_ROWS = 500
_PAUSE_SECONDS = 1.0
_SPARE_SECONDS = 10.0  # for reads that are under way, and for servers whose clocks differ


class ForgetPast:
    """Walks over all that is kept, a chunk in every step. Without the setting nothing is to be kept."""

    name = "forget-past"

    def __init__(self, engine: Engine, lag_seconds: float) -> None:
        self._engine = engine
        self._lag_seconds = lag_seconds
        self._after = b""

    def step(self, now: float) -> float:
        """Look at a chunk."""
        moment = now - self._lag_seconds - _SPARE_SECONDS if self._lag_seconds else now + _SPARE_SECONDS
        old, last = self._engine.read(
            lambda reader: past.older_than(reader, int(moment * 1_000_000), self._after, limit=_CHUNK_ROWS)
        )
        if old:
            self._engine.write(lambda tx: past.forget(tx, old))
        self._after = last or b""
        if last is not None:
            return 0.0
        return _PAUSE_SECONDS if self._lag_seconds else IDLE_SECONDS
