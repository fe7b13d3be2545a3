"""Expire tokens: delete the idempotency tokens of transactions after their ten minutes."""

from hashrange.storage import token_rows
from hashrange.storage.engine import Engine, Reader, Transaction

_CHUNK_TOKENS = 500
_PAUSE_SECONDS = 5.0


class ExpireTokens:
    """Deletes the oldest tokens first, a chunk in every step."""

    name = "expire-tokens"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, now: float) -> float:
        """Delete a chunk of expired tokens."""
        if not self._engine.read(lambda reader: _expiry_keys(reader, now, limit=1)):
            return _PAUSE_SECONDS
        deleted = self._engine.write(lambda tx: _delete_expired(tx, now))
        return 0.0 if deleted == _CHUNK_TOKENS else _PAUSE_SECONDS


def _expiry_keys(reader: Reader, now: float, *, limit: int) -> list[bytes]:
    return [key for key, _ in reader.scan(*token_rows.expired_range(now), limit=limit)]


def _delete_expired(tx: Transaction, now: float) -> int:
    expiry_keys = _expiry_keys(tx, now, limit=_CHUNK_TOKENS)
    for expiry_key in expiry_keys:
        expires, token_key = token_rows.unpack_expiry_key(expiry_key)
        stored = tx.get(token_key)
        # A token that was used again since expires later, and has another expiry row.
        if stored is not None and token_rows.unpack(stored).expires_epoch_seconds == expires:
            tx.delete(token_key)
        tx.delete(expiry_key)
    return len(expiry_keys)
