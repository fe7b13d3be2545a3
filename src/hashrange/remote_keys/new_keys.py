"""Keys for new tables, and for tables that change to another key: made by the key service before any transaction."""

import time
from collections.abc import Callable
from typing import NamedTuple

from hashrange.kms.table_key import SealedKey, encryption_context
from hashrange.remote_keys.client import KmsClient, KmsFailed
from hashrange.remote_keys.lane import Lane
from hashrange.remote_keys.ring import KeyRing

_SILENCE_SECONDS = 1.0  # for so long nobody else is asked for after a request without an answer
WAITING_MAX = 16  # requests that wait for a thread; each may be about a key that nobody has


class KeyWish(NamedTuple):
    """A table is to be under the key of this name."""

    name: str
    table_name: str
    account_id: str


Made = Callable[[SealedKey | KmsFailed], None]


class NewKeys:
    """Has the key service make tables' keys."""

    def __init__(self, service: KmsClient, ring: KeyRing) -> None:
        self._service = service
        self._ring = ring
        self._lane = Lane("new-keys", WAITING_MAX)
        self._silent_until = 0.0

    def make(self, wish: KeyWish, made: Made) -> bool:
        """Make one, and tell, on a thread of the lane, what became of it; False if too many wait already."""
        return self._lane.submit(lambda: made(self._made(wish)))

    def close(self) -> None:
        """Make no more."""
        self._lane.close()

    def _made(self, wish: KeyWish) -> SealedKey | KmsFailed:
        if time.monotonic() < self._silent_until:
            # Who was queued behind a request that got no answer has waited long enough.
            return KmsFailed("unreachable", "the key service does not answer")
        try:
            key_arn = self._service.usable_key(wish.name)
            context = encryption_context(wish.table_name, wish.account_id)
            key = self._service.new_key(key_arn, context)
        except KmsFailed as failure:
            if failure.state == "unreachable":
                self._silent_until = time.monotonic() + _SILENCE_SECONDS
            return failure
        sealed = SealedKey(key_arn, key.ciphertext, wish.table_name, wish.account_id)
        self._ring.put(sealed, key.plaintext)
        return sealed
