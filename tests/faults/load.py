"""Writers at work, all at once, around whatever is done to the server meanwhile."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

from faults.writer import Writer

WRITERS = 8
_PATIENCE_SECONDS = 120


def writers(seed: int, count: int = WRITERS) -> list[Writer]:
    """Writers that each go their own random way, the same way in every run."""
    return [Writer(f"w{number}", Random(f"{seed}-{number}")) for number in range(count)]


@contextmanager
def under_load(port: int, working: list[Writer]) -> Iterator[None]:
    """Have all writers write; on the way out they are told to stop, and what went wrong in one is raised."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(working)) as pool:
        running = [pool.submit(writer.run, port, stop) for writer in working]
        try:
            yield
        finally:
            stop.set()
        for each in running:
            each.result(timeout=120)


def await_writes(working: list[Writer], count: int) -> None:
    """Wait until the writers have made so many more items; however slow the machine, there is load then."""
    goal, deadline = sum(writer.version for writer in working) + count, time.monotonic() + _PATIENCE_SECONDS
    while sum(writer.version for writer in working) < goal:
        assert time.monotonic() < deadline, "hardly any load"
        time.sleep(0.002)
