"""Running steps in a transaction, and telling their waiters what came of it."""

import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import apsw

from hashrange.storage.engine import Deliver, Done, Transaction
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logging.getLogger(__name__)

# A commit takes in steps until none waits or one of these is reached; what is left goes into the next.
STEPS_MAX = 512
STEPS_BYTES_MAX = 8 * 1024 * 1024

Job = tuple[Callable[[Transaction], Any], Done[Any]]
Callback = Callable[[], None]


def run_steps(
    transaction: WriteTransaction, jobs: deque[Job], taken: list[Done[Any]], *, seconds_max: float
) -> list[Callback]:
    """Run waiting steps in one transaction, which is left open, and give their callbacks for after its commit.

    `taken` is filled with the steps that are in it, for whoever has to tell them that it failed.
    """
    outcomes: list[Callback] = []
    deadline = time.monotonic() + seconds_max
    step, done = jobs.popleft()
    taken.append(done)
    transaction.begin()
    while True:
        outcomes.append(run_step(transaction, step, done))
        if not jobs or len(taken) >= STEPS_MAX or transaction.pending_bytes >= STEPS_BYTES_MAX:
            break
        if time.monotonic() > deadline:
            break
        step, done = jobs.popleft()
        taken.append(done)
    transaction.flush()
    return outcomes


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


def fail_all(
    transaction: WriteTransaction, taken: list[Done[Any]], error: StorageError
) -> list[Callable[[], None]]:
    """Undo a commit that went wrong; none of its steps may be acknowledged."""
    log.error("commit failed, %d steps undone: %s", len(taken), error)
    try:
        transaction.rollback()
    except apsw.Error as again:
        log.error("rollback failed: %s", again)
    # Each waiter raises its own, so that their tracebacks stay apart.
    return [partial(done, None, type(error)(*error.args)) for done in taken]


def run_callbacks(deliver: Deliver, callbacks: list[Callable[[], None]]) -> None:
    """Hand over callbacks; trouble on the other side must not stop the writer."""
    try:
        deliver(callbacks)
    except Exception:
        log.exception("callbacks could not be delivered")


def run_inline(callbacks: list[Callable[[], None]]) -> None:
    """Deliver by calling, one after the other, on this thread."""
    for callback in callbacks:
        try:
            callback()
        except Exception:
            log.exception("a callback raised")
