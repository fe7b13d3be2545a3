"""Threads for long jobs: each job under way has one of its own, so that none waits for another one's network."""

import threading
import time
from typing import Protocol

from hashrange import logs
from hashrange.clock import Clock

log = logs.Log("jobs.threads")

_PAUSE_CHARGED_MAX = 0.01  # the rest of a pause is the job's own matter: others need not keep it


class Work(Protocol):
    """What a thread does, a turn at a time."""

    def turn(self, now: float, /) -> float | None:
        """Do a bounded amount of work; give the seconds until the next turn, None if there is none."""

    def close(self) -> None:
        """Release what is held: no turn follows."""


class Threads(Protocol):
    """Where work is done."""

    def monotonic(self) -> float:
        """The time by which turns are taken."""

    def start(self, work: Work) -> None:
        """Have work done."""

    def stop(self) -> None:
        """Finish the turns under way and close all work; other work may be started later."""


class Share:
    """What all threads together take of the processor: as much as one of them alone would.

    The processor time of every turn is charged as if the turns came one after the other; a job that waits for a
    network is charged nothing for it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy_until = 0.0

    def pause(self, now: float, used: float, pause: float) -> float:
        """How long a job that has used so much of the processor, and is to pause, has to wait."""
        with self._lock:
            self._busy_until = max(self._busy_until, now - used) + used + min(pause, _PAUSE_CHARGED_MAX)
            return max(pause, self._busy_until - now)


class OwnThreads:
    """A thread for each piece of work."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self, name: str, clock: Clock, share: Share) -> None:
        self._name = f"hashrange-{name}"
        self._clock = clock
        self._share = share
        self._stopping = threading.Event()
        self._threads: set[threading.Thread] = set()

    def start(self, work: Work) -> None:
        """Start a thread; it ends with the work."""
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        thread = threading.Thread(target=self._run, args=(work,), name=self._name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def stop(self) -> None:
        """Wait for the threads. Whoever starts work must not do so meanwhile."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._threads = set()
        self._stopping.clear()

    def _run(self, work: Work) -> None:
        try:
            while not self._stopping.is_set():
                began = time.thread_time()
                pause = work.turn(self._clock.now())
                if pause is None:
                    return
                used = time.thread_time() - began
                self._stopping.wait(self._share.pause(time.monotonic(), used, pause))
        except Exception as error:  # noqa: BLE001 - work sees to its errors; a bug must not be silent
            log.error("thread.failed", thread=self._name, error=error)
        finally:
            work.close()
