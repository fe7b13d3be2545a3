"""Group commit: a thread that runs queued steps in batches, each batch one transaction."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hashrange.core.errors import forget_frames
from hashrange.logs import Log
from hashrange.storage.batch_worker import BatchWorker
from hashrange.storage.delivery import Callbacks, run_callbacks
from hashrange.storage.engine import Deliver, Done, Transaction
from hashrange.storage.errors import Conflict, StorageError, Unavailable
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.backoff import back_off
from hashrange.storage.postgres.commit_guard import CommitGuard, Stalled
from hashrange.storage.postgres.faults import SERIALIZATION_FAILURE, Broken, Refused, TimedOut, translate
from hashrange.storage.postgres.locking import LockingTransaction
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.serializable import SerializableTransaction
from hashrange.storage.postgres.transaction import Needs, WriteTransaction

log = Log("storage.postgres")

STEPS_MAX = 256
KEYS_MAX = 1024
STEPS_BYTES_MAX = 8 * 1024 * 1024
WAITING_MAX = 4096  # steps; those that come while so many wait would not be done in time

# A batch that keeps colliding is taken apart, and then every step goes by itself. No more attempts after these times.
BATCH_ATTEMPTS = 5
BATCH_SECONDS = 1.0
STEP_ATTEMPTS = 30
STEP_SECONDS = 5.0

_COMMIT = Call(statements.COMMIT)


class Job(NamedTuple):
    """A step that waits for its commit."""

    step: Callable[[Transaction], Any]
    done: Done[Any]
    reads: Sequence[bytes]


class Committer:
    """One of the writers of a server: its steps commit in the order in which they were submitted."""

    def __init__(
        self, pool: Pool, guard: CommitGuard, read_mostly: tuple[bytes, ...], deliver: Deliver
    ) -> None:
        """Start the writer thread."""
        self._pool = pool
        self._guard = guard
        self._read_mostly = read_mostly
        self._deliver = deliver
        self._shard = random_shard()
        self._worker = BatchWorker("hashrange-writer", self._run, jobs_max=STEPS_MAX, keys_max=KEYS_MAX)

    def submit(self, job: Job) -> None:
        """Queue a step for the next commit, unless too many wait already."""
        if self._worker.waiting >= WAITING_MAX:
            job.done(None, Stalled("too many writes wait for the database"))
        else:
            self._worker.submit(job)

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        self._worker.close()

    def _run(self, batch: list[Job]) -> None:
        try:
            callbacks = self._commit(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            callbacks = fail_all(batch, translate(error))
        run_callbacks(self._deliver, callbacks)

    def _commit(self, batch: list[Job]) -> Callbacks:
        """Commit a batch and give its callbacks; one that keeps colliding is taken apart."""
        needs = Needs({key for job in batch for key in job.reads})
        deadline = time.monotonic() + BATCH_SECONDS
        for attempt in range(BATCH_ATTEMPTS):
            was_alone = needs.alone
            try:
                outcomes, left = self._attempt(batch, needs)
            except Conflict:
                if needs.alone != was_alone:
                    continue  # nobody was in the way
                if time.monotonic() > deadline:
                    break
                self._shard = random_shard()  # perhaps it was somebody else's, too
                back_off(attempt)
                continue
            return outcomes if not left else outcomes + self._commit(left)
        return [callback for job in batch for callback in self._commit_alone(job)]

    def _commit_alone(self, job: Job) -> Callbacks:
        needs = Needs(set(job.reads))
        deadline = time.monotonic() + STEP_SECONDS
        for attempt in range(STEP_ATTEMPTS):
            try:
                return self._attempt([job], needs)[0]
            except Conflict as error:
                conflict = error
                if time.monotonic() > deadline:
                    break
                self._shard = random_shard()
                back_off(attempt)
            except Exception as error:  # noqa: BLE001 - the steps behind it still have their turn
                return fail_all([job], translate(error))
        return fail_all([job], conflict)

    def _attempt(self, batch: list[Job], needs: Needs) -> tuple[Callbacks, list[Job]]:
        """Run steps in one transaction and commit it; gives callbacks, and the steps that did not fit in.

        What the steps turn out to need is added to `needs`, for the next attempt.
        """
        self._guard.expect_working()
        tx = self._transaction(needs)
        outcomes: Callbacks = []
        try:
            tx.begin(needs.keys)
            for job in batch:
                outcomes.append(run_step(tx, job))
                if tx.pending_bytes >= STEPS_BYTES_MAX:
                    break
            last_calls = tx.last_calls(self._shard)
            if tx.begun or last_calls:
                commit(tx, last_calls, self._guard)
        except (Broken, Refused) as error:
            raise _verdict(error) from error
        finally:
            needs.keys |= tx.read
            needs.alone |= tx.needs_alone
            if (connection := tx.finish()) is not None:
                self._pool.abandon(connection)
        return outcomes, batch[len(outcomes) :]

    def _transaction(self, needs: Needs) -> WriteTransaction:
        if self._pool.serializable:
            return SerializableTransaction(self._pool)
        return LockingTransaction(self._pool, self._read_mostly, alone=needs.alone)


def run_step(tx: WriteTransaction, job: Job) -> Callable[[], None]:
    """Run one step, keep or forget its writes, and give its callback for after the commit."""
    try:
        result = job.step(tx)
        if tx.appends:
            tx.end_step()
    except BaseException as error:
        # Whatever it raised is the step's outcome, unless the engine is in trouble.
        if tx.failure is not None:
            raise tx.failure from error
        tx.discard()
        forget_frames(error)
        return partial(job.done, None, error)
    if tx.failure is not None:
        raise tx.failure
    tx.accept()
    return partial(job.done, result, None)


def commit(tx: WriteTransaction, todo: list[Call], guard: CommitGuard) -> None:
    """Send the last writes and the commit; once they are on the wire only an answer says what became of them."""
    connection = tx.begun_connection()
    connection.expect_open()  # what is known to be lost before the commit can be done again
    connection.warned = False
    try:
        ended = connection.run([*todo, _COMMIT], keep_late=True)[-1]
    except Refused as refusal:
        if refusal.at < len(todo) or refusal.is_conflict:
            raise
        guard.doubt(str(refusal))
        raise _unknown(refusal) from refusal
    except TimedOut as error:
        tx.finish()
        guard.stall(connection, str(error))
        raise _unknown(error) from error
    except Broken as error:
        if connection.warned:
            guard.doubt(str(error))
        raise _unknown(error) from error
    if ended.command_status != b"COMMIT":
        raise Refused(SERIALIZATION_FAILURE, "the transaction was rolled back")
    if connection.warned:
        # PostgreSQL warns when it stops to wait for its replicas: committed here, perhaps not there.
        guard.doubt("a commit that waited for the replicas was cancelled")
        raise Unavailable("a commit may not have reached the replicas")


def _unknown(error: Exception) -> Unavailable:
    return Unavailable(f"the outcome of a commit is unknown: {error}")


def _verdict(error: Broken | Refused) -> StorageError:
    """What trouble before the commit means: if it may pass by itself, the batch is tried again."""
    if isinstance(error, Broken) or error.is_conflict or error.ends_session:
        return Conflict(str(error))
    return translate(error)


def random_shard() -> int:
    """The part of every counter to add to: any will do, the fewer writers share one the better."""
    return random.randrange(statements.COUNTER_SHARDS)  # noqa: S311 - not a secret


def fail_all(batch: Sequence[Job], error: StorageError) -> Callbacks:
    """Give every step the same bad news; each raises its own, so that their tracebacks stay apart."""
    if not isinstance(error, Stalled):  # of which the log has the beginning and the end
        log.error("commit.failed", steps=len(batch), reason=str(error))
    return [partial(job.done, None, type(error)(*error.args)) for job in batch]
