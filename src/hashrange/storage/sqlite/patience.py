"""Long reads: threads of their own, so that nobody waits for them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hashrange.storage.engine import Deliver, Done
from hashrange.storage.errors import Closed

T = TypeVar("T")

THREADS = 2  # Python runs one at a time anyway; a second lets a short one overtake a long one


class PatientReaders:
    """Runs reads beside the event loop and delivers their outcomes like those of commits."""

    def __init__(self, deliver: Deliver) -> None:
        """Start no thread before there is something to read."""
        self._deliver = deliver
        self._threads: ThreadPoolExecutor | None = None
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], T], done: Done[T]) -> None:
        """Have a thread do the work; `done` gets its outcome."""
        with self._lock:
            if not self._closed:
                if self._threads is None:
                    self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="hashrange-reader")
                self._threads.submit(self._run, work, done)
                return
        done(None, Closed("the engine is closed"))

    def _run(self, work: Callable[[], T], done: Done[T]) -> None:
        try:
            callback = partial(done, work(), None)
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            callback = partial(done, None, error)
        self._deliver([callback])

    def close(self) -> None:
        """Finish what was submitted."""
        with self._lock:
            self._closed = True
        if self._threads is not None:
            self._threads.shutdown()
