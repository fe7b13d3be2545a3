"""The in-memory engine: the same transaction code on one `:memory:` connection, without threads.

Steps that an event loop submits in one iteration share a commit. There is no disk to wait for, but SQLite looks at all
of its pages at the end of a commit that has moved some, which takes as long for one row as for many.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import CallSoon, Deliver, Done, Reader, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import cache_sizes, schema
from hashrange.storage.sqlite.cache_sizes import CacheSizes
from hashrange.storage.sqlite.committer import LOOP_SECONDS_MAX
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.group import QueuedStep, commit_steps
from hashrange.storage.sqlite.read_pool import ReadPool
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.row_cache import RowCache
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.vacuum import incremental_vacuum
from hashrange.storage.waiting import Waiter

T = TypeVar("T")

CACHE_KIB = 2048
CHUNK_ROWS = 200  # that a long read takes before it lets others have the lock
CHUNKED_ATTEMPTS_MAX = 3


class _LockedReader(SnapshotReader):
    """Needs no snapshot: nobody writes while it reads, because it reads with the engine's lock held.

    So all that the cache has is of this moment.
    """

    __slots__ = ("_cache",)

    def __init__(self, connection: apsw.Connection, cache: RowCache) -> None:
        super().__init__(connection)
        self._cache = cache

    def _begin(self) -> None:
        """Begin nothing, so that a read may be nested in another on the one connection."""

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        cache = self._cache
        value = cache.recent.get(key)
        if value is None:
            value = cache.older.get(key)
            if value is None:
                value = super().get(key)
            # In a transaction it may be the transaction's own, and be undone.
            if value is not None and not self._connection.in_transaction:
                cache.keep(((key, value),), cache.version)
        return value

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None] | None:
        """Give the values at some keys; None if there is a large one among them."""
        values: list[bytes | None] = list(map(self._cache.recent.get, keys))
        if None not in values:
            return values
        missing = [key for key, value in zip(keys, values, strict=True) if value is None]
        read = super().get_many(missing)
        if read is None:
            return None
        rows = dict(zip(missing, read, strict=True))
        if not self._connection.in_transaction:
            found = [(key, value) for key, value in rows.items() if value is not None]
            self._cache.keep(found, self._cache.version)
        return [rows[key] if value is None else value for key, value in zip(keys, values, strict=True)]


class _ConcurrentWrite(Exception):
    """Something was written between two chunks of a long read."""


class _ChunkedReader:
    """Takes the engine's lock for a chunk at a time, and gives up if somebody wrote between two chunks."""

    joined = None

    def __init__(self, engine: "MemoryEngine") -> None:
        self._engine = engine
        self._commits = engine.commits

    def get(self, key: bytes) -> bytes | None:
        return self._read(lambda reader: reader.get(key))

    def counter(self, key: bytes) -> int:
        return self._read(lambda reader: reader.counter(key))

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        left = limit
        while left is None or left > 0:
            count = CHUNK_ROWS if left is None else min(left, CHUNK_ROWS)
            rows = self._chunk(start, end, reverse=reverse, count=count)
            yield from rows
            if len(rows) < count:
                return
            start, end = (start, rows[-1][0]) if reverse else (rows[-1][0] + b"\x00", end)
            left = None if left is None else left - count

    def _chunk(self, start: bytes, end: bytes, *, reverse: bool, count: int) -> list[tuple[bytes, bytes]]:
        return self._read(lambda reader: list(reader.scan(start, end, reverse=reverse, limit=count)))

    def _read(self, step: Callable[[Reader], T]) -> T:
        result = self._engine.read_locked(step)
        if self._engine.commits != self._commits:
            raise _ConcurrentWrite
        return result


