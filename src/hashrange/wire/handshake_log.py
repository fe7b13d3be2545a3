"""A line in the log for refused handshakes: anybody can cause them as often as they like, so it is one a minute."""

import time
from collections.abc import Callable

from hashrange import logs

LINE_SECONDS = 60.0

log = logs.Log("tls")


class HandshakeLog:
    """Counts refused handshakes, and says now and then how many there were and why the last one was."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next_line = 0.0
        self._count = 0

    def refused(self, peer: str, reason: str) -> None:
        """Note one."""
        self._count += 1
        now = self._now()
        if now >= self._next_line:
            self._next_line = now + LINE_SECONDS
            count, self._count = self._count, 0
            log.warning("tls.handshake_refused", address=peer, reason=reason, times=count)
