"""The steps that share one commit: run one after the other, and told of its outcome together."""

import logging
import math
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import apsw

from hashrange.storage.engine import Done, Transaction
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logging.getLogger(__name__)

# A commit takes in steps until none waits or one of these is reached; what is left goes into the next.
STEPS_MAX = 512
STEPS_BYTES_MAX = 8 * 1024 * 1024

Job = tuple[Callable[[Transaction], Any], Done[Any]]


class Group:
    """One commit."""

    __slots__ = ("_failed", "_taken", "_transaction", "callbacks")

    def __init__(self, transaction: WriteTransaction) -> None:
        """Have nothing to tell anyone yet."""
        self._transaction = transaction
        self._taken: list[Done[Any]] = []
        self._failed = False
        self.callbacks: list[Callable[[], None]] = []  # to be called once it is committed

    def run(self, jobs: deque[Job], seconds: float = math.inf) -> None:
        """Run waiting steps, for so long at most."""
        try:
            self._run(jobs, seconds)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            self._fail(translate(error))

    def commit(self) -> None:
        """Return when everything is on disk."""
        if not self._failed:
            try:
                self._transaction.commit()
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(translate(error))

    def _run(self, jobs: deque[Job], seconds: float) -> None:
        transaction, taken, callbacks = self._transaction, self._taken, self.callbacks
        deadline = time.monotonic() + seconds
        step, done = jobs.popleft()
        taken.append(done)
        transaction.begin()
        while True:
            callbacks.append(run_step(transaction, step, done))
            if not jobs or len(taken) >= STEPS_MAX or transaction.pending_bytes >= STEPS_BYTES_MAX:
                break
            if time.monotonic() > deadline:
                break
            step, done = jobs.popleft()
            taken.append(done)

    def _fail(self, error: StorageError) -> None:
        """Undo a commit that went wrong; none of its steps may be acknowledged."""
        log.error("commit failed, %d steps undone: %s", len(self._taken), error)
        self._failed = True
        try:
            self._transaction.rollback()
        except apsw.Error as again:
            log.error("rollback failed: %s", again)
        # Each waiter raises its own, so that their tracebacks stay apart.
        self.callbacks = [partial(done, None, type(error)(*error.args)) for done in self._taken]


def run_step(
    transaction: WriteTransaction, step: Callable[[Transaction], Any], done: Done[Any]
) -> Callable[[], None]:
    """Run one step, keep or forget its writes, and give its callback for after the commit."""
    try:
        result = step(transaction)
    except apsw.Error as error:
        if is_fault(error):
            raise
        transaction.discard()
        return partial(done, None, translate(error))
    except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
        transaction.discard()
        return partial(done, None, error)
    transaction.accept()
    return partial(done, result, None)
