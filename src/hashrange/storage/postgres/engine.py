"""The PostgreSQL engine: readers and group-committing writers of one server among many."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from hashrange.clock import Clock
from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import Deliver, Done, Reader, Transaction
from hashrange.storage.errors import Closed, Unavailable
from hashrange.storage.postgres import schema
from hashrange.storage.postgres.address import Address, parse_address
from hashrange.storage.postgres.batch_reader import ReadJob
from hashrange.storage.postgres.commit_guard import CommitGuard
from hashrange.storage.postgres.committer import Committer, Job
from hashrange.storage.postgres.isolation import Isolation
from hashrange.storage.postgres.leader_reads import LeaderReads
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.readers import LoopReaders, Readers
from hashrange.storage.postgres.replicas import Replicas
from hashrange.storage.postgres.snapshot import SnapshotReader, read_on
from hashrange.storage.postgres.vacuum import drop_zero_counters
from hashrange.storage.postgres.watch import Watch
from hashrange.storage.sealing import sealed_read, sealed_write
from hashrange.storage.waiting import Waiter

T = TypeVar("T")

SCHEMA = "hashrange"
ANSWER_SECONDS_MAX = 10.0
PATIENCE_SECONDS = 5.0  # how long requests wait for a database that is being replaced
SNAPSHOTS_AT_ONCE_MAX = 8


class PostgresEngine:
    """An `Engine` on one database, which it shares with any number of other servers."""

    encrypted = False
    shared = True

    def __init__(
        self,
        address: Address,
        deliver: Deliver,
        read_mostly: tuple[bytes, ...],
        replicas: Replicas[Readers] | None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Start on a prepared database; use `PostgresEngine.open`."""
        self._address = address
        self._guard = CommitGuard(address)
        self._watch = Watch(address, self._guard.doubt)
        self._pool = Pool(address, self._watch, patience_seconds=PATIENCE_SECONDS)
        self._watch.start()
        # Requests declare what they read. Steps that do not, such as those of jobs and of table changes, take longer,
        # so they have a writer of their own. A second writer for requests made throughput worse: batches get smaller.
        self._committer = Committer(self._pool, self._guard, read_mostly, deliver)
        self._undeclared_committer = Committer(self._pool, self._guard, read_mostly, deliver)
        self._threads = ThreadPoolExecutor(SNAPSHOTS_AT_ONCE_MAX, thread_name_prefix="hashrange-snapshot")
        self._leader = LeaderReads(self._pool, self._guard)
        self._readers = Readers(self._leader, deliver, self._threads)
        self._loop_readers = (
            None if loop is None else LoopReaders(loop, self._leader, self._threads, self._readers)
        )
        self._replicas = replicas
        if replicas is not None:
            replicas.start(
                self._pool,
                self._guard,
                address,
                lambda replica: Readers(replica, deliver, self._threads, self._readers),
            )
        self._closed = False
        self._closing = threading.Lock()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        deliver: Deliver | None = None,
        read_mostly: tuple[bytes, ...] = (),
        replicas: Sequence[str] = (),
        staleness_seconds: float = 1.0,
        isolation: str = Isolation.LOCKING.value,
        schema_name: str = SCHEMA,
        create: bool = True,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> "PostgresEngine":
        """Connect to the database and create or check its tables. The loop of this thread may do its own reads."""
        address = parse_address(url, schema=schema_name, seconds_max=ANSWER_SECONDS_MAX, leader=True)
        address.isolation_setting = Isolation(isolation)
        others = Replicas[Readers](replicas, schema_name, staleness_seconds) if replicas else None
        schema.prepare(address, create=create)
        return cls(address, deliver or run_inline, read_mostly, others, loop)

    @staticmethod
    def check(url: str) -> str:
        """Create or check the tables and hold on to nothing; gives the engine's description."""
        address = parse_address(url, schema=SCHEMA, seconds_max=ANSWER_SECONDS_MAX, leader=True)
        schema.prepare(address)
        return _describe(address)

    @property
    def clock(self) -> Clock:
        """The time of the database, which all servers on it share."""
        return self._watch.clock

    @property
    def description(self) -> str:
        """Name the engine and its address."""
        return _describe(self._address)

    @property
    def directory(self) -> Path | None:
        """There is none on this machine."""
        return None

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` on one snapshot, on a connection of its own."""
        if self._closed:
            raise Closed("the engine is closed")
        return read_on(self._leader, sealed_read(step), seconds=seconds)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Queue `step` for the next grouped read."""
        readers = self._replicas.next() if eventual and self._replicas is not None else None
        (readers or self._loop_readers or self._readers).submit(
            ReadJob(sealed_read(step), done, reads, more or not reads)
        )

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step` for the next commit."""
        (self._committer if reads else self._undeclared_committer).submit(
            Job(sealed_write(step), done, reads)
        )

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Submit `step` and wait until it is committed."""
        waiter: Waiter[T] = Waiter()
        self.submit(step, waiter.done)
        return waiter.wait()

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order, for copying them."""
        return read_on(self._leader, SnapshotReader.counters)

    def maintain(self, budget_pages: int) -> int:
        """Drop counters at zero; PostgreSQL gives free pages back by itself."""
        if self._closed:
            raise Closed("the engine is closed")
        self._guard.expect_working()
        try:
            drop_zero_counters(self._pool)
        except Unavailable as error:
            self._guard.note(error)
            raise
        return 0

    def close(self) -> None:
        """Finish queued steps and close every connection."""
        with self._closing:
            if self._closed:
                return
            self._pool.give_up()
            self._watch.stop()
            self._committer.close()
            self._undeclared_committer.close()
            self._guard.close()
            if self._replicas is not None:
                self._replicas.close()
            if self._loop_readers is not None:
                self._loop_readers.close()
            self._readers.close()
            self._threads.shutdown()
            self._closed = True
            self._pool.close()


def _describe(address: Address) -> str:
    return f"{address.flavour.value} ({address.description})"
