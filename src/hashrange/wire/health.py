"""What orchestrators ask: whether the process runs, and whether it can reach its data."""

import asyncio
from collections.abc import Callable

from hashrange import logs
from hashrange.wire import plain
from hashrange.wire.codec import CORS
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/"
_HEALTH, _READY = PATH + b"health", PATH + b"ready"
_READY_ANSWER = b"200 OK", b"ready\n"
_UNREADY_ANSWER = b"503 Service Unavailable", b"not ready\n"
_WAIT_SECONDS = 2.0

Probe = Callable[
    [Callable[[BaseException | None], None]], None
]  # reads from the storage, and says how that went

log = logs.Log("wire")


class HealthEndpoint:
    """Answers `/_hashrange/health` and `/_hashrange/ready`.

    However many ask, the storage is asked one thing at a time: a storage that hangs would collect the questions.
    """

    def __init__(self, probe: Probe, wait_seconds: float = _WAIT_SECONDS) -> None:
        self._probe = probe
        self._wait_seconds = wait_seconds
        self._asking = False
        self._waiting: list[Callable[[bool], None]] = []
        self._was_ready = True
        self.stopping = False  # set when the server begins to stop

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request below `/_hashrange/`."""
        path = exchange.url.partition(b"?")[0]
        if exchange.method not in {b"GET", b"HEAD"} or path not in {_HEALTH, _READY}:
            plain.not_found(exchange, request_id)
        elif path == _HEALTH:
            plain.send(exchange, request_id, b"200 OK", b"live\n")
        else:
            # By the time of the answer the request is gone.
            lines = CORS if b"Origin" in exchange.headers else b""
            is_head = exchange.method == b"HEAD"

            def answer(ready: bool) -> None:
                status, body = _READY_ANSWER if ready else _UNREADY_ANSWER
                exchange.send(*plain.rendered(request_id, status, body, lines, is_head=is_head))

            self._ask(answer)

    def _ask(self, answer: Callable[[bool], None]) -> None:
        if self.stopping:
            answer(False)
            return
        self._waiting.append(answer)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(self._wait_seconds, self._answer_all, False, self._waiting)
        if not self._asking:
            self._asking = True
            self._probe(self._probed)

    def _probed(self, error: BaseException | None) -> None:
        self._asking = False
        self._answer_all(error is None and not self.stopping, self._waiting)

    def _answer_all(self, ready: bool, waiting: list[Callable[[bool], None]]) -> None:
        if waiting is not self._waiting or not waiting:
            return  # the storage has answered in time
        self._waiting = []
        if ready != self._was_ready:
            self._was_ready = ready
            (log.info if ready else log.warning)("server.ready" if ready else "server.not_ready")
        for answer in waiting:
            answer(ready)
