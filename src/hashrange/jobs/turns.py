"""Turns: several jobs of one kind are worked on side by side, and one that fails holds up none of the others."""

import time
from collections.abc import Callable

import msgspec

from hashrange import logs
from hashrange.storage.job_rows import JobPlace

log = logs.Log("jobs.turns")

_AT_ONCE = 4  # each has a scratch file and a file on its way
_RETRY_SECONDS_MIN = 1.0
_RETRY_SECONDS_MAX = 60.0


class _Trouble(msgspec.Struct):
    """A job that fails."""

    since: float
    retry_at: float
    kind: str  # of the error; its text may be another every time
    failures: int = 1


class Turns:
    """Whose turn it is. What fails waits, longer every time; what is wrong with it is logged when that changes."""

    def __init__(self, kind: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._kind = kind
        self._monotonic = monotonic
        self._served: dict[JobPlace, int] = {}
        self._troubles: dict[JobPlace, _Trouble] = {}
        self._turn = 0

    def choose(self, places: list[JobPlace]) -> JobPlace | None:
        """The one of the oldest jobs that has waited for longest; None if all of them have to wait."""
        for memory in (self._served, self._troubles):
            for gone in memory.keys() - set(places):
                del memory[gone]
        ready = [place for place in places if self._wait(place) <= 0][:_AT_ONCE]
        if not ready:
            return None
        chosen = min(ready, key=lambda place: self._served.get(place, 0))
        self._turn += 1
        self._served[chosen] = self._turn
        return chosen

    def pause(self, places: list[JobPlace]) -> float:
        """How long to wait until the first of the jobs may be tried again."""
        return max(0.0, min(self._wait(place) for place in places))

    def failed(self, place: JobPlace, table: str, error: Exception) -> float:
        """Have a job wait; give for how long it has been failing."""
        now = self._monotonic()
        trouble = self._troubles.get(place)
        kind = f"{type(error).__name__} {getattr(error, 'reason', '')}"
        if trouble is None or trouble.kind != kind:
            log.warning("job.waiting", job=self._kind, table=table, id=place.id, error=error)
        if trouble is None:
            self._troubles[place] = _Trouble(now, now + _RETRY_SECONDS_MIN, kind)
            return 0.0
        wait = min(_RETRY_SECONDS_MIN * 2**trouble.failures, _RETRY_SECONDS_MAX)
        trouble.failures += 1
        trouble.retry_at, trouble.kind = now + wait, kind
        return now - trouble.since

    def succeeded(self, place: JobPlace, table: str) -> None:
        """Forget what was wrong."""
        if self._troubles.pop(place, None) is not None:
            log.info("job.resumed", job=self._kind, table=table, id=place.id)

    def _wait(self, place: JobPlace) -> float:
        trouble = self._troubles.get(place)
        return 0.0 if trouble is None else trouble.retry_at - self._monotonic()
