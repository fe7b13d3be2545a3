"""Moving the clock of a server that was started with --test-clock, and of all others on its data."""

from collections.abc import Callable
from functools import partial

from hashrange import logs
from hashrange.clock import MovableClock
from hashrange.storage import clock_record
from hashrange.storage.clock_record import ClockRecord
from hashrange.storage.engine import Engine, Transaction

Moved = Callable[[BaseException | None], None]

log = logs.Log("clock")


class ClockControl:
    """Brings a movable clock to what is stored, and the other way round.

    Workers see each other's moves in shared memory, and servers in the record when they `poll`. To wake up the jobs
    after a move by somebody else, `look` is called at intervals. All of it happens on the event loop.
    """

    def __init__(self, engine: Engine, clock: MovableClock) -> None:
        self._engine = engine
        self.clock = clock
        self._seen_seconds = clock.ahead_seconds
        self.before_move: Callable[[], None] | None = None  # for what has happened by the time that was
        self.on_move: Callable[[], None] | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other servers have to hear of a move."""
        return self._engine.shared

    def advance(self, seconds: float, moved: Moved) -> None:
        """Move the clock by a span of time; `moved` is called when that is on disk."""
        self._move(partial(clock_record.advance, seconds=seconds), moved)

    def set_to(self, moment: float, moved: Moved) -> None:
        """Move the clock to a moment."""
        self._move(partial(clock_record.set_to, moment=moment), moved)

    def _move(self, step: Callable[..., float], moved: Moved) -> None:
        def run(tx: Transaction) -> float:
            return step(tx, base_now=self.clock.base_now())

        def done(ahead_seconds: float | None, error: BaseException | None) -> None:
            if ahead_seconds is not None:
                self._take(ahead_seconds)
            moved(error)

        self._engine.submit(run, done, reads=clock_record.READS)

    def poll(self) -> None:
        """Follow what another server has stored."""
        self._engine.submit_read(clock_record.stored_record, self._polled, reads=clock_record.READS)

    def _polled(self, record: ClockRecord | None, _error: BaseException | None) -> None:
        if record is not None:
            self._take(record.ahead_seconds)

    def _take(self, ahead_seconds: float) -> None:
        if self.before_move is not None and ahead_seconds != self.clock.ahead_seconds:
            self.before_move()
        self.clock.move(ahead_seconds)
        self.look()

    def look(self) -> None:
        """Wake up whoever waits for time to pass, if the clock was moved since the last look."""
        ahead_seconds = self.clock.ahead_seconds
        if ahead_seconds != self._seen_seconds:
            self._seen_seconds = ahead_seconds
            log.info("clock.moved", ahead_seconds=ahead_seconds)
            if self.on_move is not None:
                self.on_move()
