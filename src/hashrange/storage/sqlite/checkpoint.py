"""Checkpoints: moving pages from the write-ahead log to the file without holding anyone up.

SQLite would do this inside the commit that crosses a threshold. Here a thread does it beside the
writer; and because a log that is always being appended to is never quite moved, the writer itself moves
the short rest between two commits, after which SQLite starts the log from its beginning again.
"""

import logging
import threading
from collections.abc import Callable

import apsw

from hashrange.storage.sqlite.tide import Tide

log = logging.getLogger(__name__)

LOG_PAGES_START = 4000  # 32 MB; recovering a log costs about 0.6 ms per MB at the next opening
LOG_PAGES_MAX = 4 * LOG_PAGES_START
IDLE_SECONDS = 1.0
HELD_BACK_SECONDS_MAX = 5.0

Interject = Callable[[Callable[[], None]], bool]


class Checkpointer:
    """A thread that keeps the log short while there is load and empty when there is none."""

    def __init__(
        self, connection: apsw.Connection, writer: apsw.Connection, tide: Tide, unpin: Callable[[], None]
    ) -> None:
        """Start watching the commits of `writer`; `connection` is for this thread alone.

        `unpin` ends the snapshots of readers that nobody uses: they would keep the log from starting over.
        """
        self._connection = connection
        self._tide = tide
        self._unpin = unpin
        self._writer = writer
        self._threshold = LOG_PAGES_START
        self._pages = 0
        self._commits = 0
        self._dirty = False
        self._due = threading.Event()
        self._resting = threading.Event()
        self._resting.set()
        self._stop = False
        self._interject: Interject | None = None
        self._thread = threading.Thread(target=self._run, name="hashrange-checkpoint", daemon=True)
        writer.set_wal_hook(self._committed)

    def start(self, interject: Interject) -> None:
        """Begin; `interject` runs something on the writer's thread between commits."""
        self._interject = interject
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the checkpoint it may be in."""
        self._stop = True
        self._due.set()
        if self._thread.is_alive():
            self._thread.join()
        self._connection.close(True)

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        if pages < self._pages:  # the log has started over
            self._threshold = LOG_PAGES_START
        self._pages = pages
        self._commits += 1
        self._tide.commit(pages)
        if pages >= self._threshold:
            self._resting.clear()
            self._due.set()
        elif not self._dirty:
            self._due.set()
        self._dirty = True
        if pages >= LOG_PAGES_MAX and self._interject and not self._resting.is_set():
            self._interject(self._hold_back)
        return apsw.SQLITE_OK

    def _hold_back(self) -> None:
        """Keep the writer waiting until the checkpoint under way is over, or the log would outgrow it."""
        self._resting.wait(HELD_BACK_SECONDS_MAX)

    def _run(self) -> None:
        seen = 0
        while True:
            called = self._due.wait(IDLE_SECONDS)
            self._due.clear()
            if self._stop:
                return
            if not called:
                self._unpin()
            if self._pages >= self._threshold:
                self._shorten()
            elif not called and self._dirty and seen == self._commits:
                self._empty()
            seen = self._commits
            self._resting.set()

    def _shorten(self) -> None:
        # Until this is over commits must not ask again; afterwards they ask when the log has grown as
        # much again, so that a reader who pins an old snapshot costs one futile attempt per so many pages.
        self._threshold = 1 << 62
        _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._threshold = self._pages + LOG_PAGES_START
        if self._interject:
            self._interject(self._finish)

    def _finish(self) -> None:
        if _checkpoint(self._writer, apsw.SQLITE_CHECKPOINT_PASSIVE):
            self._tide.moved()

    def _empty(self) -> None:
        commits = self._commits
        if _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE):
            done = _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._dirty = not done or commits != self._commits
            if not self._dirty:
                self._tide.moved()


def _checkpoint(connection: apsw.Connection, mode: int) -> bool:
    """Run a checkpoint; True if the whole log is in the file now."""
    try:
        log_pages, moved_pages = connection.wal_checkpoint(mode=mode)
    except apsw.BusyError:
        return False
    except apsw.Error as error:
        # The log keeps everything until a checkpoint works, so this is no loss, only growth.
        log.warning("checkpoint failed: %s", error)
        return False
    return log_pages == moved_pages
