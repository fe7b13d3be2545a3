"""Reads that nobody waits for: in groups as far as possible, on snapshots of their own where they are large."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hashrange.storage.engine import Deliver, Reader
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.postgres.committer import run_callbacks
from hashrange.storage.postgres.grouped import RangeReader, ReadJob, RowReader
from hashrange.storage.postgres.links import Source
from hashrange.storage.postgres.reader import SnapshotReader
from hashrange.storage.postgres.replicas import Stale

T = TypeVar("T")


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

    def _run(self, job: ReadJob, *, again: bool = True) -> None:
        reader = SnapshotReader(self._source)
        try:
            outcome = partial(job.done, read_on(reader, job.step, job.reads), None)
        except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
            if isinstance(error, StorageError) and self._other is not None:
                self._other.submit(job)
                return
            if reader.lost and again:
                self._run(job, again=False)
                return
            outcome = partial(job.done, None, error)
        run_callbacks(self._deliver, [outcome])


def read_on(reader: SnapshotReader, step: Callable[[Reader], T], reads: Sequence[bytes] = ()) -> T:
    """Run a step on a snapshot, which ends with it."""
    try:
        if reads:
            reader.fetch(reads)
        return step(reader)
    finally:
        reader.release()
