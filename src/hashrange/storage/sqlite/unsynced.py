"""The commit that is made but not on disk yet: acknowledged by nobody, and seen by nobody on the event loop.

While the log is synced the loop goes on with other requests. Its reads find the state before the commit: rows in the
cache, which follows when the sync is over, and others in a snapshot that was begun before. Reads of other threads see
the commit, and wait for the sync before they give their result. See docs/design/054-background-sync.md.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import apsw

from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.background_sync import BackgroundSync
from hashrange.storage.sqlite.commit_version import LocalCommitVersion
from hashrange.storage.sqlite.group import CommitGroup
from hashrange.storage.sqlite.sync_placement import SyncPlacement

# A commit with so many rows is made beside the loop as a whole. Fewer are stored in the time of telling another thread.
ROWS_MIN = 64
RELEASE_SECONDS = 0.0002  # between two looks whether the loop has taken note of a sync

Refuse = Callable[[str], StorageError]


class Log(Protocol):
    """What counts commits."""

    def listen(self) -> None:
        """Have SQLite tell of the commits to come."""

    def committed_elsewhere(self, pages: int) -> None:
        """Count a commit that SQLite could not tell of; the log has so many pages after it."""


class UnsyncedCommit:
    """There is one at most. Whoever makes it has the write lock, until `end` has given it back to somebody."""

    def __init__(
        self,
        sync: BackgroundSync,
        version: LocalCommitVersion,
        pin: Callable[[], None],
        unpin: Callable[[], None],
        reads: Callable[[], int],
        refuse: Refuse,
        log: Log,
    ) -> None:
        """`pin` begins a snapshot for the loop's reads, and `unpin` ends that: both on the loop's thread.

        `reads` counts the engine's reads. `refuse` has all commits to come refused, and gives the error.
        """
        self._sync = sync
        self._version = version
        self._pin = pin
        self.unpin = unpin
        self._reads = reads
        self._reads_before = 0
        self._refuse = refuse
        self._log = log
        self._is_stored_elsewhere = False  # the commit, if there is one
        self.placement = SyncPlacement()
        self._group: CommitGroup | None = None
        self._lock = threading.Lock()
        self.number = 0  # of the sync that it waits for; 0: there is no such commit

    def begin(self, group: CommitGroup) -> bool:
        """Begin a commit, on the loop's thread; False if that has failed, and the group has an error.

        One with many rows is stored and committed by the sync's thread. Others are made now, and only synced there.
        """
        try:
            self._pin()
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            group.fail(error)
            return False
        self._version.hold()
        self.number = self._sync.next_number()  # first: as soon as others see the commit they have to wait
        is_begun = False
        try:
            if self._sync.stores and group.has_plain_rows(ROWS_MIN):
                is_begun = self._begin_commit(group)
            else:
                is_begun = group.commit_unsynced() and self._begin_sync(group)
        finally:
            if not is_begun:
                self._sync.skip()
                self._release()
                self.unpin()  # what makes room in the log waits for everybody's snapshot
        return is_begun

    def makes(self, rows: int) -> bool:
        """Whether the sync's thread makes a commit with so many rows."""
        return rows >= ROWS_MIN and self._sync.stores

    def _begin_commit(self, group: CommitGroup) -> bool:
        rows = group.hand_over_rest()
        if rows is None:
            return False
        try:
            self._sync.begin(rows)
        except Exception as error:  # noqa: BLE001 - nothing has been stored yet
            group.fail(error)
            return False
        self._is_stored_elsewhere = True
        self._group = group
        return True

    def _begin_sync(self, group: CommitGroup) -> bool:
        try:
            self._sync.begin()
        except Exception as error:  # noqa: BLE001 - the commit is made; nobody knows whether for good
            group.not_synced(self._refuse(str(error)), self._release)
            return False
        self._group = group
        self._reads_before = self._reads()
        return True

    def is_over(self) -> bool:
        """Whether the commit is on disk, or has failed; for the loop, which the sync's thread has woken."""
        self._sync.take_wakeups()
        return self._group is not None and self._sync.is_over()

    def wait(self) -> None:
        """Wait until nothing that was committed before this call is still unsynced; not on the loop's thread.

        And until the loop's reads see it: they may be asked next.
        """
        number = self.number
        if number:
            self._sync.wait(number)
            while self.number == number:
                time.sleep(RELEASE_SECONDS)

    def end(self) -> CommitGroup | None:
        """Wait for the sync, and give its group; None if another thread has ended it."""
        with self._lock:
            group, self._group = self._group, None
        if group is None:
            return None
        ended = self._sync.wait(self.number)
        is_stored_elsewhere, self._is_stored_elsewhere = self._is_stored_elsewhere, False
        if is_stored_elsewhere:
            self._log.listen()
        if ended.is_undone:
            group.undo(is_doubtful=ended.is_doubtful)
            self._release()
            return group
        if is_stored_elsewhere and ended.log_pages >= 0:
            self._log.committed_elsewhere(ended.log_pages)
        if ended.code:
            error = self._refuse(f"{type(apsw.exception_for(ended.code)).__name__} {ended.code}")
            group.not_synced(error, self._release)
        else:
            group.synced(ended.seconds, self._release)
        if not is_stored_elsewhere:
            self.placement.observe(self._reads() - self._reads_before, ended.seconds)
        return group

    def wake_loop(self) -> None:
        """Have the loop look at what another thread has ended: its snapshot is its own to end."""
        self._sync.wake_loop()

    def _release(self) -> None:
        """Let everybody see the commit."""
        self._version.release()
        self.number = 0
