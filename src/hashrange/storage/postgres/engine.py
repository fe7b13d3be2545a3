"""The PostgreSQL engine: readers and group-committing writers of one server among many."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hashrange.storage.engine import Deliver, Done, Reader, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.postgres import schema
from hashrange.storage.postgres.address import Address, address
from hashrange.storage.postgres.committer import Committer, Job, run_callbacks, run_inline
from hashrange.storage.postgres.grouped import GroupReader, ReadJob
from hashrange.storage.postgres.links import Links
from hashrange.storage.postgres.reader import SnapshotReader
from hashrange.storage.postgres.vacuum import give_back
from hashrange.storage.postgres.waiting import Waiter

T = TypeVar("T")

log = logging.getLogger(__name__)

SCHEMA = "hashrange"
ANSWER_SECONDS_MAX = 10.0
PATIENCE_SECONDS = 5.0  # how long requests wait for a database that is being replaced
WRITERS = 2
SNAPSHOTS_AT_ONCE_MAX = 8


class PostgresEngine:
    """An `Engine` on one database, which it shares with any number of other servers."""

    blocking = True
    shared = True

    def __init__(self, place: Address, deliver: Deliver, seldom: tuple[bytes, ...]) -> None:
        """Start on a prepared database; use `PostgresEngine.open`."""
        self._place = place
        self._deliver = deliver
        self._links = Links(place, patience_seconds=PATIENCE_SECONDS)
        # Steps that say what they read go to one of several by their key; all others keep their order.
        self._odd = Committer(self._links, seldom, deliver)
        self._committers = [Committer(self._links, seldom, deliver) for _ in range(WRITERS)]
        self._snapshots = ThreadPoolExecutor(SNAPSHOTS_AT_ONCE_MAX, thread_name_prefix="hashrange-snapshot")
        self._group = GroupReader(self._links, deliver, self._read_snapshot)
        self._seldom = seldom
        self._closed = False
        self._closing = threading.Lock()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        deliver: Deliver | None = None,
        seldom: tuple[bytes, ...] = (),
        schema_name: str = SCHEMA,
    ) -> "PostgresEngine":
        """Connect to the database and create or check its tables."""
        place = address(url, schema=schema_name, seconds_max=ANSWER_SECONDS_MAX, leader=True)
        schema.prepare(place)
        return cls(place, deliver or run_inline, seldom)

    @property
    def description(self) -> str:
        """Name the engine and its place."""
        return f"{self._place.flavour.value} ({self._place.description})"

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` on one snapshot, on a link nobody else uses meanwhile."""
        if self._closed:
            raise Closed("the engine is closed")
        return _read_on(SnapshotReader(self._links, seconds=seconds), step)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        eventual: bool = False,
    ) -> None:
        """Queue `step` for the next grouped read if it says what it reads, else for a snapshot of its own."""
        job = ReadJob(step, done, reads)
        if reads:
            self._group.submit(job)
        else:
            self._read_snapshot(job)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step` for the next commit of the writer that has its keys."""
        self._writer(reads).submit(Job(step, done, reads))

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Submit `step` and wait until it is committed."""
        waiter: Waiter[T] = Waiter()
        self.submit(step, waiter.done)
        return waiter.wait()

    def maintain(self, budget_pages: int) -> int:
        """Drop what no longer counts; the database gives its own pages back."""
        if self._closed:
            raise Closed("the engine is closed")
        give_back(self._links)
        return 0

    def close(self) -> None:
        """Finish queued steps, let go of every connection."""
        with self._closing:
            if self._closed:
                return
            for committer in (self._odd, *self._committers):
                committer.close()
            self._group.close()
            self._snapshots.shutdown()
            self._closed = True
            self._links.close()

    def _writer(self, reads: Sequence[bytes]) -> Committer:
        for key in reads:
            if not key.startswith(self._seldom):
                return self._committers[hash(key) % len(self._committers)]
        return self._odd

    def _read_snapshot(self, job: ReadJob) -> None:
        try:
            self._snapshots.submit(self._run_snapshot, job)
        except RuntimeError:
            job.done(None, Closed("the engine is closed"))

    def _run_snapshot(self, job: ReadJob) -> None:
        try:
            outcome = partial(job.done, _read_on(SnapshotReader(self._links), job.step, job.reads), None)
        except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
            outcome = partial(job.done, None, error)
        run_callbacks(self._deliver, [outcome])


def _read_on(reader: SnapshotReader, step: Callable[[Reader], T], reads: Sequence[bytes] = ()) -> T:
    try:
        if reads:
            reader.fetch(reads)
        return step(reader)
    finally:
        reader.release()
