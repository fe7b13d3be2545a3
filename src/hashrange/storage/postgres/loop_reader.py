"""Reads without threads: the event loop sends them and takes what comes back, as it does with its clients.

Whatever is not plain goes to the threads that read as well, with all they know of waiting and trying again: a lost
connection, a refusal, a doubt, a step that reads more than it said. Steps only compute, so they can run anew there.
"""

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import suppress
from typing import Protocol

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import StorageError, Unavailable
from hashrange.storage.postgres.batch_reader import ReadJob
from hashrange.storage.postgres.faults import Broken, Refused
from hashrange.storage.postgres.lane import Lane
from hashrange.storage.postgres.pipeline import PipelineConnection
from hashrange.storage.postgres.pool import ConnectionSource
from hashrange.storage.postgres.read_ahead import ReadAhead
from hashrange.storage.postgres.read_batch import ReadBatch, Threads

_WATCH_SECONDS = 1.0
_CONNECT_PAUSE_SECONDS = 1.0
_CLOSE_SECONDS = 5.0


class SettledSource(ConnectionSource, Protocol):
    """A source that says whether its answers may be given without a second look."""

    @property
    def is_settled(self) -> bool:
        """Whether they may."""


class MakeBatch(Protocol):
    """Says what to read for some steps."""

    def __call__(
        self, jobs: list[ReadJob], read_ahead: ReadAhead, threads: Threads, *, serializable: bool
    ) -> ReadBatch: ...


class LoopReader:
    """A queue of steps and a few connections, all on the event loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        source: SettledSource,
        make_batch: MakeBatch,
        *,
        threads: Threads,
        connectors: Executor,
        lanes_max: int,
        jobs_max: int = sys.maxsize,
        keys_max: int = sys.maxsize,
    ) -> None:
        """Begin without connections: until there is one, threads do the reading."""
        self._loop = loop
        self._source = source
        self._make_batch = make_batch
        self._threads = threads
        self._connectors = connectors
        self._lanes_max = lanes_max
        self._jobs_max = jobs_max
        self._keys_max = keys_max
        self._jobs: deque[ReadJob] = deque()
        self._lanes: list[Lane] = []
        self._is_connecting = False
        self._connects_after = 0.0
        self._is_scheduled = False
        self._is_watching = False
        self._closed = False

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next read; steps that come in one turn of the loop share it."""
        if self._closed:
            self._threads.batched(job)
            return
        self._jobs.append(job)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._dispatch)

    def close(self) -> None:
        """Leave everything queued to the threads and let go of the connections; on any thread."""
        if not _runs_elsewhere(self._loop):
            self._close()
            return
        closed = threading.Event()
        with suppress(RuntimeError):  # the loop has been closed meanwhile
            self._loop.call_soon_threadsafe(self._close, closed)
            closed.wait(_CLOSE_SECONDS)

    def _close(self, closed: threading.Event | None = None) -> None:
        self._closed = True
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            batch = lane.close()
            self._hand_over([] if batch is None else batch.unanswered())
        self._hand_over_all()
        if closed is not None:
            closed.set()

    # The queue.

    def _dispatch(self) -> None:
        self._is_scheduled = False
        if not self._lanes or not self._source.is_settled:
            self._hand_over_all()
        while self._jobs and (lane := self._idle_lane()) is not None:
            batch = self._make_batch(
                self._next_jobs(), lane.read_ahead, self._threads, serializable=self._source.serializable
            )
            if batch.unanswered():  # not all of them went to the threads
                lane.send(batch)
                self._watch()
        if len(self._lanes) < self._lanes_max:
            self._connect()

    def _idle_lane(self) -> Lane | None:
        for lane in self._lanes:
            if lane.is_idle:
                return lane
        return None

    def _next_jobs(self) -> list[ReadJob]:
        jobs: list[ReadJob] = []
        keys = 0
        while self._jobs and len(jobs) < self._jobs_max and keys < self._keys_max:
            jobs.append(self._jobs.popleft())
            keys += len(jobs[-1].reads)
        return jobs

    def _hand_over(self, jobs: Iterable[ReadJob]) -> None:
        for job in jobs:
            self._threads.batched(job)

    def _hand_over_all(self) -> None:
        jobs, self._jobs = self._jobs, deque()
        self._hand_over(jobs)

    # What lanes call.

    def take(self, batch: ReadBatch, results: list[PGresult]) -> None:
        """Give results to the steps that wait for them."""
        if not self._source.is_settled:
            batch.failed = True  # there was doubt when the snapshot was taken, perhaps
        for result in results:
            if not batch.failed:
                batch.take(result)

    def end(self, lane: Lane, batch: ReadBatch | None) -> None:
        """Go on after a batch, be it that it was read, that it was refused, or that the connection is lost."""
        if lane.is_lost and lane in self._lanes:
            self._lanes.remove(lane)
        if batch is not None and batch.is_complete:
            batch.deliver()
            batch.learn()
        elif batch is not None:
            self._hand_over(batch.unanswered())
        if self._jobs:
            self._dispatch()

    # Connections.

    def _connect(self) -> None:
        """Have a thread get another connection, since that waits."""
        if self._is_connecting or self._closed or time.monotonic() < self._connects_after:
            return
        with suppress(RuntimeError):  # the engine is closing
            self._connectors.submit(self._open)
            self._is_connecting = True

    def _open(self) -> None:
        connection: PipelineConnection | None = None
        with suppress(StorageError, Broken, Refused):  # the threads that read say what is wrong
            connection, _ = self._source.begin([])
        try:
            self._loop.call_soon_threadsafe(self._opened, connection)
        except RuntimeError:  # the loop is closed
            if connection is not None:
                connection.close()

    def _opened(self, connection: PipelineConnection | None) -> None:
        self._is_connecting = False
        if connection is None:
            self._connects_after = time.monotonic() + _CONNECT_PAUSE_SECONDS
        elif self._closed:
            connection.close()
        else:
            self._lanes.append(Lane(self._loop, connection, self))

    # Deadlines.

    def _watch(self) -> None:
        """Look at all deadlines once a second: a timer for each batch would cost more than all else here."""
        if not self._is_watching:
            self._is_watching = True
            self._loop.call_later(_WATCH_SECONDS, self._look)

    def _look(self) -> None:
        self._is_watching = False
        for lane in [lane for lane in self._lanes if lane.is_late]:
            self._lanes.remove(lane)
            batch = lane.close()
            for job in [] if batch is None else batch.unanswered():
                job.done(None, Unavailable("the database did not answer in time"))
        if not all(lane.is_idle for lane in self._lanes):
            self._watch()
        if self._jobs:
            self._dispatch()


def _runs_elsewhere(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop runs on another thread than this."""
    if not loop.is_running():
        return False
    try:
        return asyncio.get_running_loop() is not loop
    except RuntimeError:
        return True
