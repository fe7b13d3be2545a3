"""Group commit: who runs the steps that wait, and when.

Python runs on one thread at a time, and two threads that keep taking its lock from each other lose more than they win.
So the steps of an event loop are run and committed on its own thread, at the end of a turn that brought no more of
them, as long as the disk is quick (see `pace`). Otherwise, and for all other threads, there is the writer thread.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from hashrange.storage.delivery import run_callbacks, run_inline
from hashrange.storage.engine import Deliver, Done, Soon, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite.group import STEPS_MAX, Group, Job
from hashrange.storage.sqlite.pace import Pace
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.turn import Turn

WRITER_SECONDS_MAX = 0.025  # that a commit's steps may take altogether
LOOP_SECONDS_MAX = 0.005  # the same on an event loop, whose other clients wait meanwhile

Chore = Callable[[], None]


class Committer:
    """The only writer of a data file."""

    def __init__(
        self,
        transaction: WriteTransaction,
        deliver: Deliver,
        turn: Turn,
        soon: Soon | None = None,
    ) -> None:
        """Start the writer thread; it takes a turn for all that it does to the file.

        `soon` is that of the event loop on this thread. Without it the writer thread makes all commits.
        """
        self._turn = turn
        self._transaction = transaction
        self._deliver = deliver
        self._soon = soon
        self._home = threading.get_ident()
        self._pace = Pace()
        self._due = False  # the loop is going to look at the jobs
        self._seen = 0  # how many there were when it last did
        self._since = 0.0  # when it saw the first of them
        self._jobs: deque[Job] = deque()
        self._chores: deque[Chore] = deque()
        self._lock = threading.Lock()
        self._asleep = False
        self._bell = threading.Lock()
        self._bell.acquire()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hashrange-writer", daemon=True)
        self._thread.start()

    def submit(self, step: Callable[[Transaction], Any], done: Done[Any], *, waiting: bool = False) -> None:
        """Queue a step for the next commit; a thread that is `waiting` for it cannot make that itself."""
        with self._lock:
            if not self._closing:
                self._jobs.append((step, done))
                if self._soon is not None and not waiting and threading.get_ident() == self._home:
                    self._look_again(self._soon)
                else:
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

    # On the event loop.

    def _look_again(self, soon: Soon) -> None:
        if not self._due:
            self._due = True
            soon(self._end_of_turn)

    def _end_of_turn(self) -> None:
        """Commit what waits, unless it is worth waiting for more, or have the writer do it."""
        self._due = False
        if not self._jobs or self._soon is None:
            self._seen = 0
            return
        if self._more_may_come():
            self._look_again(self._soon)
            return
        self._seen = 0
        if not self._pace.is_loops() or not self._turn.claim():
            with self._lock:
                self._wake()
            return
        try:
            callbacks = self._commit(LOOP_SECONDS_MAX)
            self._pace.took(self._transaction.sync_seconds, self._transaction.rows)
        finally:
            self._turn.give_back()
        run_inline(callbacks)
        if self._jobs:
            self._look_again(self._soon)

    def _more_may_come(self) -> bool:
        """Whether this turn brought new steps, so that the next may too; none waits longer than the disk takes."""
        seen, self._seen = self._seen, len(self._jobs)
        now = time.monotonic()
        if not seen:
            self._since = now
        return seen < self._seen < STEPS_MAX and now - self._since <= self._transaction.sync_seconds

    # On the writer thread.

    def _run(self) -> None:
        while self._wait():
            if self._chores:
                with self._turn:
                    self._chores.popleft()()
            if self._jobs:
                with self._turn:
                    callbacks = self._commit(WRITER_SECONDS_MAX)
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

    # On either.

    def _commit(self, seconds: float) -> list[Callable[[], None]]:
        """Run waiting steps, for so long, in one transaction and give their callbacks, to be called now."""
        group = Group(self._transaction)
        if self._jobs:
            group.run(self._jobs, seconds)
            group.commit()
        return group.callbacks
