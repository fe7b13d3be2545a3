"""The steps that share one commit: run one after the other, and told of its outcome together."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from typing import Any, Protocol

import apsw

from hashrange import logs
from hashrange.core.errors import forget_frames
from hashrange.storage.engine import Done, Transaction
from hashrange.storage.errors import Corrupt, DiskFull, StorageError
from hashrange.storage.sqlite.background_sync import Rows
from hashrange.storage.sqlite.faults import is_fault, translate
from hashrange.storage.sqlite.transaction import WriteTransaction

log = logs.Log("storage.sqlite")

# A commit takes in steps until the queue is empty or it reaches one of these; the rest goes into the next commit.
STEPS_MAX = 512
STEPS_BYTES_MAX = 8 * 1024 * 1024

Remedy = Callable[[], bool]
"""Wins some space on a full disk, or gives False."""

QueuedStep = tuple[Callable[[Transaction], Any], Done[Any]]


class LogLength(Protocol):
    """What keeps the write-ahead log short."""

    @property
    def must_wait(self) -> bool:
        """Whether the next commit has to wait for room in the log."""

    def make_room(self) -> None:
        """Wait for it."""

    def remedies(self, *, frees_space: bool) -> list[Remedy]:
        """What can be done about a full disk for a step, in this order."""


def commit_steps(
    transaction: WriteTransaction,
    queue: deque[QueuedStep],
    seconds_max: float = math.inf,
    log_length: LogLength | None = None,
    remedies: list[Remedy] | None = None,
) -> list[Callable[[], None]]:
    """Run queued steps for at most so long, commit them, and give their callbacks, which are to be called now.

    A step that meets damaged pages spoils its commit. Then each half of the steps gets a commit of its own, and so on,
    so that in the end only that step fails. If the disk is full, the log is emptied, and the steps are run again. A
    step that frees space gets a commit of its own then, because it may use the reserve, and the others may not.
    """
    group = CommitGroup(transaction)
    group.run(queue, seconds_max, log_length)
    group.commit()
    return settle(group, transaction, log_length, remedies)


def settle(
    group: "CommitGroup",
    transaction: WriteTransaction,
    log_length: LogLength | None,
    remedies: list[Remedy] | None = None,
) -> list[Callable[[], None]]:
    """Give the callbacks of a commit that was made, or of those that are made instead of one that failed."""
    is_full = isinstance(group.error, DiskFull)
    if len(group.steps) > 1 and (isinstance(group.error, Corrupt) or (is_full and transaction.frees_space)):
        middle = len(group.steps) // 2
        return _commit_parts(transaction, (group.steps[:middle], group.steps[middle:]), log_length)
    if is_full and log_length is not None:
        if remedies is None:
            remedies = log_length.remedies(frees_space=transaction.frees_space)
        while remedies:
            if remedies.pop(0)():
                return _commit_parts(transaction, (group.steps,), log_length, remedies)
    if group.error is not None and not isinstance(group.error, Corrupt):
        transaction.outage.failed(str(group.error))
    return group.callbacks


def _commit_parts(
    transaction: WriteTransaction,
    parts: Iterable[list[QueuedStep]],
    log_length: LogLength | None,
    remedies: list[Remedy] | None = None,
) -> list[Callable[[], None]]:
    callbacks: list[Callable[[], None]] = []
    for part in parts:
        queue = deque(part)
        while queue:
            callbacks += commit_steps(transaction, queue, log_length=log_length, remedies=remedies)
    return callbacks


class CommitGroup:
    """One commit and the steps in it."""

    __slots__ = ("_transaction", "callbacks", "error", "is_undone", "steps")

    def __init__(self, transaction: WriteTransaction) -> None:
        self._transaction = transaction
        self.steps: list[QueuedStep] = []
        self.error: StorageError | None = None  # why it failed
        self.is_undone = False  # it did not come off elsewhere: its steps are to be queued again
        self.callbacks: list[Callable[[], None]] = []  # to be called after the commit

    def run(
        self,
        queue: deque[QueuedStep],
        seconds_max: float = math.inf,
        log_length: LogLength | None = None,
        *,
        unsynced: bool = False,
    ) -> None:
        """Run queued steps, at least one."""
        self.steps.append(queue.popleft())
        try:
            if log_length is not None and log_length.must_wait:
                log_length.make_room()
            self._run(queue, seconds_max, unsynced=unsynced)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            self.fail(error)

    def commit(self) -> None:
        """Return when everything is on disk."""
        if self.error is None:
            try:
                alone = len(self.steps) == 1
                self._transaction.commit(from_reserve=alone and self._transaction.frees_space)
            except Exception as error:  # noqa: BLE001 - as above
                self.fail(error)

    @property
    def has_writes(self) -> bool:
        """Whether there is anything to commit."""
        return self.error is None and self._transaction.has_writes

    def commit_unsynced(self) -> bool:
        """Commit without waiting for the disk; `synced` or `not_synced` is to follow. False if that fails."""
        try:
            alone = len(self.steps) == 1
            self._transaction.commit_unsynced(from_reserve=alone and self._transaction.frees_space)
        except Exception as error:  # noqa: BLE001 - as above
            self.fail(error)
        return self.error is None

    def has_plain_rows(self, at_least: int) -> bool:
        """Whether there are so many rows to store that somebody else can do it."""
        return self._transaction.has_plain_rows(at_least)

    def hand_over_rest(self) -> Rows | None:
        """Leave storing its rows and the commit to somebody else; None if that cannot be."""
        try:
            alone = len(self.steps) == 1
            return self._transaction.hand_over_rest(from_reserve=alone and self._transaction.frees_space)
        except Exception as error:  # noqa: BLE001 - as above
            self.fail(error)
        return None

    def undo(self, *, is_doubtful: bool) -> None:
        """Take back a commit that did not come off elsewhere; if it is doubtful, the cache is emptied as well."""
        self.is_undone = True
        self._roll_back()
        cache = self._transaction.cache
        if is_doubtful and cache is not None:
            cache.fail_commit()

    def synced(self, seconds: float, release: Callable[[], None]) -> None:
        """The commit is on disk; `release` lets readers see it."""
        self._transaction.synced(seconds, release)

    def not_synced(self, error: StorageError, release: Callable[[], None]) -> None:
        """The disk has failed: none of the steps may be acknowledged, though readers will see what they wrote."""
        self._transaction.not_synced(release)
        self.error = error
        self.callbacks = [partial(done, None, copy(error)) for _, done in self.steps]

    def _run(self, queue: deque[QueuedStep], seconds_max: float, *, unsynced: bool) -> None:
        transaction, steps, callbacks = self._transaction, self.steps, self.callbacks
        deadline = time.monotonic() + seconds_max
        transaction.begin(unsynced=unsynced)
        while True:
            callbacks.append(run_step(transaction, *steps[-1]))
            if not queue or len(steps) >= STEPS_MAX or transaction.pending_bytes >= STEPS_BYTES_MAX:
                break
            if time.monotonic() > deadline:
                break
            steps.append(queue.popleft())

    def fail(self, fault: Exception) -> None:
        """Roll back a commit that failed; none of its steps may be acknowledged."""
        if isinstance(fault, apsw.Error):
            self._transaction.locate(fault)
        error = translate(fault)
        self.error = error = self._transaction.explained(error)
        self._roll_back()
        # Every step gets an error of its own, so that their tracebacks stay apart.
        self.callbacks = [partial(done, None, copy(error)) for _, done in self.steps]

    def _roll_back(self) -> None:
        try:
            self._transaction.rollback()
        except apsw.Error as error:
            log.error("rollback.failed", reason=str(error))


def run_step(
    transaction: WriteTransaction, step: Callable[[Transaction], Any], done: Done[Any]
) -> Callable[[], None]:
    """Run one step, keep or discard its writes, and give its callback for after the commit."""
    try:
        result = step(transaction)
        if transaction.appends:
            transaction.end_step()
    except apsw.Error as error:
        if is_fault(error):
            raise
        transaction.discard()
        return partial(done, None, translate(error))
    except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
        transaction.discard()
        forget_frames(error)
        return partial(done, None, error)
    transaction.accept()
    return partial(done, result, None)
