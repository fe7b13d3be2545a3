"""The in-memory engine: the same transaction code on one `:memory:` connection, without threads."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import apsw

from hashrange.storage.engine import Done, Reader, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import schema
from hashrange.storage.sqlite.committer import fail_all, run_inline, run_step
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.vacuum import give_back
from hashrange.storage.sqlite.waiting import Waiter, call_with_outcome

T = TypeVar("T")

CACHE_KIB = 2048


class _StillReader(SnapshotReader):
    """Needs no snapshot: the engine's lock keeps everything still while it reads."""

    __slots__ = ()

    def _begin(self) -> None:
        """Begin nothing, so that a read may be nested in another on the one connection."""


class MemoryEngine:
    """An `Engine` that forgets everything when closed; a step runs and is done within `submit`."""

    blocking = False
    shared = False

    def __init__(self) -> None:
        """Create an empty database."""
        self._connection = schema.connect(":memory:", cache_kib=CACHE_KIB)
        schema.prepare(self._connection, ":memory:")
        self._transaction = WriteTransaction(self._connection)
        self._idle_readers = [_StillReader(self._connection)]
        self._lock = threading.RLock()
        self._closed = False

    @property
    def description(self) -> str:
        """Name the engine."""
        return "SQLite (in memory)"

    def read(self, step: Callable[[Reader], T]) -> T:
        """Run `step` while nothing else runs."""
        with self._lock:
            self._check_open()
            idle = self._idle_readers
            reader = idle.pop() if idle else _StillReader(self._connection)
            try:
                return step(reader)
            except apsw.Error as error:
                raise translate(error) from error
            finally:
                reader.release()
                idle.append(reader)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        eventual: bool = False,
    ) -> None:
        """Run `step` and call `done`, both before returning."""
        call_with_outcome(done, lambda: self.read(step))

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Run `step` and call `done`, both before returning."""
        with self._lock:
            callbacks = self._commit(step, done)
        run_inline(callbacks)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step` and give its result."""
        waiter: Waiter[T] = Waiter()
        self.submit(step, waiter.done)
        return waiter.wait()

    def maintain(self, budget_pages: int) -> int:
        """Give free pages back to the allocator."""
        with self._lock:
            self._check_open()
            return give_back(self._connection, budget_pages)

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close(True)

    def _commit(self, step: Callable[[Transaction], Any], done: Done[Any]) -> list[Callable[[], None]]:
        if self._closed:
            return [lambda: done(None, Closed("the engine is closed"))]
        if self._connection.in_transaction:
            raise RuntimeError("a step may only use its transaction")
        try:
            self._transaction.begin()
            callback = run_step(self._transaction, step, done)
            self._transaction.commit()
        except Exception as error:  # noqa: BLE001 - whatever it is, the step gets its answer
            return fail_all(self._transaction, [done], translate(error))
        return [callback]

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("the engine is closed")
