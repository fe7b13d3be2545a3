"""Old data of CloudWatch: clients' metrics are added up over longer periods, and forgotten; so is alarms' history."""

from collections.abc import Iterator
from functools import partial
from itertools import islice

from hashrange.api.cloudwatch import alarms
from hashrange.core.limits import ALARM_HISTORY_SECONDS, CLOUDWATCH_METRIC_SECONDS
from hashrange.storage import custom_metric_rows
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.setting_rows import Place

FIVE_MINUTE_SECONDS = 24 * 3600  # what is older is kept by five minutes
HOUR_SECONDS = 5 * 24 * 3600  # what is older is kept by the hour
_PAUSE_SECONDS = 3600.0
_CHUNK_ROWS = 200  # of one transaction, for which clients' writes wait
_CHUNK_SECONDS = 0.01  # between two of them
_BATCH = 20
_HISTORY_BATCH = 500


class CompactCustomMetrics:
    """Goes through all series once an hour, some in every step."""

    name = "compact-custom-metrics"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._after = b""

    def step(self, now: float) -> float:
        """Add up the old rows of some series."""
        keys = self._engine.read(partial(custom_metric_rows.all_series, after=self._after, limit=_BATCH))
        done = self._engine.write(partial(_compact, keys=keys, now=now)) if keys else 0
        if done:
            self._after = keys[done - 1]
        if done == len(keys) < _BATCH:
            self._after = b""
            return _PAUSE_SECONDS
        return _CHUNK_SECONDS


def _compact(tx: Transaction, *, keys: list[bytes], now: float) -> int:
    """Bring the first of these series up to date, so many as there is time for; give how many."""
    tx.use_reserve()
    compact = partial(
        custom_metric_rows.compact,
        moments=(now - FIVE_MINUTE_SECONDS, now - HOUR_SECONDS),
        kept_since=now - CLOUDWATCH_METRIC_SECONDS,
    )
    left = _CHUNK_ROWS
    for done, key in enumerate(keys):
        left -= compact(tx, key, limit=left)
        if not left:
            return done  # there may be more of this one
    return len(keys)


class ForgetAlarmHistory:
    """Removes what happened to alarms long ago."""

    name = "forget-alarm-history"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, now: float) -> float:
        """Remove some of the oldest items."""
        old = self._engine.read(partial(_old, before=now - ALARM_HISTORY_SECONDS))
        if old:
            self._engine.write(partial(_forget, old=old))
        return 0.0 if len(old) == _HISTORY_BATCH else _PAUSE_SECONDS


def _old(reader: Reader, *, before: float) -> list[tuple[Place, str]]:
    """The first items that are too old: ids are by time, so that nothing behind them is read."""
    rows = (
        (place, item_id)
        for place in alarms.HISTORY.places(reader)
        for item_id in _ids_before(reader, place, alarms.history_id(before))
    )
    return list(islice(rows, _HISTORY_BATCH))


def _ids_before(reader: Reader, place: Place, end: str) -> Iterator[str]:
    for item_id, _ in alarms.HISTORY.of_region(reader, place):
        if item_id >= end:
            return
        yield item_id


def _forget(tx: Transaction, *, old: list[tuple[Place, str]]) -> None:
    tx.use_reserve()
    for place, item_id in old:
        alarms.HISTORY.remove(tx, place, item_id)
