"""Which thread makes the next commit: the event loop's own, as long as the disk is quick, or the writer."""

# A disk that answers within this time keeps nobody waiting long; each row adds what it takes to write.
QUICK_SECONDS = 0.002
QUICK_SECONDS_PER_ROW = 0.00002
# After a slow commit so many are left to the writer thread before the next try, and twice as many each time that it
# was slow again: of a slow disk the event loop feels one commit in some thousands.
AWAY_MIN = 64
AWAY_MAX = 4096


class Pace:
    """Counts the commits until the loop may make one again.

    To hand a commit to another thread, and its outcome back, costs more of the processor and of Python's lock than
    most commits do. But a loop that waits for a slow disk keeps readers waiting who have nothing to do with it.
    """

    __slots__ = ("_away", "_left")

    def __init__(self) -> None:
        """Begin with a try."""
        self._away = AWAY_MIN
        self._left = 0

    def is_loops(self) -> bool:
        """Whether the next commit is the loop's."""
        if self._left:
            self._left -= 1
            return False
        return True

    def took(self, seconds: float, rows: int) -> None:
        """Learn how long the disk took for a commit of the loop's."""
        if seconds <= QUICK_SECONDS + rows * QUICK_SECONDS_PER_ROW:
            self._away = AWAY_MIN
        else:
            self._left = self._away
            self._away = min(self._away * 2, AWAY_MAX)
