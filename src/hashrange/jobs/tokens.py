"""Forget the idempotency tokens of transactions once they are no longer good."""

from hashrange.storage import layout
from hashrange.storage.engine import Engine, Transaction

_CHUNK_TOKENS = 500
_PAUSE_SECONDS = 5.0
_TIME_BYTES = 8


class ExpireTokens:
    """The expiry rows are ordered by time, so the oldest come first."""

    name = "expire-tokens"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, now: float) -> float:
        """Forget a chunk of tokens."""
        end = layout.TOKEN_EXPIRY + (int(now) + 1).to_bytes(_TIME_BYTES, "big")
        if (
            self._engine.read(lambda reader: next(reader.scan(layout.TOKEN_EXPIRY, end, limit=1), None))
            is None
        ):
            return _PAUSE_SECONDS
        forgotten = self._engine.write(lambda tx: _forget(tx, end))
        return 0.0 if forgotten == _CHUNK_TOKENS else _PAUSE_SECONDS


def _forget(tx: Transaction, end: bytes) -> int:
    expired = list(tx.scan(layout.TOKEN_EXPIRY, end, limit=_CHUNK_TOKENS))
    for key, _ in expired:
        expires = key[len(layout.TOKEN_EXPIRY) :][:_TIME_BYTES]
        token = key[len(layout.TOKEN_EXPIRY) + _TIME_BYTES :]
        # A token that was used again since begins with a later time.
        if (tx.get(token) or b"").startswith(expires):
            tx.delete(token)
        tx.delete(key)
    return len(expired)
