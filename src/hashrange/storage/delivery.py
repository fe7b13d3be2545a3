"""Telling callers what became of their steps."""

from collections.abc import Callable

from hashrange.logs import Log
from hashrange.storage.engine import Deliver

log = Log("storage.delivery")

Callbacks = list[Callable[[], None]]


def run_callbacks(deliver: Deliver, callbacks: Callbacks) -> None:
    """Deliver callbacks; if that raises, the engine's thread goes on."""
    try:
        deliver(callbacks)
    except Exception as error:  # noqa: BLE001 - the steps are done, and the next ones wait for their turn
        log.error("callbacks.undelivered", error=error)


def run_inline(callbacks: Callbacks) -> None:
    """Deliver by calling, one after the other, on this thread."""
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - the callbacks behind it must still be called
            log.error("callback.failed", error=error)
