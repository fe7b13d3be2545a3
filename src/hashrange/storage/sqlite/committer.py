"""Group commit: queued steps run in one transaction, and all that wait share its commit.

Steps run on a thread of their own, or, given a home, on the thread that submits them there: two threads that run
Python side by side only wait for each other. Then the thread does no more than wait for the disk. Whoever uses the
connection holds it, and passes it on.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from hashrange.storage.engine import Deliver, Done, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.steps import Callback, Job, fail_all, run_callbacks, run_inline, run_steps
from hashrange.storage.sqlite.transaction import WriteTransaction

STEPS_SECONDS_MAX = 0.025
NEAR_SECONDS_MAX = 0.01  # what else the home thread has to do must not wait for longer

Soon = Callable[[Callback], object]
"""Has something done on the home thread, when that has nothing better to do. To be called there only."""

_FREE, _THREAD, _HOME = range(3)


class Committer:
    """The only writer of a data file."""

    def __init__(
        self,
        transaction: WriteTransaction,
        deliver: Deliver,
        turn: AbstractContextManager[None],
        soon: Soon | None = None,
    ) -> None:
        """Start the writer thread; it takes a turn for all that it does to the file.

        With `soon` the calling thread is home; `deliver` has to bring callbacks there.
        """
        self._turn = turn
        self._transaction = transaction
        self._deliver = deliver
        self._soon = soon
        self._home = None if soon is None else threading.get_ident()
        self._near: deque[Job] = deque()  # only the home thread takes from it
        self._scheduled = False
        self._ready: tuple[list[Callback], list[Done[Any]]] | None = None
        self._jobs: deque[Job] = deque()
        self._chores: deque[Callback] = deque()
        self._lock = threading.Lock()
        self._holder = _FREE
        self._asleep = False
        self._bell = threading.Lock()
        self._bell.acquire()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hashrange-writer", daemon=True)
        self._thread.start()

    def submit(self, step: Callable[[Transaction], Any], done: Done[Any]) -> None:
        """Queue a step for the next commit."""
        if self._home == threading.get_ident() and not self._closing:
            self._near.append((step, done))
            self._schedule()
        else:
            self.submit_far(step, done)

    def submit_far(self, step: Callable[[Transaction], Any], done: Done[Any]) -> None:
        """Queue a step for the thread, whoever asks."""
        with self._lock:
            if not self._closing:
                self._jobs.append((step, done))
                self._wake()
                return
        done(None, Closed("the engine is closed"))

    def interject(self, chore: Callback) -> bool:
        """Have the writer thread do something between two commits, unless it is closing."""
        with self._lock:
            if not self._closing:
                self._chores.append(chore)
                self._wake()
            return not self._closing

    def close(self) -> None:
        """Finish everything queued and end the thread; where there is a home, to be called there."""
        with self._lock:
            self._closing = True
            self._jobs.extend(self._near)
            self._near.clear()
            if self._holder == _HOME and self._ready is None:
                self._holder = _FREE
            self._wake()
        self._thread.join()

    # On the home thread.

    def _schedule(self) -> None:
        if self._soon is not None and not self._scheduled:
            self._scheduled = True
            self._soon(self._begin)

    def _begin(self) -> None:
        """Run the steps that were submitted here, if nobody else is at it; whoever is calls `_go_on` afterwards."""
        self._scheduled = False
        with self._lock:
            if not self._near or self._holder != _FREE:
                return
            self._holder = _HOME
        self._go_on()

    def _go_on(self) -> None:
        """Run steps, holding the connection, and leave the commit to the thread."""
        if not self._near:  # closing has given them to the thread
            return
        taken: list[Done[Any]] = []
        try:
            outcomes = run_steps(self._transaction, self._near, taken, seconds_max=NEAR_SECONDS_MAX)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            outcomes = fail_all(self._transaction, taken, translate(error))
            with self._lock:
                self._holder = _FREE
                self._wake()
            run_inline(outcomes)
            if self._near:
                self._schedule()
            return
        with self._lock:
            self._ready = outcomes, taken
            self._wake()

    # On the writer thread.

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            self._bell.release()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            callbacks = work()
            callbacks += self._pass_on(after_near=work == self._commit_near)
            if callbacks:
                run_callbacks(self._deliver, callbacks)

    def _next(self) -> Callable[[], list[Callback]] | None:
        """Sleep until there is work, and hold the connection; None when there will be no more."""
        while True:
            with self._lock:
                if self._ready is not None:
                    return self._commit_near
                if self._holder != _HOME:
                    if self._chores or self._jobs:
                        self._holder = _THREAD
                        return self._run_chore if self._chores else self._commit_far
                    if self._closing:
                        return None
                self._asleep = True
            self._bell.acquire()

    def _pass_on(self, *, after_near: bool) -> list[Callback]:
        """Let go of the connection: home and the thread have it in turn where both want it."""
        with self._lock:
            if self._near and not (after_near and (self._jobs or self._chores)):
                self._holder = _HOME
                return [self._go_on]
            self._holder = _FREE
            return []

    def _run_chore(self) -> list[Callback]:
        with self._turn:
            self._chores.popleft()()
        return []

    def _commit_far(self) -> list[Callback]:
        """Run the steps that wait for the thread, and commit."""
        taken: list[Done[Any]] = []
        with self._turn:
            try:
                outcomes = run_steps(self._transaction, self._jobs, taken, seconds_max=STEPS_SECONDS_MAX)
                self._transaction.commit()
            except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
                return fail_all(self._transaction, taken, translate(error))
        return outcomes

    def _commit_near(self) -> list[Callback]:
        """Commit what was run at home."""
        outcomes, taken = self._ready or ([], [])
        self._ready = None
        try:
            self._transaction.commit()
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            return fail_all(self._transaction, taken, translate(error))
        return outcomes
