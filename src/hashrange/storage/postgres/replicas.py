"""Replicas: eventually consistent reads that are never older than they may be.

How far a replica is behind cannot be asked of it: one that has lost its leader believes that it is up to date. So each
server with replicas writes a number to the leader every now and then, its beat, and remembers when. A read from a
replica reads the beat along: it saw everything that was acknowledged before that beat was sent. No clocks are
compared, and nothing but rows is needed of the database.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Generic, Protocol, TypeVar

from psycopg.pq.abc import PGresult

from hashrange.logs import Log
from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.address import Address, parse_address
from hashrange.storage.postgres.arrays import int8, read_int8
from hashrange.storage.postgres.commit_guard import CommitGuard
from hashrange.storage.postgres.faults import translate
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.watch import Watch

log = Log("storage.postgres")

_BEATS_KEPT = 64
_ANSWER_SECONDS_MAX = 1.0  # the leader can answer as well
_PROBE_SECONDS = 0.25  # how often those that failed are looked at
_BEHIND = "it is too far behind"


class Stale(StorageError):
    """The replica is too far behind, or does not answer."""


class Heart:
    """A thread that writes beats to the leader."""

    def __init__(
        self, leader: Pool, guard: CommitGuard, *, interval_seconds: float, now: Callable[[], float]
    ) -> None:
        """Start to beat."""
        self._leader = leader
        self._guard = guard
        self._interval_seconds = interval_seconds
        self._now = now
        self._server = secrets.token_bytes(16)  # a row of its own: no two servers may write the same
        self._sent: dict[int, float] = {}
        self._is_written = False  # the last beat
        self._stopping = threading.Event()
        self.question = Call(statements.BEAT_READ, (self._server,))
        self._thread = threading.Thread(target=self._run, name="hashrange-beat", daemon=True)
        self._thread.start()

    def age_seconds(self, answer: PGresult) -> float:
        """The most that the replica's data can be behind."""
        number = read_int8(answer.get_value(0, 0)) if answer.ntuples else 0
        sent = self._sent.get(number)
        return float("inf") if sent is None else self._now() - sent

    def stop(self) -> None:
        """End the thread, and leave no row behind if the database can be asked for it."""
        self._stopping.set()
        self._thread.join()
        if self._is_written:
            self._write([Call(statements.BEAT_DROP, (self._server,))])

    def _run(self) -> None:
        self._write([Call(statements.BEATS_EXPIRE)])
        number = 0
        while not self._stopping.wait(self._interval_seconds if number else 0):
            number += 1
            self._sent[number] = self._now()
            self._sent.pop(number - _BEATS_KEPT, None)
            self._write([Call(statements.BEAT, (self._server, int8(number)))])

    def _write(self, calls: Sequence[Call]) -> None:
        if self._guard.is_stalled:
            return  # each beat would leave another session waiting
        try:
            connection, _ = self._leader.begin(calls)
            self._leader.release(connection)
            self._is_written = True
        except Exception as error:  # noqa: BLE001 - replicas count as stale then, and reads go to the leader
            self._is_written = False
            self._guard.note(error)
            log.warning("heartbeat.failed", reason=str(error))


class Replica:
    """The connections to one replica, for reading only; like `Pool`, but it gives nothing that is too old."""

    serializable = False  # no replica can be; what it gives is eventually consistent

    def __init__(self, name: str, pool: Pool, heart: Heart, *, staleness_seconds: float) -> None:
        self._name = name
        self._pool = pool
        self._heart = heart
        self._staleness_seconds = staleness_seconds
        self.is_good = False  # known to answer, and with nothing too old
        self._began = time.monotonic()
        self._trouble: str | None = None  # as it was logged last

    def probe(self) -> None:
        """Find out whether the replica can be used again."""
        try:
            connection, _ = self.begin([Call(statements.SNAPSHOT), Call(statements.COMMIT)])
        except Stale:
            return
        self._pool.release(connection)
        if self._trouble is not None:
            self._trouble = None
            log.info("replica.used", replica=self._name)
        self.is_good = True

    def begin(self, calls: Sequence[Call]) -> tuple[PipelineConnection, list[PGresult]]:
        """Run the first statements of a transaction, and see how old the answer may be."""
        at = 1 if calls[0].name == statements.SNAPSHOT else 0
        with_beat = [*calls[:at], self._heart.question, *calls[at:]]
        try:
            connection, results = self._pool.begin(with_beat)
        except Exception as error:
            raise self._stale(str(translate(error))) from error
        if self._heart.age_seconds(results.pop(at)) > self._staleness_seconds:
            self._pool.abandon(connection)
            raise self._stale(_BEHIND)
        return connection, results

    def release(self, connection: PipelineConnection) -> None:
        """Keep a connection for the next."""
        self._pool.release(connection)

    def abandon(self, connection: PipelineConnection) -> None:
        """Take back a connection in the middle of a transaction."""
        self._pool.abandon(connection)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def _stale(self, why: str) -> Stale:
        """Stop using the replica, and log it once. At the start every replica is behind until the first beat."""
        self.is_good = False
        is_settled = time.monotonic() - self._began > self._staleness_seconds + _PROBE_SECONDS
        if self._trouble is None and (is_settled or why != _BEHIND):
            self._trouble = why
            log.warning("replica.unused", replica=self._name, reason=why)
        return Stale(why)


class Answering(Protocol):
    """What answers reads from one replica."""

    def close(self) -> None:
        """Finish what is queued."""


R = TypeVar("R", bound=Answering)


class Replicas(Generic[R]):
    """All replicas of a server, used in turn. A thread, and no request, finds out whether one that failed is back."""

    def __init__(self, urls: Sequence[str], schema_name: str, staleness_seconds: float) -> None:
        """Read the URLs; opens no connection yet."""
        self._addresses = [
            parse_address(url, schema=schema_name, seconds_max=_ANSWER_SECONDS_MAX, leader=False)
            for url in urls
        ]
        self._staleness_seconds = staleness_seconds
        self._turns = count()
        self._heart: Heart | None = None
        self._all: list[tuple[Replica, R]] = []
        self._stopping = threading.Event()
        self._prober = threading.Thread(target=self._probe, name="hashrange-probe", daemon=True)

    def start(
        self, leader: Pool, guard: CommitGuard, opened: Address, answering: Callable[[Replica], R]
    ) -> None:
        """Start to beat on the leader, which was opened; `answering` makes what answers reads from a replica."""
        interval_seconds = self._staleness_seconds / 4
        self._heart = Heart(leader, guard, interval_seconds=interval_seconds, now=time.monotonic)
        for address in self._addresses:
            address.flavour, address.identity = opened.flavour, opened.identity
            pool = Pool(address, Watch(address), patience_seconds=0)
            replica = Replica(
                address.description, pool, self._heart, staleness_seconds=self._staleness_seconds
            )
            self._all.append((replica, answering(replica)))
        self._prober.start()

    def next(self) -> R | None:
        """The readers of the next replica that can be used, if there is one."""
        for _ in self._all:
            replica, readers = self._all[next(self._turns) % len(self._all)]
            if replica.is_good:
                return readers
        return None

    def close(self) -> None:
        """Finish what is queued and let go of every connection."""
        self._stopping.set()
        if self._heart is not None:
            self._prober.join()
            self._heart.stop()
        for replica, readers in self._all:
            readers.close()
            replica.close()

    def _probe(self) -> None:
        while not self._stopping.wait(_PROBE_SECONDS):
            for replica, _ in self._all:
                if not replica.is_good and not self._stopping.is_set():
                    replica.probe()
