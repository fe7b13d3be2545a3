"""Another client beside the rubbish: it reads one item over and over, and knows how long it had to wait at most."""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from faults.line import Line
from fuzz.seeds import CANARY, ITEM

_PAUSE_SECONDS = 0.005
_REPORT_SECONDS_MAX = 60


@dataclass
class Waits:
    """What the client saw; filled in when it is told to stop."""

    reads: int = 0
    longest_seconds: float = 0.0
    hundredth_seconds: float = 0.0  # one read in a hundred took longer


def _watch(port: int, orders: Connection) -> None:
    request = {"TableName": CANARY, "Key": {"pk": ITEM["pk"], "sk": {"N": "0"}}}
    waits: list[float] = []
    with Line(port, timeout=120) as line:
        while not orders.poll(_PAUSE_SECONDS):
            began = time.monotonic()
            assert line.call("GetItem", request)["Item"]["sk"] == {"N": "0"}
            waits.append(time.monotonic() - began)
    waits.sort()
    orders.send((len(waits), waits[-1], waits[len(waits) * 99 // 100]))


@contextmanager
def watching(port: int) -> Iterator[Waits]:
    """Read meanwhile, in a process of its own that nothing here holds up."""
    orders, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_watch, args=(port, theirs), daemon=True)
    process.start()
    waits = Waits()
    try:
        yield waits
        orders.send("stop")
        assert orders.poll(_REPORT_SECONDS_MAX), "the client beside the rubbish had no answer"
        waits.reads, waits.longest_seconds, waits.hundredth_seconds = orders.recv()
    finally:
        process.join(60)
        process.kill()
