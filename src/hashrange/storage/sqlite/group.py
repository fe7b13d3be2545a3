"""The steps that share one commit: run one after the other, and told of its outcome together."""

import math
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import apsw

from hashrange import logs
from hashrange.storage.engine import Done, Transaction
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logs.Log("storage.sqlite")

# A commit takes in steps until the queue is empty or it reaches one of these; the rest goes into the next commit.
STEPS_MAX = 512
STEPS_BYTES_MAX = 8 * 1024 * 1024

QueuedStep = tuple[Callable[[Transaction], Any], Done[Any]]


class CommitGroup:
    """One commit and the steps in it."""

    __slots__ = ("_dones", "_failed", "_transaction", "callbacks")

    def __init__(self, transaction: WriteTransaction) -> None:
        self._transaction = transaction
        self._dones: list[Done[Any]] = []
        self._failed = False
        self.callbacks: list[Callable[[], None]] = []  # to be called after the commit

    def run(self, queue: deque[QueuedStep], seconds_max: float = math.inf) -> None:
        """Run queued steps, at least one."""
        try:
            self._run(queue, seconds_max)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            self._fail(translate(error))

    def commit(self) -> None:
        """Return when everything is on disk."""
        if not self._failed:
            try:
                self._transaction.commit()
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(translate(error))

    def _run(self, queue: deque[QueuedStep], seconds_max: float) -> None:
        transaction, dones, callbacks = self._transaction, self._dones, self.callbacks
        deadline = time.monotonic() + seconds_max
        step, done = queue.popleft()
        dones.append(done)
        transaction.begin()
        while True:
            callbacks.append(run_step(transaction, step, done))
            if not queue or len(dones) >= STEPS_MAX or transaction.pending_bytes >= STEPS_BYTES_MAX:
                break
            if time.monotonic() > deadline:
                break
            step, done = queue.popleft()
            dones.append(done)

    def _fail(self, error: StorageError) -> None:
        """Roll back a commit that failed; none of its steps may be acknowledged."""
        log.error("commit.failed", steps=len(self._dones), reason=str(error))
        self._failed = True
        try:
            self._transaction.rollback()
        except apsw.Error as rollback_error:
            log.error("rollback.failed", reason=str(rollback_error))
        # Every step gets an error of its own, so that their tracebacks stay apart.
        self.callbacks = [partial(done, None, type(error)(*error.args)) for done in self._dones]


def run_step(
    transaction: WriteTransaction, step: Callable[[Transaction], Any], done: Done[Any]
) -> Callable[[], None]:
    """Run one step, keep or discard its writes, and give its callback for after the commit."""
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
