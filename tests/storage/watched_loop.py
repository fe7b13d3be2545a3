"""An event loop that runs when a test says so, and watches files as a real one does."""

import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hashrange.storage.sqlite import SqliteEngine


class Outcomes(list[Any]):
    """What the steps that were submitted gave or raised."""

    def done(self, result: Any, error: BaseException | None) -> None:
        self.append(error or result)


class WatchedLoop:
    """Callbacks that are due, and files that may be read."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[], None]] = []
        self.watched: dict[int, Callable[[], None]] = {}

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.callbacks.append(callback)

    def add_reader(self, fd: int, callback: Callable[[], None]) -> None:
        self.watched[fd] = callback

    def remove_reader(self, fd: int) -> None:
        del self.watched[fd]

    def run_once(self, seconds: float = 0.0) -> None:
        """Run one iteration; wait for a file for so long if nothing else is due."""
        readable = []
        if self.watched:
            readable = select.select(list(self.watched), [], [], 0.0 if self.callbacks else seconds)[0]
        due, self.callbacks = self.callbacks, []
        for fd in readable:
            self.watched[fd]()
        for callback in due:
            callback()

    def run_until(self, is_over: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not is_over():
            assert time.monotonic() < until, "it never ends"
            self.run_once(0.01)

    def open(self, directory: Path) -> SqliteEngine:
        """An engine whose event loop this is."""
        return SqliteEngine.open(directory, call_soon=self.call_soon, watch=self)
