"""Forget insights: remove what was seen of keys more than a day ago."""

from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import insight_rows
from hashrange.storage.engine import Engine, Transaction

_CHUNK = 500
_PAUSE_SECONDS = 10 * IDLE_SECONDS


class ForgetInsights:
    """Deletes the rows of Contributor Insights that no report reaches back to."""

    name = "forget-insights"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, now: float) -> float:
        """Delete a chunk of them."""
        old = self._engine.read(lambda reader: insight_rows.old_rows(reader, now, _CHUNK))
        if not old:
            return _PAUSE_SECONDS

        def delete(tx: Transaction) -> None:
            for key in old:
                tx.delete(key)

        self._engine.write(delete)
        return 0.0
