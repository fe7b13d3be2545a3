"""Group commit: one thread that runs queued steps and shares each commit among those that wait."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import apsw

from hashrange.storage.engine import Deliver, Done, Transaction
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logging.getLogger(__name__)

# A commit takes in steps until none waits or one of these is reached; what is left goes into the next.
STEPS_MAX = 512
STEPS_SECONDS_MAX = 0.025
STEPS_BYTES_MAX = 8 * 1024 * 1024

Job = tuple[Callable[[Transaction], Any], Done[Any]]
Chore = Callable[[], None]


class Committer:
    """The only writer of a data file."""

    def __init__(
        self, transaction: WriteTransaction, deliver: Deliver, turn: AbstractContextManager[None]
    ) -> None:
        """Start the writer thread; it takes a turn for all that it does to the file."""
        self._turn = turn
        self._transaction = transaction
        self._deliver = deliver
        self._jobs: deque[Job] = deque()
        self._chores: deque[Chore] = deque()
        self._lock = threading.Lock()
        self._asleep = False
        self._bell = threading.Lock()
        self._bell.acquire()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hashrange-writer", daemon=True)
        self._thread.start()

    def submit(self, step: Callable[[Transaction], Any], done: Done[Any]) -> None:
        """Queue a step for the next commit."""
        with self._lock:
            if not self._closing:
                self._jobs.append((step, done))
                self._wake()
                return
        done(None, Closed("the engine is closed"))

    def interject(self, chore: Chore) -> bool:
        """Have the writer thread do something between two commits, unless it is closing."""
        with self._lock:
            if not self._closing:
                self._chores.append(chore)
                self._wake()
            return not self._closing

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        with self._lock:
            self._closing = True
            self._wake()
        self._thread.join()

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            self._bell.release()

    def _run(self) -> None:
        while self._wait():
            if self._chores:
                with self._turn:
                    self._chores.popleft()()
            if self._jobs:
                with self._turn:
                    callbacks = self._commit()
                run_callbacks(self._deliver, callbacks)

    def _wait(self) -> bool:
        """Sleep until there is work; False when there will be none."""
        if self._jobs or self._chores:
            return True
        with self._lock:
            if self._jobs or self._chores:
                return True
            if self._closing:
                return False
            self._asleep = True
        self._bell.acquire()
        return True

    def _commit(self) -> list[Callable[[], None]]:
        """Run waiting steps in one transaction and give their callbacks, to be called now."""
        taken: list[Done[Any]] = []
        try:
            return self._commit_steps(taken)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            return fail_all(self._transaction, taken, translate(error))

    def _commit_steps(self, taken: list[Done[Any]]) -> list[Callable[[], None]]:
        outcomes: list[Callable[[], None]] = []
        transaction, jobs = self._transaction, self._jobs
        deadline = time.monotonic() + STEPS_SECONDS_MAX
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
        transaction.commit()
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
