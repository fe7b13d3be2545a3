"""What a job is to the supervisor."""

from typing import Protocol

IDLE_SECONDS = 60.0  # a job with nothing to do is looked at again after this time, or when it is woken


class Job(Protocol):
    """Work that is done a bit at a time."""

    @property
    def name(self) -> str:
        """Name the job for the log."""

    def step(self, now: float, /) -> float:
        """Do a bounded bit of work; give the seconds until the next."""
