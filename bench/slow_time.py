"""Time for a process that runs a hundred times slower than usual: all of its clocks and timers are slower, too.

Under valgrind a timer of a tenth of a second strikes after a few requests, not after thousands, and what it does would
be counted as theirs. A server also looks at the clock to decide where a step runs: what takes milliseconds goes to a
thread of its own. With time slowed down more than the process it decides as at full speed, the same in every run.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import uvloop

STRETCH = 1_000
_CLOCKS = ("monotonic", "perf_counter", "thread_time")
_wait = threading.Condition.wait


class SlowLoop(uvloop.Loop):
    """An event loop whose timers are late."""

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return super().call_later(delay * STRETCH, callback, *args, context=context)


def slow_down() -> None:
    """Slow the clocks of this process down, and make its threads wait longer; before what uses them is imported."""
    for name in _CLOCKS:
        setattr(time, name, _slowed(getattr(time, name)))
    threading.Condition.wait = _wait_longer  # type: ignore[method-assign]


def _slowed(clock: Callable[[], float]) -> Callable[[], float]:
    begun = clock()
    return lambda: begun + (clock() - begun) / STRETCH


def _wait_longer(condition: threading.Condition, timeout: float | None = None) -> bool:
    return _wait(condition, None if timeout is None else timeout * STRETCH)
