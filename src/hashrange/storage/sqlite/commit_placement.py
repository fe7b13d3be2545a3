"""Which thread makes the next commit: the event loop's, as long as the disk is fast, or the writer thread."""

# A commit counts as fast if the disk took no longer than this; every row adds what it takes to write.
FAST_SECONDS = 0.002
FAST_SECONDS_PER_ROW = 0.00002
# After a slow commit the writer thread makes this many before the loop tries again, and twice as many each time
# the try is slow again: on a slow disk the event loop waits for one commit in some thousands.
BACKOFF_COMMITS_MIN = 8
BACKOFF_COMMITS_MAX = 4096


class CommitPlacement:
    """Counts the commits until the loop may make one again.

    Handing a commit to another thread, and its outcome back, costs more processor time and more waiting for Python's
    lock than most commits do. But while the loop waits for a slow disk, readers wait who do not need the disk.
    """

    __slots__ = ("_backoff_commits", "_commits_left")

    def __init__(self) -> None:
        self._backoff_commits = BACKOFF_COMMITS_MIN
        self._commits_left = 0

    def on_loop(self) -> bool:
        """Whether the loop makes the next commit; counts that commit if not."""
        if self._commits_left:
            self._commits_left -= 1
            return False
        return True

    def observe(self, seconds: float, rows: int) -> None:
        """Learn how long the disk took for a commit on the loop."""
        if seconds <= FAST_SECONDS + rows * FAST_SECONDS_PER_ROW:
            self._backoff_commits = BACKOFF_COMMITS_MIN
        else:
            self._commits_left = self._backoff_commits
            self._backoff_commits = min(self._backoff_commits * 2, BACKOFF_COMMITS_MAX)
