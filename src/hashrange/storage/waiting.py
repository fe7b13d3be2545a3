"""Waiting for what another thread will finish."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Waiter(Generic[T]):
    """One outcome, awaited by one thread and set by another."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._result: T | None = None
        self._error: BaseException | None = None

    def done(self, result: T | None, error: BaseException | None) -> None:
        """Set the outcome; has the form of an engine's `done`."""
        self._result, self._error = result, error
        self._over.set()

    def run(self, work: Callable[[], T]) -> None:
        """Call `work` and make its result or its exception the outcome."""
        try:
            self.done(work(), None)
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            self.done(None, error)

    def wait(self) -> T:
        """Give the result or raise the error."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return cast("T", self._result)
