"""Leases: work that only one server may do, and that another one takes over when the first is gone.

The lease is a row that its holder rewrites at intervals (a heartbeat). No two clocks are compared: a server that has
seen the row unchanged for the whole term, by its own clock, takes the lease over. The former holder may not know yet,
and may even be in the middle of a write. So every write under a lease checks in its own transaction that the row still
has the fencing token with which the lease was acquired.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Done, Engine, Reader, Transaction
from hashrange.storage.errors import StorageError
from hashrange.storage.wrapped import WrappedEngine

T = TypeVar("T")

TERM_SECONDS = 5.0


class LeaseLost(StorageError):
    """Another server has the lease now; nothing was written."""


class LeaseRecord(msgspec.Struct, frozen=True):
    """What the row holds."""

    fencing_token: int  # higher with every new holder
    heartbeat: int  # higher with every renewal
    holder: bytes  # empty: released

    def encode(self) -> bytes:
        """The stored form."""
        return self.fencing_token.to_bytes(8, "big") + self.heartbeat.to_bytes(8, "big") + self.holder


def stored_record(reader: Reader, key: bytes) -> LeaseRecord:
    """The record of a lease; one that was never acquired counts as released."""
    stored = reader.get(key)
    if stored is None:
        return LeaseRecord(0, 0, b"")
    return LeaseRecord(int.from_bytes(stored[:8], "big"), int.from_bytes(stored[8:16], "big"), stored[16:])


class Lease:
    """A lease as one server sees it."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        holder: str,
        *,
        term_seconds: float = TERM_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._key = layout.LEASE + name.encode()
        self._holder = holder.encode()
        self._now = now
        self._fencing_token = 0  # 0: this server does not hold the lease
        self._renewed_at = 0.0
        self._observed: LeaseRecord | None = None
        self._observed_since = 0.0
        self.term_seconds = term_seconds
        self.renew_seconds = term_seconds / 4  # how often to call `acquire`

    @property
    def is_held(self) -> bool:
        """Whether this server holds the lease as far as it knows."""
        return bool(self._fencing_token)

    def acquire(self) -> bool:
        """Acquire or renew the lease; false while another server holds it. May wait for a commit."""
        now = self._now()
        if self._fencing_token and now - self._renewed_at < self.renew_seconds:
            return True
        if not self._fencing_token and not self._is_free(now):
            return False
        self._fencing_token = self._engine.write(self._acquire)
        self._renewed_at = now
        return bool(self._fencing_token)

    def check(self, tx: Transaction) -> None:
        """Raise if another server has acquired the lease."""
        record = stored_record(tx, self._key)
        if not self._is_own(record):
            self._fencing_token = 0
            raise LeaseLost

    def release(self) -> None:
        """Let another server have the lease at once."""
        if self._fencing_token:
            self._engine.write(self._release)
            self._fencing_token = 0

    def _is_own(self, record: LeaseRecord) -> bool:
        is_held = self._fencing_token != 0
        return is_held and (record.fencing_token, record.holder) == (self._fencing_token, self._holder)

    def _is_free(self, now: float) -> bool:
        record = self._engine.read(lambda reader: stored_record(reader, self._key))
        if record != self._observed:
            self._observed, self._observed_since = record, now
        return not record.holder or now - self._observed_since >= self.term_seconds

    def _acquire(self, tx: Transaction) -> int:
        record = stored_record(tx, self._key)
        if self._is_own(record):
            renewed = LeaseRecord(record.fencing_token, record.heartbeat + 1, self._holder)
        elif not self._fencing_token and (not record.holder or record == self._observed):
            renewed = LeaseRecord(record.fencing_token + 1, 0, self._holder)
        else:
            return 0
        tx.put(self._key, renewed.encode())
        return renewed.fencing_token

    def _release(self, tx: Transaction) -> None:
        record = stored_record(tx, self._key)
        if self._is_own(record):
            tx.put(self._key, LeaseRecord(record.fencing_token, record.heartbeat, b"").encode())


class FencedEngine(WrappedEngine):
    """An engine whose writes fail once another server holds the lease."""

    def __init__(self, engine: Engine, lease: Lease) -> None:
        super().__init__(engine)
        self._lease = lease

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`; it fails if the lease is lost by the time it runs."""
        super().submit(self._fenced(step), done, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step`; it fails if the lease is lost."""
        return super().write(self._fenced(step))

    def _fenced(self, step: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
        def fenced(tx: Transaction) -> T:
            self._lease.check(tx)
            return step(tx)

        return fenced
