"""When a worker that has died is started again, and when there is no point in it any more."""

FIRST_SECONDS = 0.2  # one that worked comes back soon, but not in a tight loop
LONGEST_SECONDS = 30.0
FAILURES_MAX = 6  # starts of every worker that fail in a row, over about a dozen seconds


class Restarts:
    """The workers that wait for their next start; the pause doubles with every start that fails."""

    def __init__(self, workers: int) -> None:
        self._failures = [0] * workers  # starts in a row that failed
        self._times: dict[int, float] = {}  # by number of a worker that has died

    @property
    def are_pointless(self) -> bool:
        """Whether no worker gets as far as to answer requests."""
        return min(self._failures) >= FAILURES_MAX

    def succeeded(self, number: int) -> None:
        """Note that a worker answers requests."""
        self._failures[number] = 0

    def died(self, number: int, now: float, *, was_ready: bool) -> float:
        """Note that a worker has ended; gives the seconds until it is started again."""
        seconds: float = min(FIRST_SECONDS * 2 ** self._failures[number], LONGEST_SECONDS)
        self._failures[number] += not was_ready
        self._times[number] = now + seconds
        return seconds

    def pop_due(self, now: float) -> list[int]:
        """Take out the workers whose time has come."""
        due = [number for number, restart_at in self._times.items() if restart_at <= now]
        for number in due:
            del self._times[number]
        return due

    def next_time(self) -> float:
        """When the next worker is due."""
        return min(self._times.values(), default=float("inf"))
