"""Whether the database is still the one that was opened, and what time it is there.

Every new connection is asked, and a thread asks now and then, since a backup can be restored, or the format be raised,
without any connection being lost.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from psycopg.pq.abc import PGresult

from hashrange.clock import FollowedClock
from hashrange.logs import Log
from hashrange.storage.errors import Replaced, StorageError
from hashrange.storage.formats import FORMAT_VERSION
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.address import Address
from hashrange.storage.postgres.arrays import read_float8
from hashrange.storage.postgres.faults import translate
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import Pool

log = Log("storage.postgres")

QUESTION = Call(statements.STATE)
INTERVAL_SECONDS = 1.0
_STOP_SECONDS = 1.0
_FIRST_LOOKS = 8


class State(NamedTuple):
    """What a database says of itself."""

    identity: str
    format: str
    started_at: float
    now: float


def read_state(answer: PGresult) -> State:
    """What the answer to `QUESTION` says."""
    identity, form = ((answer.get_value(0, column) or b"").decode() for column in (0, 1))
    return State(identity, form, read_float8(answer.get_value(0, 2)), read_float8(answer.get_value(0, 3)))


class Watch:
    """Looks at every connection of a pool when it is opened, and at the database now and then."""

    def __init__(self, address: Address, on_restart: Callable[[str], None] = lambda _reason: None) -> None:
        self._address = address
        self._on_restart = on_restart
        self._started_at: float | None = None
        self._refusal: str | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._own_pool = Pool(address, self, patience_seconds=0)  # whoever has a request says what is wrong
        self.clock = FollowedClock()

    def look(self, connection: PipelineConnection) -> None:
        """Ask on a new connection; raises if this is not the database that was opened."""
        asked_at = time.monotonic()
        state = read_state(connection.run([QUESTION])[0])
        self.clock.measure(state.now, asked_at=asked_at, answered_at=time.monotonic())
        if state.started_at != self._started_at:
            if self._started_at is not None:
                self._on_restart("the database was started anew, or another one leads")
            self._started_at = state.started_at
        self._expect_same(state)

    def expect_same(self) -> None:
        """Raise if the database is known to be another one by now."""
        if self._refusal is not None:
            raise Replaced(self._refusal)

    def start(self) -> None:
        """Ask now, and then at intervals."""
        # The fastest answer says best what time it is: servers should agree from the beginning.
        for _ in range(_FIRST_LOOKS):
            self._ask()
        self._thread = threading.Thread(target=self._run, name="hashrange-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, unless it waits for a database that does not answer: then it ends after that."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)
        self._own_pool.close()

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_SECONDS):
            with suppress(StorageError):
                self._ask()

    def _ask(self) -> None:
        try:
            connection, _ = self._own_pool.begin([])
            try:
                self.look(connection)
            finally:
                self._own_pool.abandon(connection)
        except Exception as error:
            raise translate(error) from error

    def _expect_same(self, state: State) -> None:
        place = self._address.description
        if state.identity != self._address.identity:
            self._refuse(f"{place} is not the database that this server has opened")
        elif state.format != str(FORMAT_VERSION):
            self._refuse(
                f"the database {place} has on-disk format {state.format} by now, this version of Hashrange reads "
                f"{FORMAT_VERSION}"
            )
        self.expect_same()

    def _refuse(self, reason: str) -> None:
        if self._refusal is None:
            self._refusal = f"{reason}. Start the server anew"
            log.error("database.replaced", database=self._address.description, reason=self._refusal)
