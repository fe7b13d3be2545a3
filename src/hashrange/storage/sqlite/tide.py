"""How far the commits have come: what tells a reader that its snapshot is out of date."""

from typing import Protocol


class Tide(Protocol):
    """Raised by every commit, in this process or in another that shares the file."""

    def seen(self) -> object:
        """Something that differs after every commit."""

    def commit(self, log_pages: int) -> None:
        """Note a commit, once it can be seen by readers, and how long the log is now."""

    def moved(self) -> None:
        """Note that the whole log is in the file: snapshots that begin now do not keep it from starting over."""

    def log_pages(self) -> int:
        """The pages of the log that a snapshot might need, as of the last commit."""


class LocalTide:
    """The tide of a file that only this process writes."""

    __slots__ = ("_commits", "_log_pages")

    def __init__(self) -> None:
        """Begin before the first commit."""
        self._commits = 0
        self._log_pages = 0

    def seen(self) -> object:
        """The number of commits so far."""
        return self._commits

    def commit(self, log_pages: int) -> None:
        """Note a commit."""
        self._log_pages = log_pages
        self._commits += 1

    def moved(self) -> None:
        """Note that the log is in the file."""
        self._log_pages = 0

    def log_pages(self) -> int:
        """The pages of the log."""
        return self._log_pages
