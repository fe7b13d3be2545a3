"""From the threads of the engine to the event loop."""

import asyncio
import contextlib
from collections.abc import Callable

from hashrange import logs
from hashrange.storage.engine import Deliver

log = logs.Log("server")


def deliver_to(loop: asyncio.AbstractEventLoop) -> Deliver:
    """Bring the callbacks of one commit to the loop's thread, all in one go."""

    def deliver(callbacks: list[Callable[[], None]]) -> None:
        # A loop that has been closed has nobody left to answer.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_call_all, callbacks)

    return deliver


def _call_all(callbacks: list[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - the answers behind it must still leave
            log.error("answer.failed", error=error)
