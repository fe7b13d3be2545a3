"""Threads for requests that would hold up the event loop: large bodies, and steps that turned out to be long."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from hashrange import logs
from hashrange.core import effort
from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import Deliver, Done

THREADS_MAX = 2  # Python runs one at a time anyway; a second lets a short request overtake a long one
QUEUED_BYTES_MAX = 128 * 1024 * 1024  # of bodies that wait for a thread
_DELIVERY_SECONDS = 1.0

log = logs.Log("background")

S = TypeVar("S")
T = TypeVar("T")


class Background:
    """Runs work on threads, with the time that such a thread has, and brings its outcome to the event loop."""

    def __init__(self, deliver: Deliver = run_inline) -> None:
        """Start no thread before there is work; this one is the event loop's."""
        self._deliver = deliver
        self._loop_thread = threading.get_ident()
        self._executor: ThreadPoolExecutor | None = None
        self._queued_bytes = 0
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], None], size_bytes: int = 0) -> bool:
        """Run `work`, which answers by itself, on a thread; False if too much waits already."""
        with self._lock:
            if self._closed or (size_bytes and self._queued_bytes + size_bytes > QUEUED_BYTES_MAX):
                return False
            self._queued_bytes += size_bytes
            if self._executor is None:
                self._executor = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="hashrange-background")
            self._executor.submit(self._run, work, size_bytes)
        return True

    def _run(self, work: Callable[[], None], size_bytes: int) -> None:
        try:
            with patience():
                work()
        except Exception as error:  # noqa: BLE001 - the thread goes on
            log.error("background.failed", error=error)
        finally:
            with self._lock:
                self._queued_bytes -= size_bytes

    def call_on_loop(self, callback: Callable[[], None]) -> None:
        """Have the event loop call back, and wait until it has.

        What the work has made is then let go by this thread and not by the loop: taking a large tree apart takes long.
        """
        called = threading.Event()

        def call() -> None:
            try:
                callback()
            finally:
                called.set()

        self._deliver([call])
        called.wait(_DELIVERY_SECONDS)

    def deliver(self, callback: Callable[[], None]) -> None:
        """Have the event loop call back, and do not wait for that."""
        self._deliver([callback])

    def on_loop(self, done: Done[T]) -> Done[T]:
        """What has `done` called on the event loop's thread, also by an engine that calls it where it was asked."""
        return partial(self._tell, done)

    def _tell(self, done: Done[T], result: T | None, error: BaseException | None) -> None:
        if threading.get_ident() == self._loop_thread:
            done(result, error)
        else:
            self._deliver([partial(done, result, error)])

    def close(self) -> None:
        """Finish what was submitted."""
        with self._lock:
            self._closed = True
        if self._executor is not None:
            self._executor.shutdown()


@contextmanager
def patience() -> Iterator[None]:
    """Run with the time of a thread of one's own."""
    with effort.patience(time.thread_time):
        yield


def limited(step: Callable[[S], T], subject: S) -> T:
    """Run a step on a thread that others wait for."""
    effort.begin()
    try:
        return step(subject)
    finally:
        effort.end()
