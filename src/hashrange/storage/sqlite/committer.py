"""Group commit: which thread runs the queued steps, and when.

Python runs one thread at a time, and two threads that keep taking the interpreter's lock from each other lose more
than they win. So the event loop runs and commits its steps on its own thread, at the end of an iteration that brought
no new ones, as long as the disk is fast (see `commit_placement`). Otherwise, and for all other threads, the writer
thread does it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from hashrange.storage.delivery import run_callbacks, run_inline
from hashrange.storage.engine import CallSoon, Deliver, Done, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite.commit_placement import CommitPlacement
from hashrange.storage.sqlite.group import (
    STEPS_MAX,
    CommitGroup,
    LogLength,
    QueuedStep,
    commit_steps,
    settle,
)
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.unsynced import RELEASE_SECONDS, ROWS_MIN, UnsyncedCommit
from hashrange.storage.sqlite.write_lock import WriteLock

WRITER_SECONDS_MAX = 0.025  # that the steps of one commit may take together
TURN_SECONDS = 0.05  # that the writer thread waits for the write lock before it looks who has it
LOOP_SECONDS_MAX = 0.005  # the same on an event loop, whose other clients wait meanwhile

Task = Callable[[], None]


class Committer:
    """The only writer of a data file."""

    def __init__(
        self,
        transaction: WriteTransaction,
        deliver: Deliver,
        write_lock: WriteLock,
        log: LogLength,
        call_soon: CallSoon | None = None,
        unsynced: UnsyncedCommit | None = None,
    ) -> None:
        """Start the writer thread; it holds the write lock for all that it does to the file.

        `call_soon` is that of the event loop on this thread. Without it the writer thread makes all commits. With
        `unsynced` the loop's commits do not wait for the disk; its `wakeups` are to call `sync_over`.
        """
        self._unsynced = unsynced
        self._write_lock = write_lock
        self._log = log
        self._transaction = transaction
        self._deliver = deliver
        self._call_soon = call_soon
        self._loop_thread = threading.get_ident()
        self._placement = CommitPlacement()
        self._check_scheduled = False  # on the loop
        self._steps_at_last_check = 0
        self._first_check_at = 0.0  # of those since the last commit
        self._is_undone = False  # the steps of a commit that did not come off are in the queue again
        self._steps_wanted = STEPS_MAX  # for the next commit; fewer if the last one was large
        self._steps: deque[QueuedStep] = deque()
        self._tasks: deque[Task] = deque()
        self._lock = threading.Lock()
        self._asleep = False
        self._wakeup = threading.Lock()  # held while the writer thread sleeps; cheaper than an Event
        self._wakeup.acquire()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hashrange-writer", daemon=True)
        self._thread.start()

    def submit(
        self, step: Callable[[Transaction], Any], done: Done[Any], *, will_block: bool = False
    ) -> None:
        """Queue a step for the next commit; a thread that `will_block` until then cannot make the commit itself."""
        with self._lock:
            if not self._closing:
                self._steps.append((step, done))
                if (
                    self._call_soon is not None
                    and not will_block
                    and threading.get_ident() == self._loop_thread
                ):
                    self._schedule_check(self._call_soon)
                else:
                    self._wake_writer()
                return
        done(None, Closed("the engine is closed"))

    def run_between_commits(self, task: Task) -> bool:
        """Queue a task for the writer thread to run between two commits; False if the committer is closing."""
        with self._lock:
            if not self._closing:
                self._tasks.append(task)
                self._wake_writer()
            return not self._closing

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        with self._lock:
            self._closing = True
            self._wake_writer()
        self._thread.join()
        self.finish_unsynced()
        while self._steps:  # those of a commit that did not come off
            self._commit_in_turn()

    def _wake_writer(self) -> None:
        if self._asleep:
            self._asleep = False
            self._wakeup.release()

    # On the event loop.

    def _schedule_check(self, call_soon: CallSoon) -> None:
        if not self._check_scheduled:
            self._check_scheduled = True
            call_soon(self._check_queue)

    def _check_queue(self) -> None:
        """Commit the queued steps or have the writer thread do it, unless it is worth waiting for more."""
        self._check_scheduled = False
        if self._unsynced is not None and self._unsynced.number and not self._tasks:
            return  # its end looks at the queue again
        if not self._steps or self._call_soon is None:
            self._steps_at_last_check = 0
            return
        if self._worth_waiting():
            self._schedule_check(self._call_soon)
            return
        self._steps_at_last_check = 0
        # What the writer thread does between commits may take long, and must get its turn.
        on_loop = not self._tasks and not self._log.must_wait
        on_loop = on_loop and (self._unsynced is not None or self._placement.on_loop())
        if not on_loop or not self._write_lock.try_acquire():
            with self._lock:
                self._wake_writer()
            return
        unsynced = self._unsynced
        if unsynced is not None and self._beside_loop(unsynced):
            self._commit_unsynced(unsynced)
            return
        steps = len(self._steps)
        try:
            callbacks = self._commit(LOOP_SECONDS_MAX)
            steps -= len(self._steps)
            if unsynced is None:
                self._placement.observe(self._transaction.sync_seconds, self._transaction.rows)
            else:
                unsynced.placement.observe_inline(self._transaction.sync_seconds)
                self._learn(unsynced, steps)
        finally:
            self._write_lock.release()
        run_inline(callbacks)
        if self._steps:
            self._schedule_check(self._call_soon)

    def _beside_loop(self, unsynced: UnsyncedCommit) -> bool:
        """Whether another thread syncs the next commit, and makes it if it is large."""
        if self._is_undone:
            return False
        return self._steps_wanted < STEPS_MAX or unsynced.placement.in_background()

    def _commit_unsynced(self, unsynced: UnsyncedCommit) -> None:
        """Run the queued steps and commit them; who waits for the disk is not this thread."""
        group = CommitGroup(self._transaction)
        is_under_way = False
        try:
            group.run(self._steps, LOOP_SECONDS_MAX, self._log, unsynced=True)
            is_under_way = group.has_writes and unsynced.begin(group)
            self._learn(unsynced, len(group.steps))
            if is_under_way:
                return  # with the write lock
            if group.error is None:
                group.commit()
            callbacks = settle(group, self._transaction, self._log)
        finally:
            if not is_under_way:
                self._write_lock.release()
        run_inline(callbacks)
        if self._steps and self._call_soon is not None:
            self._schedule_check(self._call_soon)

    def _learn(self, unsynced: UnsyncedCommit, steps: int) -> None:
        """Note how many steps like these make a commit that another thread makes: with so many it need not wait."""
        rows = self._transaction.rows
        self._steps_wanted = -(-ROWS_MIN * steps // rows) if unsynced.makes(rows) else STEPS_MAX

    def sync_over(self) -> None:
        """Look whether the commit that was not synced is on disk by now; on the event loop's thread."""
        unsynced = self._unsynced
        if unsynced is None:
            return
        if unsynced.is_over():
            run_inline(self._end_unsynced(unsynced))
        if not unsynced.number:
            unsynced.unpin()
        if self._steps and self._call_soon is not None:
            self._schedule_check(self._call_soon)

    def _end_unsynced(self, unsynced: UnsyncedCommit) -> list[Callable[[], None]]:
        """The callbacks of the commit that was not synced, when it is; none if another thread has taken them."""
        group = unsynced.end()
        if group is None:
            return []
        if group.is_undone:
            # First in the queue, for a commit like all others: before that the loop ends its snapshot of the log, which
            # could not be emptied on a full disk.
            self._steps.extendleft(reversed(group.steps))
            self._is_undone = True
        self._write_lock.release()
        if group.error is not None:
            self._transaction.outage.failed(str(group.error))
        return group.callbacks if not group.is_undone else []

    def finish_unsynced(self) -> None:
        """Wait for the commit that is not synced, and deliver its callbacks: the loop may wait for this thread."""
        unsynced = self._unsynced
        if unsynced is None:
            return
        number = unsynced.number
        while number and unsynced.number == number:
            callbacks = self._end_unsynced(unsynced)
            if callbacks or self._is_undone:
                unsynced.wake_loop()
                run_callbacks(self._deliver, callbacks)
                return
            # Another thread is making it, or is ending it: that is not over before readers may see it.
            time.sleep(RELEASE_SECONDS)

    def _take_turn(self) -> None:
        """Take the write lock on the writer thread, after the commit that is not synced if there is one."""
        self.finish_unsynced()
        while not self._write_lock.acquire_within(TURN_SECONDS):
            self.finish_unsynced()

    def _worth_waiting(self) -> bool:
        """Whether this iteration brought new steps, so that the next may too; no step waits longer than a sync."""
        before, self._steps_at_last_check = self._steps_at_last_check, len(self._steps)
        now = time.monotonic()
        if not before:
            self._first_check_at = now
        is_growing = before < self._steps_at_last_check < self._steps_wanted
        return is_growing and now - self._first_check_at <= self._transaction.sync_seconds

    # On the writer thread.

    def _run(self) -> None:
        while self._wait():
            if self._tasks:
                self._take_turn()
                try:
                    self._tasks.popleft()()
                finally:
                    self._write_lock.release()
            if self._steps:
                self._commit_in_turn()

    def _commit_in_turn(self) -> None:
        self._take_turn()
        try:
            callbacks = self._commit(WRITER_SECONDS_MAX)
        finally:
            self._write_lock.release()
        run_callbacks(self._deliver, callbacks)

    def _wait(self) -> bool:
        """Sleep until there is work; False when there will be none."""
        if self._steps or self._tasks:
            return True
        with self._lock:
            if self._steps or self._tasks:
                return True
            if self._closing:
                return False
            self._asleep = True
        self._wakeup.acquire()
        return True

    # On either thread.

    def _commit(self, seconds_max: float) -> list[Callable[[], None]]:
        self._is_undone = False
        return commit_steps(self._transaction, self._steps, seconds_max, self._log) if self._steps else []
