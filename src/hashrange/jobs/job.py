"""What a job is to the supervisor."""

from typing import Protocol, runtime_checkable

IDLE_SECONDS = 60.0  # a job with nothing to do runs again after this time, or when the supervisor is woken


class Job(Protocol):
    """Background work in small steps."""

    @property
    def name(self) -> str:
        """Name the job for the log."""

    def step(self, now: float, /) -> float:
        """Do a bounded amount of work; give the seconds until the next step."""


@runtime_checkable
class OpenJob(Job, Protocol):
    """A job that has threads, files or connections open between its steps."""

    def close(self) -> None:
        """Release them; a step that follows begins anew."""
