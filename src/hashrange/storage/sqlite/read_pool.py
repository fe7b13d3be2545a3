"""The read pool: threads for long reads, so that the event loop does not wait for them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hashrange.core.errors import forget_frames
from hashrange.storage.engine import Deliver, Done
from hashrange.storage.errors import Closed

T = TypeVar("T")

THREADS_MAX = 2  # Python runs one at a time anyway; a second lets a short read overtake a long one


class ReadPool:
    """Runs reads on threads and delivers their outcomes as those of commits are delivered."""

    def __init__(self, deliver: Deliver) -> None:
        """Start no thread before there is something to read."""
        self._deliver = deliver
        self._executor: ThreadPoolExecutor | None = None
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, read: Callable[[], T], done: Done[T]) -> None:
        """Run `read` on a thread; `done` gets its outcome."""
        with self._lock:
            if not self._closed:
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="hashrange-reader")
                self._executor.submit(self._run, read, done)
                return
        done(None, Closed("the engine is closed"))

    def _run(self, read: Callable[[], T], done: Done[T]) -> None:
        try:
            callback = partial(done, read(), None)
        except BaseException as error:  # noqa: BLE001 - `done` gets it
            forget_frames(error)
            callback = partial(done, None, error)
        self._deliver([callback])
        # This frame is in an error's traceback. If it kept the error, both would wait for the garbage collector.
        del callback

    def close(self) -> None:
        """Finish the submitted reads."""
        with self._lock:
            self._closed = True
        if self._executor is not None:
            self._executor.shutdown()
