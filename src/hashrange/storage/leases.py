"""Leases: work that only one server may do, and that another takes over when its server is gone.

The lease is a row that its holder rewrites every now and then. Nobody's clock is compared with another's: a server
that has watched the row stay the same for the whole term, by its own clock, takes the lease over. The former
holder may not know yet, and may even be in the middle of a write; so every write done under a lease checks in
its own transaction that the row still has the number under which the lease was taken.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Done, Engine, Reader, Transaction
from hashrange.storage.errors import StorageError

T = TypeVar("T")

TERM_SECONDS = 5.0


class LeaseLost(StorageError):
    """Someone else has the lease now; nothing was written."""


class Record(msgspec.Struct, frozen=True):
    """What the row says."""

    number: int  # rises whenever the lease changes hands
    beat: int  # rises whenever it is renewed
    holder: bytes  # empty: given back

    def encode(self) -> bytes:
        """The stored form."""
        return self.number.to_bytes(8, "big") + self.beat.to_bytes(8, "big") + self.holder


def stored_record(reader: Reader, key: bytes) -> Record:
    """The record of a lease; one that was never taken counts as given back."""
    stored = reader.get(key)
    if stored is None:
        return Record(0, 0, b"")
    return Record(int.from_bytes(stored[:8], "big"), int.from_bytes(stored[8:16], "big"), stored[16:])


class Lease:
    """One server's claim on a lease."""

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
        self._number = 0  # under which it is held; 0: it is not
        self._renewed_at = 0.0
        self._watched: Record | None = None
        self._watched_since = 0.0
        self.term_seconds = term_seconds
        self.pause_seconds = term_seconds / 4  # how often to ask

    def held(self) -> bool:
        """Take, keep or watch the lease; true while it is this server's. May wait for a commit."""
        now = self._now()
        if self._number and now - self._renewed_at < self.pause_seconds:
            return True
        if not self._number and not self._is_free(now):
            return False
        self._number = self._engine.write(self._claim)
        self._renewed_at = now
        return bool(self._number)

    def check(self, tx: Transaction) -> None:
        """Refuse a write if the lease has changed hands."""
        record = stored_record(tx, self._key)
        if not self._number or (record.number, record.holder) != (self._number, self._holder):
            self._number = 0
            raise LeaseLost

    def give_back(self) -> None:
        """Let another server have it at once."""
        if self._number:
            self._engine.write(self._resign)
            self._number = 0

    def _is_free(self, now: float) -> bool:
        record = self._engine.read(lambda reader: stored_record(reader, self._key))
        if record != self._watched:
            self._watched, self._watched_since = record, now
        return not record.holder or now - self._watched_since >= self.term_seconds

    def _claim(self, tx: Transaction) -> int:
        record = stored_record(tx, self._key)
        if self._number and (record.number, record.holder) == (self._number, self._holder):
            renewed = Record(record.number, record.beat + 1, self._holder)
        elif not self._number and (not record.holder or record == self._watched):
            renewed = Record(record.number + 1, 0, self._holder)
        else:
            return 0
        tx.put(self._key, renewed.encode())
        return renewed.number

    def _resign(self, tx: Transaction) -> None:
        record = stored_record(tx, self._key)
        if (record.number, record.holder) == (self._number, self._holder):
            tx.put(self._key, Record(record.number, record.beat, b"").encode())


class FencedEngine:
    """An engine that writes only while a lease is held."""

    def __init__(self, engine: Engine, lease: Lease) -> None:
        self._engine = engine
        self._lease = lease
        self.shared = engine.shared

    @property
    def description(self) -> str:
        """Name the engine behind."""
        return self._engine.description

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Read as the engine does."""
        return self._engine.read(step, seconds=seconds)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Read as the engine does."""
        self._engine.submit_read(step, done, reads=reads, more=more, eventual=eventual)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`, to run if the lease is still held by then."""
        self._engine.submit(self._fenced(step), done, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step` if the lease is still held."""
        return self._engine.write(self._fenced(step))

    def maintain(self, budget_pages: int) -> int:
        """Give space back as the engine does."""
        return self._engine.maintain(budget_pages)

    def close(self) -> None:
        """Leave the engine to its owner."""

    def _fenced(self, step: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
        def fenced(tx: Transaction) -> T:
            self._lease.check(tx)
            return step(tx)

        return fenced
