"""A lane: a few threads for requests to a key service, with a limit on how many wait for one.

New tables and tables that are there have lanes of their own, so that a flood of the first leaves the others theirs.
"""

import threading
from collections.abc import Callable
from queue import SimpleQueue

from hashrange import logs

Work = Callable[[], None]
THREADS = 2

log = logs.Log("remote_keys")


class Lane:
    """Runs work in its order, on threads that do not keep a process alive."""

    def __init__(self, name: str, waiting_max: int) -> None:
        self._name = name
        self._waiting_max = waiting_max
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._under_way = 0
        self._threads = 0
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, work: Work) -> bool:
        """Run `work`, which sees to its errors; False if too much waits already."""
        with self._lock:
            if self._closed or self._under_way >= self._waiting_max + THREADS:
                return False
            self._under_way += 1
            if self._threads < min(THREADS, self._under_way):
                self._threads += 1
                name = f"hashrange-{self._name}-{self._threads}"
                threading.Thread(target=self._run, name=name, daemon=True).start()
        self._queue.put(work)
        return True

    @property
    def room(self) -> int:
        """How much more it takes."""
        with self._lock:
            return 0 if self._closed else self._waiting_max + THREADS - self._under_way

    def close(self) -> None:
        """Begin nothing any more."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._queue.put(None)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            try:
                if not self._closed:
                    work()
            except Exception as error:  # noqa: BLE001 - the thread goes on
                log.error("lane.failed", error=error)
            finally:
                del work  # it may hold a key
                with self._lock:
                    self._under_way -= 1
