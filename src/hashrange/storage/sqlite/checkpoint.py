"""Checkpoints: copying pages from the write-ahead log to the file, so that the log stays short.

SQLite would do this inside the commit that crosses a threshold. Here a thread does it beside the writer. A log that is
always being appended to is never copied to its end, so the writer itself copies the short rest between two commits,
after which SQLite starts the log from its beginning again. It can do that only while no reader has a snapshot of the
log: when the log is due, readers that nobody uses give theirs up. Past a second threshold the writer waits for that.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import apsw

from hashrange import logs
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.commit_version import CommitVersion
from hashrange.storage.sqlite.group import Remedy
from hashrange.storage.sqlite.guard import CommitGuard
from hashrange.storage.sqlite.schema import BUSY_TIMEOUT_MS, PAGE_BYTES

log = logs.Log("storage.sqlite")

LOG_PAGES_START = 16_000  # 125 MB; recovering a log costs about 0.6 ms per MB at the next opening
LOG_PAGES_START_MIN = 64
VOLUME_SHARE = 32  # the log of a small volume is due when it has this part of it
MAX_FACTOR = (
    2  # the writer waits for a checkpoint when the log has this many times the pages at which it is due
)
POLL_SECONDS = 0.1
IDLE_SECONDS = 1.0
KEPT_SECONDS = (
    60.0  # that a log keeps its space when it is idle: commits take longer where a file has to grow
)
KEPT_PAGES = 4000  # one that was shorter does not
PASSES_MAX = 4  # over the log beside commits, each over what was committed during the one before
REST_PAGES = 256  # that the writer may copy while nobody commits
READER_WAIT_MS = 20
SHRINK_SECONDS = 0.25  # between attempts to win space on a full disk
WRITER_WAIT_SECONDS_MAX = 1.0

RunBetweenCommits = Callable[[Callable[[], None]], bool]


class LogLimits(NamedTuple):
    """How long the log may get."""

    start: int  # pages at which a checkpoint is due
    most: int  # pages at which writers wait for it

    @classmethod
    def of_volume(cls, directory: Path) -> "LogLimits":
        """The limits for the volume that a directory is on."""
        volume = os.statvfs(directory)
        share = volume.f_blocks * volume.f_frsize // VOLUME_SHARE // PAGE_BYTES
        start = min(LOG_PAGES_START, max(LOG_PAGES_START_MIN, share))
        return cls(start, MAX_FACTOR * start)


class Checkpointer:
    """A thread that keeps the log short under load and empties it when there is none."""

    def __init__(
        self,
        connection: apsw.Connection,
        writer: apsw.Connection,
        commit_version: CommitVersion,
        release_snapshots: Callable[[bool], None],
        guard: CommitGuard,
        limits: LogLimits,
    ) -> None:
        """Watch the commits of `writer`; `connection` is for this thread alone.

        `release_snapshots` ends the snapshots of readers that nobody uses: they would keep the log from starting over.
        With False it spares those that were used since the last call. The `guard` looks at the files while nothing is
        committed, and has the reserve for a full disk.
        """
        self._guard = guard
        self._connection = connection
        self._commit_version = commit_version
        self._release_snapshots = release_snapshots
        self._writer = writer
        self.limits = limits
        self._threshold = limits.start
        self._wait_at = limits.most
        self._shrink_again_at = 0.0
        self._commits = 0
        self._dirty = False  # the log holds commits that may not be in the file
        self._has_space = False  # the log's file has space to give back
        self._wakeup = threading.Event()
        self._stopping = False
        self._failing = logs.Outage(log, "checkpoint")
        self._pinned = logs.Outage(log, "log_restart")
        self._run_between_commits: RunBetweenCommits | None = None
        self._begin_log: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name="hashrange-checkpoint", daemon=True)
        self.listen()

    def listen(self) -> None:
        """Have SQLite tell of every commit; to be called again after one that somebody else made."""
        self._writer.set_wal_hook(self._committed)

    def start(self, run_between_commits: RunBetweenCommits, begin_log: Callable[[], None]) -> None:
        """Start the thread; `run_between_commits` runs a task on the writer's thread.

        `begin_log` is for such tasks, and makes a commit that changes nothing but the number of the log's round.
        """
        self._run_between_commits = run_between_commits
        self._begin_log = begin_log
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the checkpoint under way, if there is one."""
        self._stopping = True
        self._wakeup.set()
        if self._thread.is_alive():
            self._thread.join()
        self._connection.close(True)

    # On the thread that commits, with the write lock held.

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        if (
            pages < self._threshold - self.limits.start or pages < self.limits.start
        ):  # the log has started over
            self._threshold = self.limits.start
            self._wait_at = self.limits.most
        self._commits += 1
        self._commit_version.advance(pages)
        if pages >= self._threshold or not self._dirty:
            self._wakeup.set()
        self._dirty = self._has_space = True
        return apsw.SQLITE_OK

    def committed_elsewhere(self, pages: int) -> None:
        """Count a commit that SQLite could not tell of here, after which the log has so many pages."""
        self._committed(self._writer, "main", pages)

    @property
    def must_wait(self) -> bool:
        """Whether the log is so long that the next commit has to wait; look before taking the write lock."""
        return self._commit_version.log_pages() >= self._wait_at

    def make_room(self) -> None:
        """Wait for the log to start over. Not for ever: a foreign process may have a snapshot of it.

        If it cannot be copied because the disk fails, nothing more is written to it.
        """
        deadline = time.monotonic() + WRITER_WAIT_SECONDS_MAX
        while self.must_wait:
            self._release_snapshots(True)
            if self._restart(apsw.SQLITE_CHECKPOINT_RESTART):
                return
            if time.monotonic() > deadline:
                # Writers may go on a little, and wait again.
                self._wait_at = self._commit_version.log_pages() + self.limits.start // 4
                self._pinned.failed("another process reads an old state of the data file, and the log grows")

    def remedies(self, *, frees_space: bool) -> list[Remedy]:
        """What to do for a step if the disk is full: empty the log; for one that frees space, use the reserve."""
        if frees_space:
            return [self._shrink, self._guard.reserve.give_up]
        return [self._shrink_now_and_then]

    def _shrink_now_and_then(self) -> bool:
        """Empty the log if there is something in it, but not for every one of a thousand writes a second."""
        now = time.monotonic()
        if not self._has_space or now < self._shrink_again_at:
            return False
        self._shrink_again_at = now + SHRINK_SECONDS
        return self._shrink()

    def _shrink(self) -> bool:
        """Empty the log and give its space back."""
        self._release_snapshots(True)
        with contextlib.suppress(apsw.Error):
            return self._restart(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return False

    def _restart(self, mode: int) -> bool:
        """Copy the whole log and have the next commit begin it anew; the writer's connection waits a little."""
        self._writer.set_busy_timeout(READER_WAIT_MS)
        try:
            done = self._checkpoint(self._writer, mode).is_whole
        finally:
            self._writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        if done:
            self._log_emptied(mode)
        return done

    def _checkpoint_rest(self) -> None:
        """Copy what was committed during the checkpoint; the writer's thread does this while nobody commits."""
        self._release_snapshots(True)
        with contextlib.suppress(apsw.Error):
            self._restart(apsw.SQLITE_CHECKPOINT_RESTART)

    def _begin_anew(self) -> None:
        """Have the log start over in its space, by a commit: until then a part of the old one would still count.

        Somebody who cut off the end of such a log would have an older state of its pages copied into the file.
        """
        self._release_snapshots(True)
        with contextlib.suppress(apsw.Error, StorageError):
            if self._restart(apsw.SQLITE_CHECKPOINT_RESTART):
                self._dirty = True
                self._begin_log()
                self._dirty = False

    def _log_emptied(self, mode: int) -> None:
        """All of it is in the file, and the next commit begins it anew."""
        self._dirty = False
        self._has_space = self._has_space and mode != apsw.SQLITE_CHECKPOINT_TRUNCATE
        self._commit_version.log_emptied()
        self._reset_limits(0)

    def _reset_limits(self, pages: int) -> None:
        """Forget what was put off while the log could not start over, if it has since."""
        if pages < self.limits.start:
            self._threshold = self.limits.start
            self._wait_at = self.limits.most
            if self._pinned.lasts:
                self._pinned.worked()

    # On this thread.

    def _run(self) -> None:
        commits_before, idle_since = 0, time.monotonic()
        long_at = -math.inf
        while True:
            self._wakeup.wait(POLL_SECONDS)
            self._wakeup.clear()
            if self._stopping:
                return
            now = time.monotonic()
            if commits_before != self._commits:
                commits_before, idle_since = self._commits, now
            pages = self._commit_version.log_pages()
            if pages >= KEPT_PAGES:
                long_at = now
            if pages >= self.limits.start // 2:
                # Another worker may be the one that commits: its log cannot start over while we have a snapshot.
                self._release_snapshots(True)
            if pages >= self._threshold and self._dirty:
                self._checkpoint_under_load(pages)
            elif now - idle_since >= IDLE_SECONDS:
                idle_since = now
                self._guard.watch()
                self._release_snapshots(False)
                keeps_space = now - long_at < KEPT_SECONDS
                if self._dirty or (self._has_space and not keeps_space):
                    with contextlib.suppress(apsw.Error):
                        self._checkpoint_when_idle(keeps_space=keeps_space)

    def _checkpoint_under_load(self, pages: int) -> None:
        # If the log cannot start over this time, the next attempt is due when it has grown a little.
        self._threshold = pages + self.limits.start // 4
        with contextlib.suppress(apsw.Error):
            self._copy_beside_commits()
        if self._run_between_commits and not self._stopping:
            self._run_between_commits(self._checkpoint_rest)

    def _copy_beside_commits(self) -> None:
        """Copy the log until little was committed meanwhile, or until that does not get less."""
        left = math.inf
        for _ in range(PASSES_MAX):
            copied = self._checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE).copied
            left_before, left = left, self._commit_version.log_pages() - copied
            if not REST_PAGES < left < left_before / 2:
                return

    def _checkpoint_when_idle(self, *, keeps_space: bool) -> None:
        commits = self._commits
        if not self._checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_PASSIVE).is_whole:
            return
        if keeps_space and self._run_between_commits:
            self._run_between_commits(self._begin_anew)
            return
        done = self._checkpoint(self._connection, apsw.SQLITE_CHECKPOINT_TRUNCATE).is_whole
        if done and commits == self._commits:
            self._log_emptied(apsw.SQLITE_CHECKPOINT_TRUNCATE)

    # On either.

    def _checkpoint(self, connection: apsw.Connection, mode: int) -> "_Copied":
        """Run a checkpoint. Raises if the disk fails."""
        if self._guard.is_log_cut:
            return _NOTHING
        try:
            copied = _Copied(*connection.wal_checkpoint(mode=mode))
        except (apsw.BusyError, apsw.LockedError):
            return _NOTHING
        except apsw.Error as error:
            # The log keeps everything until a checkpoint works: nothing is lost.
            self._failing.failed(str(error))
            raise
        if self._failing.lasts:
            self._failing.worked()
        return copied


class _Copied(NamedTuple):
    """What a checkpoint has found in the log, and how much of that is in the file now; both count pages."""

    log: int
    copied: int

    @property
    def is_whole(self) -> bool:
        """Whether all of the log is in the file now."""
        return self.log == self.copied


_NOTHING = _Copied(1, 0)