class MemoryEngine:
    """An `Engine` whose data is gone when it is closed.

    Without an event loop, and on other threads than its own, `submit` runs the step and calls `done` before it returns.
    """

    encrypted = False
    shared = False

    def __init__(
        self,
        *,
        deliver: Deliver | None = None,
        call_soon: CallSoon | None = None,
        caches: CacheSizes = cache_sizes.DEFAULT,
    ) -> None:
        """Create an empty database; `deliver` is for the outcomes of long reads, `call_soon` this thread's loop's."""
        self.commits = 0
        self._read_pool = ReadPool(deliver or run_inline)
        self._connection = schema.connect(":memory:", cache_kib=CACHE_KIB)
        schema.prepare(self._connection, ":memory:", create=True)
        self._transaction = WriteTransaction(self._connection)
        self._cache = self._transaction.cache = RowCache(lambda: self.commits, caches.rows_bytes)
        self._idle_readers = [_LockedReader(self._connection, self._cache)]
        self._lock = threading.RLock()
        self._closed = False
        self._call_soon = call_soon
        self._loop_thread = threading.get_ident()
        self._queue: deque[QueuedStep] = deque()  # of the loop, until its next iteration

    @property
    def description(self) -> str:
        """Name the engine."""
        return "SQLite (in memory)"

    @property
    def directory(self) -> Path | None:
        """There is none."""
        return None

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` while nothing else runs."""
        return self.read_locked(step, seconds)

    def at_hand(self, key: bytes, /) -> bytes | None:
        """Give the row at `key` from the cache."""
        value = self._cache.recent.get(key)
        return None if value is None or self._cache.version != self.commits else value

    def read_locked(self, step: Callable[[Reader], T], seconds: float | None = None) -> T:
        """Run `step` with the lock held from beginning to end."""
        with self._lock:
            self._check_open()
            idle = self._idle_readers
            reader = idle.pop() if idle else _LockedReader(self._connection, self._cache)
            reader.seconds = seconds
            try:
                return step(reader)
            except apsw.Error as error:
                raise translate(error) from error
            finally:
                reader.end_step()
                idle.append(reader)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Run `step` on a thread in chunks, so that others get the lock; if they write too often, in one go."""
        self._read_pool.submit(lambda: self._read_in_chunks(step), done)

    def _read_in_chunks(self, step: Callable[[Reader], T]) -> T:
        for _ in range(CHUNKED_ATTEMPTS_MAX):
            with contextlib.suppress(_ConcurrentWrite):
                return step(_ChunkedReader(self))
        return self.read_locked(step)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Have the event loop commit `step` with others of this iteration; elsewhere do it now."""
        if self._call_soon is None or threading.get_ident() != self._loop_thread:
            self._submit_now(step, done)
            return
        with self._lock:
            self._check_not_nested()
            if not self._queue:
                self._call_soon(self._commit_queue)
            self._queue.append((step, done))

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step` and give its result."""
        waiter: Waiter[T] = Waiter()
        self._submit_now(step, waiter.done)
        return waiter.wait()

    def maintain(self, budget_pages: int) -> int:
        """Return free pages to the allocator."""
        with self._lock:
            self._check_open()
            return incremental_vacuum(self._connection, budget_pages)

    def close(self) -> None:
        """Close the database, and with it the data."""
        self._read_pool.close()
        while self._queue:
            self._commit_queue()
        with self._lock:
            if not self._closed:
                self._closed = True
                self._cache.wipe()
                for reader in self._idle_readers:
                    reader.finalize()
                self._connection.close(True)

    def _submit_now(self, step: Callable[[Transaction], Any], done: Done[Any]) -> None:
        with self._lock:
            callbacks = self._commit(deque([(step, done)]))
        run_inline(callbacks)

    def _commit_queue(self) -> None:
        """Commit what the loop has queued, and the rest in its next iteration if that takes long."""
        with self._lock:
            callbacks = self._commit(self._queue)
            if self._queue and self._call_soon is not None:
                self._call_soon(self._commit_queue)
        run_inline(callbacks)

    def _commit(self, steps: deque[QueuedStep]) -> list[Callable[[], None]]:
        """Commit steps for as long as a loop may wait, at least one; gives their callbacks, to be called now."""
        if not steps:  # they were committed when the engine was closed
            return []
        if self._closed:
            refused = [done for _, done in steps]
            steps.clear()
            return [partial(done, None, Closed("the engine is closed")) for done in refused]
        self._check_not_nested()
        self.commits += 1  # first: the cache is then of this commit
        return commit_steps(self._transaction, steps, LOOP_SECONDS_MAX)

    def _check_not_nested(self) -> None:
        if not self._closed and self._connection.in_transaction:
            raise RuntimeError("a step may only use its transaction")

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("the engine is closed")
