"""Long jobs whose turns the test takes by hand."""

import time
from collections.abc import Callable
from typing import Any

from hashrange.jobs.long_runs import LongRuns
from hashrange.jobs.threads import Threads, Work


class HandThreads:
    """Threads that are none: work waits for the test. Their time can be moved."""

    def __init__(self) -> None:
        self.works: list[Work] = []
        self.moved_seconds = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.moved_seconds

    def start(self, work: Work) -> None:
        self.works.append(work)

    def stop(self) -> None:
        while self.works:
            self.works.pop().close()


class ByHand:
    """A long job: a step is one turn of each of those that run."""

    def __init__(self, job: LongRuns[Any], threads: HandThreads) -> None:
        self.job = job
        self.name = job.name
        self.threads = threads

    def step(self, now: float) -> float:
        pause = self.job.step(now)
        for work in list(self.threads.works):
            wait = work.turn(now)
            if wait is None:
                self.threads.works.remove(work)
                work.close()
            pause = min(pause, wait or 0.0)
        return pause

    def close(self) -> None:
        self.job.close()


def by_hand(make: Callable[[Threads], LongRuns[Any]]) -> ByHand:
    threads = HandThreads()
    return ByHand(make(threads), threads)
