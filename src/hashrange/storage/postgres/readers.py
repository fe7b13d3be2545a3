"""Reads that no thread waits for: in batches as far as possible, on snapshots of their own where they are large."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from hashrange.core.errors import forget_frames
from hashrange.storage.delivery import run_callbacks
from hashrange.storage.engine import Deliver
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.postgres.batch_reader import RangeReader, ReadJob, RowReader
from hashrange.storage.postgres.large_rows import LargeRows
from hashrange.storage.postgres.loop_reader import LoopReader, SettledSource
from hashrange.storage.postgres.pool import ConnectionSource
from hashrange.storage.postgres.read_batch import Threads, range_batch, row_batch
from hashrange.storage.postgres.replicas import Stale
from hashrange.storage.postgres.snapshot import read_on


class LoopReaders:
    """The reads of an event loop from the leader; only for steps that come on its thread, and are short."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        source: SettledSource,
        threads: ThreadPoolExecutor,
        other: "Readers",
    ) -> None:
        """Take a loop that runs on this thread."""
        self._thread = threading.get_ident()
        self._other = other
        self._large = LargeRows()
        elsewhere = Threads(other.submit, other.read_alone, self._large)
        make = partial(LoopReader, loop, source, threads=elsewhere, connectors=threads)
        # While the database reads for one batch, another is answered; with less than three each waits for the other.
        self._ranges = make(make_batch=range_batch, lanes_max=3, jobs_max=RangeReader.jobs_max)
        self._rows = make(make_batch=row_batch, lanes_max=2, keys_max=RowReader.keys_max)

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next read; requests say what they read, and what does not may take long."""
        if not job.reads or threading.get_ident() != self._thread or self._large.covers(job.reads):
            self._other.submit(job)
        else:
            (self._ranges if job.more else self._rows).submit(job)

    def close(self) -> None:
        """Leave what is queued to the other readers."""
        self._rows.close()
        self._ranges.close()


class Readers:
    """All reads from one source. What a replica cannot answer goes to `other`, the readers of the leader."""

    def __init__(
        self,
        source: ConnectionSource,
        deliver: Deliver,
        threads: ThreadPoolExecutor,
        other: "Readers | None" = None,
    ) -> None:
        self._source = source
        self._deliver = deliver
        self._threads = threads
        self._other = other
        self._rows = RowReader(source, deliver, self.read_alone, self._read_elsewhere)
        self._ranges = RangeReader(source, deliver, self.read_alone, self._read_elsewhere)

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next batched read; one that reads much will end up on a thread of its own."""
        (self._ranges if job.more else self._rows).submit(job)

    def close(self) -> None:
        """Finish everything queued for a batched read."""
        self._rows.close()
        self._ranges.close()

    def read_alone(self, job: ReadJob) -> None:
        """Run a step on a thread, with a snapshot of its own."""
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
            forget_frames(error)
            outcome = partial(job.done, None, error)
        run_callbacks(self._deliver, [outcome])
