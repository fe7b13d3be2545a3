"""A connection whose answers the event loop takes: no thread waits for them, so none has to be woken."""

import asyncio
import time
from contextlib import suppress
from typing import Protocol

from psycopg import pq
from psycopg.pq.abc import PGresult

from hashrange.logs import Log
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.faults import Broken
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.read_ahead import ReadAhead
from hashrange.storage.postgres.read_batch import ReadBatch

log = Log("storage.postgres")

_GOOD = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)
_ROLLBACK = Call(statements.ROLLBACK)


class Owner(Protocol):
    """Whoever sends batches on lanes."""

    def take(self, batch: ReadBatch, results: list[PGresult]) -> None:
        """Take the next results of a batch."""

    def end(self, lane: "Lane", batch: ReadBatch | None) -> None:
        """Take back a lane: its batch is over, or its connection is lost."""


class Lane:
    """One connection with one batch under way at most; used by the event loop's thread only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: PipelineConnection, owner: Owner) -> None:
        """Take over a connection."""
        self._loop = loop
        self._connection = connection
        self._fileno = connection.fileno
        self._owner = owner
        self._batch: ReadBatch | None = None
        self._deadline = 0.0
        self.is_lost = False
        self.read_ahead = ReadAhead()  # of its own: what a batch asks for must not change while it is read
        loop.add_reader(self._fileno, self._readable)

    @property
    def is_idle(self) -> bool:
        """Whether the next batch can be sent."""
        return self._batch is None and not self.is_lost

    @property
    def is_late(self) -> bool:
        """Whether the database had as much time as an answer may take."""
        return self._batch is not None and time.monotonic() > self._deadline

    def send(self, batch: ReadBatch) -> None:
        """Send a batch; its owner hears of it later, never from here."""
        self._batch = batch
        self._deadline = time.monotonic() + self._connection.seconds_max
        try:
            if not self._connection.post(batch.calls()):
                self._loop.add_writer(self._fileno, self._writable)
        except Broken:
            self._loop.call_soon(self._lose)

    def close(self) -> ReadBatch | None:
        """Let go of the connection; gives what was under way."""
        if not self.is_lost:
            self.is_lost = True
            # First of all: another connection may get the same number as soon as this one is closed.
            with suppress(RuntimeError):  # the loop is closed
                self._loop.remove_reader(self._fileno)
                self._loop.remove_writer(self._fileno)
            self._connection.close()
        batch, self._batch = self._batch, None
        return batch

    def _readable(self) -> None:
        try:
            if self._batch is None:
                self._connection.expect_quiet()
            else:
                self._take(self._batch)
        except Broken:
            self._lose()
        except Exception as error:  # noqa: BLE001 - nobody would answer the steps of this batch
            log.error("read.failed", error=error)
            self._lose()

    def _take(self, batch: ReadBatch) -> None:
        results, is_over = self._connection.take()
        good = [result for result in results if result.status in _GOOD]
        if good:
            self._owner.take(batch, good)
        if len(good) < len(results):
            batch.failed = True
        if is_over and not self.is_lost:
            if not self._connection.idle:
                self._connection.send_and_forget([_ROLLBACK])
            self._batch = None
            self._owner.end(self, batch)

    def _writable(self) -> None:
        try:
            if self._connection.push():
                self._loop.remove_writer(self._fileno)
        except Broken:
            self._lose()

    def _lose(self) -> None:
        if not self.is_lost:
            self._owner.end(self, self.close())
