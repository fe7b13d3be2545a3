"""Ending at a signal: between two requests, with everything that was done remembered."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hashrange.transfer.errors import Interrupted


class Stop:
    """Whether somebody asked the transfer to stop."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        """Ask everybody to stop."""
        self._event.set()

    def clear(self) -> None:
        """Go on, with what comes after that which was stopped."""
        self._event.clear()

    def check(self) -> None:
        """Raise if somebody asked."""
        if self._event.is_set():
            raise Interrupted

    def sleep(self, seconds: float) -> None:
        """Wait, but not for longer than until somebody asks."""
        if self._event.wait(seconds):
            raise Interrupted


@contextmanager
def at_signals(stop: Stop) -> Iterator[None]:
    """Stop at SIGINT and SIGTERM; a second one ends the process at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
