"""Checkpoints: copying pages from the write-ahead log to the file without holding anyone up.

SQLite would do this inside the commit that crosses a threshold. Here a thread does it beside the
writer. A log that is always being appended to is never copied to its end, so the writer itself copies
the short rest between two commits, after which SQLite starts the log from its beginning again.
"""

import threading
from collections.abc import Callable

import apsw

from hashrange import logs
from hashrange.storage.sqlite.commit_version import CommitVersion

log = logs.Log("storage.sqlite")

LOG_PAGES_START = 4000  # 32 MB; recovering a log costs about 0.6 ms per MB at the next opening
LOG_PAGES_MAX = 4 * LOG_PAGES_START
IDLE_SECONDS = 1.0
WRITER_WAIT_SECONDS_MAX = 5.0

RunBetweenCommits = Callable[[Callable[[], None]], bool]


class Checkpointer:
    """A thread that keeps the log short under load and empties it when there is none."""

    def __init__(
        self,
        connection: apsw.Connection,
        writer: apsw.Connection,
        commit_version: CommitVersion,
        release_idle_snapshots: Callable[[], None],
    ) -> None:
        """Watch the commits of `writer`; `connection` is for this thread alone.

        `release_idle_snapshots` ends the snapshots of readers that nobody uses: they would keep the log from
        starting over.
        """
        self._connection = connection
        self._commit_version = commit_version
        self._release_idle_snapshots = release_idle_snapshots
        self._writer = writer
        self._threshold = LOG_PAGES_START
        self._pages = 0
        self._commits = 0
        self._dirty = False  # the log holds commits
        self._wakeup = threading.Event()
        self._caught_up = threading.Event()
        self._caught_up.set()
        self._stopping = False
        self._run_between_commits: RunBetweenCommits | None = None
        self._thread = threading.Thread(target=self._run, name="hashrange-checkpoint", daemon=True)
        writer.set_wal_hook(self._committed)

    def start(self, run_between_commits: RunBetweenCommits) -> None:
        """Start the thread; `run_between_commits` runs a task on the writer's thread."""
        self._run_between_commits = run_between_commits
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the checkpoint under way, if there is one."""
        self._stopping = True
        self._wakeup.set()
        if self._thread.is_alive():
            self._thread.join()
        self._connection.close(True)

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        if pages < self._pages:  # the log has started over
            self._threshold = LOG_PAGES_START
        self._pages = pages
        self._commits += 1
        self._commit_version.advance(pages)
        if pages >= self._threshold:
            self._caught_up.clear()
            self._wakeup.set()
        elif not self._dirty:
            self._wakeup.set()
        self._dirty = True
        if pages >= LOG_PAGES_MAX and self._run_between_commits and not self._caught_up.is_set():
            self._run_between_commits(self._wait_for_checkpoint)
        return apsw.SQLITE_OK

    def _wait_for_checkpoint(self) -> None:
        """Hold the writer back until the checkpoint under way is over, or the log would outgrow it."""
        self._caught_up.wait(WRITER_WAIT_SECONDS_MAX)

    def _run(self) -> None:
        commits_before = 0
        while True:
            woken = self._wakeup.wait(IDLE_SECONDS)
            self._wakeup.clear()
            if self._stopping:
                return
            if not woken:
                self._release_idle_snapshots()
            if self._pages >= self._threshold:
                self._checkpoint_under_load()
            elif not woken and self._dirty and commits_before == self._commits:
                self._checkpoint_when_idle()
            commits_before = self._commits
            self._caught_up.set()

    def _checkpoint_under_load(self) -> None:
        # Until this is over commits must not ask again. Afterwards they ask when the log has grown as
        # much again, so that a reader who pins an old snapshot costs one futile attempt per so many pages.
        self._threshold = 1 << 62
        _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._threshold = self._pages + LOG_PAGES_START
        if self._run_between_commits:
            self._run_between_commits(self._checkpoint_rest)

    def _checkpoint_rest(self) -> None:
        """Copy what was committed during the checkpoint; the writer's thread does this while nobody commits."""
        if _checkpoint(self._writer, apsw.SQLITE_CHECKPOINT_PASSIVE):
            self._commit_version.log_emptied()

    def _checkpoint_when_idle(self) -> None:
        commits = self._commits
        if _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE):
            done = _checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._dirty = not done or commits != self._commits
            if not self._dirty:
                self._commit_version.log_emptied()


def _checkpoint(connection: apsw.Connection, mode: int) -> bool:
    """Run a checkpoint; True if the whole log is in the file now."""
    try:
        log_pages, copied_pages = connection.wal_checkpoint(mode=mode)
    except apsw.BusyError:
        return False
    except apsw.Error as error:
        # The log keeps everything until a checkpoint works: nothing is lost, but the log grows.
        log.warning("checkpoint.failed", reason=str(error))
        return False
    return log_pages == copied_pages
