"""The connections to one database: a few idle ones are kept for the next who asks, and lost ones are replaced."""

import threading
import time
from collections.abc import Sequence
from typing import Protocol

from psycopg.pq.abc import PGresult

from hashrange.logs import Log
from hashrange.storage.errors import Closed, Replaced, Unavailable
from hashrange.storage.postgres.address import Address
from hashrange.storage.postgres.faults import Broken, Refused
from hashrange.storage.postgres.isolation import Isolation
from hashrange.storage.postgres.pipeline import Call, PipelineConnection

log = Log("storage.postgres")

IDLE_CONNECTIONS_MAX = 16
PAUSE_SECONDS_FIRST = 0.02
PAUSE_SECONDS_MOST = 0.5


class ConnectionSource(Protocol):
    """Where reads get their connections: from the leader, or from a replica."""

    @property
    def serializable(self) -> bool:
        """Whether snapshots are serializable transactions: then what was read counts once they have committed."""

    def begin(self, calls: Sequence[Call]) -> tuple[PipelineConnection, list[PGresult]]:
        """Run the first statements of a transaction on whichever connection works."""

    def release(self, connection: PipelineConnection) -> None:
        """Keep a connection that is between transactions for the next."""

    def abandon(self, connection: PipelineConnection) -> None:
        """Take back a connection in the middle of a transaction that is not to be."""


class Watcher(Protocol):
    """Knows whether the database is still the one that was opened."""

    def look(self, connection: PipelineConnection) -> None:
        """Look at a new connection; raises `Replaced` if it leads somewhere else."""

    def expect_same(self) -> None:
        """Raise `Replaced` if the database is known to be another one by now."""


class Pool:
    """A list of idle connections. One connection serves one thread at a time."""

    def __init__(self, address: Address, watcher: Watcher, *, patience_seconds: float) -> None:
        """Begin without connections; how long to look for a server that answers is up to the owner."""
        self._address = address
        self._watcher = watcher
        self._patience_seconds = patience_seconds
        self._idle: list[PipelineConnection] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._is_lost = False  # as far as it was logged
        self._is_given_up = False
        self.serializable = address.isolation is Isolation.SERIALIZABLE

    def acquire(self) -> PipelineConnection:
        """Give a connection that nobody else uses, an idle one or a new one."""
        with self._lock:
            if self._closed.is_set():
                raise Closed("the engine is closed")
            if self._idle:
                return self._idle.pop()
        connection = self._address.open_pipeline()
        try:
            self._watcher.look(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def release(self, connection: PipelineConnection) -> None:
        """Keep a connection that is between transactions for the next."""
        with self._lock:
            if not self._closed.is_set() and len(self._idle) < IDLE_CONNECTIONS_MAX and not connection.broken:
                self._idle.append(connection)
                return
        connection.close()

    def begin(self, calls: Sequence[Call]) -> tuple[PipelineConnection, list[PGresult]]:
        """Run the first statements of a transaction on whichever connection works.

        Nothing has happened yet that could not happen again, so a lost connection is replaced and a server that
        is being replaced is waited for.
        """
        self._watcher.expect_same()
        if self._is_given_up and self._is_lost:
            raise Unavailable(f"{self._address.description} cannot be reached")
        deadline = time.monotonic() + self._patience_seconds
        pause = PAUSE_SECONDS_FIRST
        while True:
            try:
                begun = self._attempt(calls)
            except Broken as error:
                # An idle connection that has ended is no news, but the second one was new.
                is_news = pause > PAUSE_SECONDS_FIRST
                is_over = time.monotonic() + pause > deadline or (self._is_given_up and is_news)
                gives_up = is_over or self._closed.wait(pause)
                if gives_up or is_news:
                    self._say_lost(error)
                if gives_up:
                    raise Unavailable(f"{self._address.description}: {error}") from error
                self._drop_idle()
                pause = min(pause * 2, PAUSE_SECONDS_MOST)
            else:
                self._say_found()
                return begun

    @property
    def is_same(self) -> bool:
        """Whether the database is the one that was opened, as far as is known."""
        try:
            self._watcher.expect_same()
        except Replaced:
            return False
        return True

    def give_up(self) -> None:
        """Stop waiting for a database that does not answer: the engine is closing."""
        self._is_given_up = True

    def close(self) -> None:
        """Close every connection that is not in use; those in use are closed when given back."""
        self._closed.set()
        self._drop_idle()

    def _attempt(self, calls: Sequence[Call]) -> tuple[PipelineConnection, list[PGresult]]:
        connection = self.acquire()
        try:
            return connection, connection.run(calls)
        except Refused as refusal:
            if refusal.ends_session:
                connection.close()
                raise Broken(str(refusal)) from refusal
            self.abandon(connection)
            raise
        except BaseException:
            connection.close()
            raise

    def abandon(self, connection: PipelineConnection) -> None:
        """Take back a connection in the middle of a transaction that is not to be."""
        if not connection.broken and not connection.idle:
            connection.send_and_forget([ROLLBACK_CALL])
        self.release(connection)

    def _say_lost(self, error: Broken) -> None:
        if not self._is_lost:
            self._is_lost = True
            # Replicas, for which nobody waits, say so themselves.
            say = log.warning if self._patience_seconds else log.debug
            say("database.unreachable", database=self._address.description, reason=str(error))

    def _say_found(self) -> None:
        if self._is_lost:
            self._is_lost = False
            say = log.info if self._patience_seconds else log.debug
            say("database.reachable", database=self._address.description)

    def _drop_idle(self) -> None:
        with self._lock:
            dropped, self._idle = self._idle, []
        for connection in dropped:
            connection.close()


ROLLBACK_CALL = Call(b"rollback")
