"""The record of --eventual-lag: servers on the same data should all be started with the same one.

A write of a server without it is seen at once by the readers of one that has it. It is for tests, so servers that
differ are not stopped: whoever starts is told what the one before it was started with.
"""

import msgspec

from hashrange import logs
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.setting_rows import Place, SettingRows


class LagRecord(msgspec.Struct, frozen=True):
    """What the row holds."""

    lag_ms: int


log = logs.Log("lag")

_ROWS = SettingRows("eventual-lag", LagRecord)
_EVERYWHERE = Place("", "")
_ID = "latest"


def compare(engine: Engine, lag_ms: int) -> None:
    """Say if the latest server that was started on the same data has another lag, and write down this one's."""
    if not engine.shared:
        return  # there is no other server
    record = engine.read(lambda reader: _ROWS.find(reader, _EVERYWHERE, _ID))
    if record is not None and record.lag_ms == lag_ms:
        return
    other_ms = engine.write(lambda tx: _replace(tx, lag_ms))
    if other_ms is not None:
        log.warning("eventual_lag.differs", own_ms=lag_ms, other_ms=other_ms)


def _replace(tx: Transaction, lag_ms: int) -> int | None:
    before = _ROWS.find(tx, _EVERYWHERE, _ID)
    _ROWS.save(tx, _EVERYWHERE, _ID, LagRecord(lag_ms))
    return None if before is None or before.lag_ms == lag_ms else before.lag_ms
