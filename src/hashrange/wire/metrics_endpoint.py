"""What monitoring asks: the metrics, in Prometheus' text form."""

import asyncio
from collections.abc import Callable, Iterable

from hashrange import logs, metrics
from hashrange.metrics import Metric
from hashrange.wire import plain
from hashrange.wire.codec import CORS
from hashrange.wire.interfaces import Exchange

PATH = b"/metrics"
_WAIT_SECONDS = 10.0
_TYPE = b"Content-Type: " + metrics.CONTENT_TYPE + b"\r\n"

Collected = Callable[[list[Metric] | None, BaseException | None], None]
Collect = Callable[[Collected], None]  # reads the metrics from the storage, and calls back on the loop

log = logs.Log("wire")

Answer = Callable[[Iterable[Metric] | None], None]


class MetricsEndpoint:
    """Answers `/metrics`; however many ask, the storage is asked once at a time."""

    def __init__(self, collect: Collect, wait_seconds: float = _WAIT_SECONDS) -> None:
        self._collect = collect
        self._wait_seconds = wait_seconds
        self._collecting = False
        self._waiting: list[Answer] = []

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request for the metrics, now or later."""
        if exchange.method not in {b"GET", b"HEAD"} or exchange.url.partition(b"?")[0] != PATH:
            plain.not_found(exchange, request_id)
            return
        # By the time of the answer the request is gone.
        lines = CORS if b"Origin" in exchange.headers else b""
        is_head = exchange.method == b"HEAD"

        def answer(collected: Iterable[Metric] | None) -> None:
            status, body = b"503 Service Unavailable", b"the storage does not answer\n"
            if collected is not None:
                status, body = b"200 OK", metrics.render(collected)
            exchange.send(*plain.rendered(request_id, status, body, lines + _TYPE, is_head=is_head))

        self._waiting.append(answer)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(self._wait_seconds, self._answer, None, self._waiting)
        if not self._collecting:
            self._collecting = True
            self._collect(self._collected)

    def _collected(self, collected: list[Metric] | None, error: BaseException | None) -> None:
        self._collecting = False
        if error is not None:
            log.warning("metrics.failed", error=error)
        self._answer(collected, self._waiting)

    def _answer(self, collected: Iterable[Metric] | None, waiting: list[Answer]) -> None:
        if waiting is not self._waiting:
            return  # they have been answered in time
        self._waiting = []
        for answer in waiting:
            answer(collected)
