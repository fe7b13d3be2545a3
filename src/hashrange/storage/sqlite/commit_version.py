"""The commit version: what tells a reader that its snapshot is out of date."""

from typing import Protocol


class CommitVersion(Protocol):
    """Advanced by every commit, in this process or in another one that shares the file."""

    def current(self) -> object:
        """A value that differs after every commit."""

    def advance(self, log_pages: int) -> None:
        """Count a commit that readers can see now; the write-ahead log has `log_pages` pages after it."""

    def log_emptied(self) -> None:
        """A checkpoint has copied the whole log: snapshots that begin now do not keep it from starting over."""

    def log_pages(self) -> int:
        """The pages of the log that a snapshot might need, as of the last commit."""


class LocalCommitVersion:
    """The commit version of a file that only this process writes."""

    __slots__ = ("_commits", "_held", "_is_held", "_log_pages")

    def __init__(self) -> None:
        self._commits = 0
        self._log_pages = 0
        self._is_held = False
        self._held = 0  # commits that readers are not to see yet

    def current(self) -> object:
        """The number of commits so far."""
        return self._commits

    def advance(self, log_pages: int) -> None:
        """Count a commit, now or when it is released."""
        self._log_pages = log_pages
        if self._is_held:
            self._held += 1
        else:
            self._commits += 1

    def hold(self) -> None:
        """Keep back the commits to come: they are not on disk yet."""
        self._is_held = True

    def release(self) -> None:
        """Count what was kept back."""
        self._is_held = False
        held, self._held = self._held, 0
        self._commits += held

    def log_emptied(self) -> None:
        """Note that no snapshot needs the log."""
        self._log_pages = 0

    def log_pages(self) -> int:
        """The pages of the log."""
        return self._log_pages
