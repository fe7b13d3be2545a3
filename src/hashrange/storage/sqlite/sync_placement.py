"""Whether the event loop's next commit waits for the disk itself, or goes on with other requests meanwhile."""

SLOW_SECONDS = 0.001  # longer than this the loop never waits, whatever else there is to do
PROBE_COMMITS = 8  # one of so many is synced in the background to see whether there is anything else to do


class SyncPlacement:
    """Counts the commits until the loop looks again whether it has other work while the log is synced.

    To tell another thread and to be told by it takes some 60 microseconds, a third of a fast disk's sync. Where all
    clients wait for the same commit, nothing is won by that.
    """

    __slots__ = ("_inline_left",)

    def __init__(self) -> None:
        self._inline_left = 0

    def in_background(self) -> bool:
        """Whether somebody else syncs the next commit; counts that commit if not."""
        if self._inline_left:
            self._inline_left -= 1
            return False
        return True

    def observe(self, requests: int, seconds: float) -> None:
        """Learn how many requests came while a commit was synced in the background, and how long the sync took."""
        if not requests and seconds <= SLOW_SECONDS:
            self._inline_left = PROBE_COMMITS - 1

    def observe_inline(self, seconds: float) -> None:
        """Learn how long the loop has waited for the disk."""
        if seconds > SLOW_SECONDS:
            self._inline_left = 0
