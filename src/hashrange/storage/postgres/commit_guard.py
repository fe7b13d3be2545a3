"""What to do when commits do not get through to the replicas, or nobody knows whether they did.

With synchronous replication PostgreSQL holds a commit back, invisible and with all of its locks, until enough replicas
have it. When they are away that lasts as long as they are. It must not be cancelled: a cancelled commit becomes visible
here, and a failover takes it back. So a writer that has waited for too long answers that the outcome is unknown,
leaves its commit waiting, and no other is sent until a probe has got through: otherwise each would leave a session
and its locks behind. The probe is a write of nobody's, which may be cancelled.

If somebody else has cancelled a commit, or the database has been started anew (which makes all commits visible that
were being held back), what strongly consistent reads would show may not be on the replicas. They wait until a probe
has got through: it comes after all of that in the log, so whoever has it has everything.
"""

import secrets
import select
import threading
import time
from contextlib import suppress

import msgspec

from hashrange.logs import Log
from hashrange.storage.errors import Unavailable
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.address import Address
from hashrange.storage.postgres.arrays import int8
from hashrange.storage.postgres.faults import Broken, Refused, TimedOut
from hashrange.storage.postgres.pipeline import Call, PipelineConnection

log = Log("storage.postgres")

PROBE_SECONDS = 2.0  # how long one may take
PAUSE_SECONDS = 0.25  # between two
_STOP_SECONDS = 1.0
PATIENCE_SECONDS = 5.0  # how long reads wait for one to get through


class Stalled(Unavailable):
    """An earlier commit still waits, so none is sent: nothing was written."""


class CommitGuard:
    """Knows whether commits get through; looks after those that did not, on a thread, while there are any."""

    def __init__(self, address: Address) -> None:
        self._address = msgspec.structs.replace(address, seconds_max=PROBE_SECONDS)
        name = secrets.token_bytes(16)
        # Both in one transaction, which leaves nothing behind but its place in the log.
        self._probe_calls = [
            Call(statements.BEAT, (name, int8(0))),
            Call(statements.BEAT_DROP, (name,)),
        ]
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._troubles = 0  # so far: a probe says nothing about those that came after it was sent
        self._late: list[PipelineConnection] = []  # with commits that wait
        self._doubted_at: float | None = None
        self.is_stalled = False

    # For writers.

    def expect_working(self) -> None:
        """Raise if commits do not get through."""
        if self.is_stalled:
            raise Stalled("an earlier commit waits for the database or its replicas")

    def stall(self, connection: PipelineConnection, reason: str) -> None:
        """Note that a commit got no answer in time; looks after its connection from here on."""
        with self._changed:
            if connection.broken:
                connection.close()
            else:
                self._late.append(connection)
            if not self.is_stalled:
                self.is_stalled = True
                log.error("commits.stalled", database=self._address.description, reason=reason)
            self._start()

    def note(self, error: BaseException) -> None:
        """Note that something else than a writer has failed, if it is for that reason."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, TimedOut):
            cause = cause.__cause__
        if cause is not None:
            with self._changed:
                if not self.is_stalled:
                    self.is_stalled = True
                    log.error("commits.stalled", database=self._address.description, reason=str(cause))
                self._start()

    # For readers.

    @property
    def in_doubt(self) -> bool:
        """Whether something is visible that may not be on the replicas."""
        return self._doubted_at is not None

    def doubt(self, reason: str) -> None:
        """Note that something may be visible that is not on the replicas."""
        with self._changed:
            if self._doubted_at is None:
                self._doubted_at = time.monotonic()
                log.warning("commits.doubtful", database=self._address.description, reason=reason)
            self._start()

    def expect_confirmed(self) -> None:
        """Wait while there is doubt; raise if it lasts."""
        doubted_at = self._doubted_at
        if doubted_at is None:
            return
        left = doubted_at + PATIENCE_SECONDS - time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: not self.in_doubt or self._closing.is_set(), max(0.0, left))
            if self.in_doubt:
                raise Unavailable("what would be read may not have reached the replicas yet")

    def close(self) -> None:
        """End the thread and let go of every connection."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(_STOP_SECONDS)  # it ends by itself when the database has answered
        with self._changed:
            self._let_go()

    # The thread.

    def _start(self) -> None:
        self._troubles += 1
        if self._thread is None and not self._closing.is_set():
            self._thread = threading.Thread(target=self._run, name="hashrange-commits", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        probing: PipelineConnection | None = None
        while not self._closing.is_set():
            troubles = self._troubles
            probing, is_through = self._probe(probing)
            if is_through and self._end(troubles):
                break
            self._look_after_late(PAUSE_SECONDS)
        if probing is not None:
            probing.close()

    def _end(self, troubles: int) -> bool:
        """All is well, unless there was trouble again since the probe was sent."""
        with self._changed:
            if troubles != self._troubles:
                return False
            log.info("commits.confirmed", database=self._address.description)
            self.is_stalled = False
            self._doubted_at = None
            self._thread = None
            self._let_go()
            self._changed.notify_all()
        return True

    def _let_go(self) -> None:
        late, self._late = self._late, []
        for connection in late:
            connection.close()

    def _probe(self, connection: PipelineConnection | None) -> tuple[PipelineConnection | None, bool]:
        """See whether a commit gets through; gives the connection for the next time, if it is still good."""
        try:
            connection = connection or self._address.open_pipeline()
            connection.run_or_cancel(self._probe_calls, seconds=PROBE_SECONDS)
        except (Broken, Refused):
            if connection is not None:
                connection.close()
            return None, False
        return connection, not connection.warned

    def _look_after_late(self, seconds: float) -> None:
        """Wait, and see whether a commit that nobody waits for any more is cancelled meanwhile."""
        with self._changed:
            late = {connection.fileno: connection for connection in self._late if not connection.broken}
        poll = select.poll()
        for number in late:
            poll.register(number, select.POLLIN)
        if not late:
            self._closing.wait(seconds)
            return
        for number, _ in poll.poll(seconds * 1000):
            self._settle(late[number])

    def _settle(self, connection: PipelineConnection) -> None:
        with suppress(Broken):
            connection.receive_rest()
        if connection.warned:
            self.doubt("a commit that waited for the replicas was cancelled")
        with self._changed:
            if connection in self._late:
                self._late.remove(connection)
        connection.close()
