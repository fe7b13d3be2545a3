"""Reads that nobody waits for: in groups as far as possible, on snapshots of their own where they are large."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hashrange.storage.engine import Deliver
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.postgres.backoff import back_off
from hashrange.storage.postgres.committer import run_callbacks
from hashrange.storage.postgres.grouped import RangeReader, ReadJob, RowReader
from hashrange.storage.postgres.links import Source
from hashrange.storage.postgres.reader import SnapshotReader
from hashrange.storage.postgres.replicas import Stale

T = TypeVar("T")

ATTEMPTS = 8


class Readers:
    """All reads from one source. What a replica cannot answer goes to `other`, the readers of the leader."""

    def __init__(
        self, source: Source, deliver: Deliver, threads: ThreadPoolExecutor, other: "Readers | None" = None
    ) -> None:
        self._source = source
        self._deliver = deliver
        self._threads = threads
        self._other = other
        self._rows = RowReader(source, deliver, self._read_alone, self._read_elsewhere)
        self._ranges = RangeReader(source, deliver, self._read_alone, self._read_elsewhere)

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next grouped read; one that reads much will end up on a thread of its own."""
        (self._ranges if job.more else self._rows).submit(job)

    def close(self) -> None:
        """Finish everything queued for a grouped read."""
        self._rows.close()
        self._ranges.close()

    def _read_alone(self, job: ReadJob) -> None:
        try:
            self._threads.submit(self._run, job)
        except RuntimeError:
            job.done(None, Closed("the engine is closed"))

    def _read_elsewhere(self, job: ReadJob) -> None:
        if self._other is None:
            job.done(None, Stale("there is nobody else to ask"))
        else:
            self._other.submit(job)

    def _run(self, job: ReadJob) -> None:
        try:
            outcome = partial(job.done, read_on(self._source, job.step, reads=job.reads), None)
        except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
            if isinstance(error, StorageError) and self._other is not None:
                self._other.submit(job)
                return
            outcome = partial(job.done, None, error)
        run_callbacks(self._deliver, [outcome])


def read_on(
    source: Source,
    step: Callable[[SnapshotReader], T],
    *,
    reads: Sequence[bytes] = (),
    seconds: float | None = None,
) -> T:
    """Run a step on a snapshot, which ends with it; once more where the snapshot is lost, or collides."""
    for attempt in range(ATTEMPTS):
        reader = SnapshotReader(source, seconds=seconds)
        try:
            return _run_step(reader, step, reads)
        except BaseException:
            is_last = attempt == ATTEMPTS - 1 or (reader.lost and attempt > 0)
            if is_last or not (reader.lost or reader.collided):
                raise
        back_off(attempt)
    raise AssertionError("the last attempt gives or raises")


def _run_step(reader: SnapshotReader, step: Callable[[SnapshotReader], T], reads: Sequence[bytes]) -> T:
    try:
        if reads:
            reader.fetch(reads)
        return step(reader)
    finally:
        reader.release()
