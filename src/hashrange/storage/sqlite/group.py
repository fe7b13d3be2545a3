"""The steps that share one commit: run one after the other, and told of its outcome together."""

import math
import time
from collections import deque
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import apsw

from hashrange import logs
from hashrange.storage.engine import Done, Transaction
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logs.Log("storage.sqlite")

# A commit takes in steps until the queue is empty or it reaches one of these; the rest goes into the next commit.
STEPS_MAX = 512
STEPS_BYTES_MAX = 8 * 1024 * 1024

QueuedStep = tuple[Callable[[Transaction], Any], Done[Any]]


def commit_steps(
    transaction: WriteTransaction, queue: deque[QueuedStep], seconds_max: float = math.inf
) -> list[Callable[[], None]]:
    """Run queued steps for at most so long, commit them, and give their callbacks, which are to be called now.

    A step that meets damaged pages spoils its commit. Then each half of the steps gets a commit of its own, and so on,
    so that in the end only that step fails.
    """
    group = CommitGroup(transaction)
    group.run(queue, seconds_max)
    group.commit()
    if not isinstance(group.error, Corrupt) or len(group.steps) == 1:
        return group.callbacks
    middle = len(group.steps) // 2
    callbacks: list[Callable[[], None]] = []
    for half in (deque(group.steps[:middle]), deque(group.steps[middle:])):
        while half:
            callbacks += commit_steps(transaction, half)
    return callbacks


class CommitGroup:
    """One commit and the steps in it."""

    __slots__ = ("_transaction", "callbacks", "error", "steps")

    def __init__(self, transaction: WriteTransaction) -> None:
        self._transaction = transaction
        self.steps: list[QueuedStep] = []
        self.error: StorageError | None = None  # why it failed
        self.callbacks: list[Callable[[], None]] = []  # to be called after the commit

    def run(self, queue: deque[QueuedStep], seconds_max: float = math.inf) -> None:
        """Run queued steps, at least one."""
        try:
            self._run(queue, seconds_max)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            self._fail(translate(error))

    def commit(self) -> None:
        """Return when everything is on disk."""
        if self.error is None:
            try:
                self._transaction.commit()
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(translate(error))

    def _run(self, queue: deque[QueuedStep], seconds_max: float) -> None:
        transaction, steps, callbacks = self._transaction, self.steps, self.callbacks
        deadline = time.monotonic() + seconds_max
        steps.append(queue.popleft())
        transaction.begin()
        while True:
            callbacks.append(run_step(transaction, *steps[-1]))
            if not queue or len(steps) >= STEPS_MAX or transaction.pending_bytes >= STEPS_BYTES_MAX:
                break
            if time.monotonic() > deadline:
                break
            steps.append(queue.popleft())

    def _fail(self, error: StorageError) -> None:
        """Roll back a commit that failed; none of its steps may be acknowledged."""
        self.error = error
        self._transaction.outage.failed(str(error))
        try:
            self._transaction.rollback()
        except apsw.Error as rollback_error:
            log.error("rollback.failed", reason=str(rollback_error))
        # Every step gets an error of its own, so that their tracebacks stay apart.
        self.callbacks = [partial(done, None, copy(error)) for _, done in self.steps]


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
