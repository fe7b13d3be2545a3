"""A whole server in this process, over HTTP, whose clock stands still: however slow the machine, it admits the same."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hashrange.clock import ManualClock
from hashrange.config import Settings
from hashrange.server import Server
from serving import Serving

_START_SECONDS = 60


class StillServer:
    """The server; `clock` moves when the test moves it."""

    def __init__(self, **settings: Any) -> None:
        # Near to the present, because clients ask for it, and in the middle of a minute.
        self.clock = ManualClock(time.time() // 60 * 60 + 30)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        usual = {"in_memory": True, "port": 0, "transition_ms": 0, "log_level": "error"}
        wanted = Settings(**(usual | settings))  # type: ignore[arg-type]
        self._server = Server(wanted, self.clock)
        _, port = self._run(self._server.start())
        self.serving = Serving(None, f"http://127.0.0.1:{port}", None)  # type: ignore[arg-type]

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_START_SECONDS)

    def close(self) -> None:
        self._run(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def still_server(**settings: Any) -> Iterator[StillServer]:
    """Start one, and stop it in the end."""
    server = StillServer(**settings)
    try:
        yield server
    finally:
        server.close()
