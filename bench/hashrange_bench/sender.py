"""Sends requests over keep-alive connections, each as soon as the answer to the one before is there."""

import asyncio
import contextlib
import ssl
import time
from array import array
from collections.abc import Iterator
from typing import Any, cast

import httptools
import uvloop

from hashrange_bench.endpoint import Endpoint

_BROKEN_MAX = 100  # broken connections after which an endpoint counts as dead
_SILENCE_SECONDS_MAX = 60
_UNFINISHED = b'"UnprocessedItems":{"'


class SendFailed(Exception):
    """The endpoint cannot be reached, or keeps on closing connections."""


class Sender:
    """One run: stops when the requests are all answered, or when the time is over."""

    def __init__(self, endpoint: Endpoint, requests: Iterator[bytes], *, seconds: float) -> None:
        self._endpoint = endpoint
        self._requests = requests
        self._deadline = time.perf_counter() + seconds
        self._again: list[bytes] = []  # requests whose connection broke
        self._open = 0
        self._opening: set[asyncio.Task[Any]] = set()
        self._loop = uvloop.new_event_loop()
        self._finished: asyncio.Future[None] = self._loop.create_future()
        self.latencies_us = array("I")
        self.refused = 0
        self.broken = 0
        self.unfinished = 0
        self.complaint = ""

    def run(self, connections: int) -> float:
        """Send; give the seconds it took."""
        started = time.perf_counter()
        try:
            for _ in range(connections):
                self.connect()
            self._wait()
        finally:
            self._loop.run_until_complete(asyncio.sleep(0))  # lets the last connections close
            self._loop.close()
        if self.broken >= _BROKEN_MAX:
            raise SendFailed(f"{self._endpoint.url}: {self.complaint or 'connections break'}")
        return time.perf_counter() - started

    def _wait(self) -> None:
        """Wait for the end; an endpoint that gives no answer for long is not waited for."""
        answers = -1
        while not self._finished.done():
            if answers == len(self.latencies_us):
                raise SendFailed(f"{self._endpoint.url} gave no answer for {_SILENCE_SECONDS_MAX} s")
            answers = len(self.latencies_us)
            with contextlib.suppress(TimeoutError):
                waiting = asyncio.wait_for(asyncio.shield(self._finished), _SILENCE_SECONDS_MAX)
                self._loop.run_until_complete(waiting)

    def connect(self) -> None:
        self._open += 1
        secure = ssl.create_default_context() if self._endpoint.scheme == "https" else None
        opening = self._loop.create_connection(
            lambda: _Connection(self), self._endpoint.host, self._endpoint.port, ssl=secure
        )
        task = self._loop.create_task(opening)
        self._opening.add(task)
        task.add_done_callback(self._opened)

    def _opened(self, task: asyncio.Task[Any]) -> None:
        self._opening.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._broke(problem)

    def next(self) -> bytes | None:
        if time.perf_counter() >= self._deadline:
            return None
        return self._again.pop() if self._again else next(self._requests, None)

    def answered(self, status: int, body: bytes, seconds: float) -> None:
        self.latencies_us.append(int(seconds * 1e6))
        if status != 200:
            self.refused += 1
            self.complaint = body[:300].decode("utf-8", "replace")
        elif _UNFINISHED in body:
            self.unfinished += 1

    def lost(self, unanswered: bytes | None, problem: BaseException | None = None) -> None:
        """Replace a connection that the other side closed."""
        if unanswered is None:
            self._open -= 1
            self.connect()
        else:
            self._again.append(unanswered)
            self._broke(problem)

    def _broke(self, problem: BaseException | None) -> None:
        self.broken += 1
        self.complaint = str(problem or "the connection was closed before the answer")
        if self.broken < _BROKEN_MAX:
            self._open -= 1
            self._loop.call_later(0.05, self.connect)
        elif not self._finished.done():
            self._finished.set_result(None)

    def retire(self) -> None:
        """Take leave of a connection for which there is nothing more to send."""
        self._open -= 1
        if self._open <= 0 and not self._finished.done():
            self._finished.set_result(None)


class _Connection(asyncio.Protocol):
    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._request: bytes | None = None
        self._retired = False
        self._sent = 0.0
        self._chunks: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own has another base
        self._parser = httptools.HttpResponseParser(self)
        self._send()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.abort()

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)

    def on_message_complete(self) -> None:
        seconds = time.perf_counter() - self._sent
        self._request = None
        self._sender.answered(self._parser.get_status_code(), b"".join(self._chunks), seconds)
        self._chunks.clear()
        if self._parser.should_keep_alive():
            self._send()
        else:
            self._transport.close()

    def eof_received(self) -> None:
        """An answer without a length ends with its connection."""
        if self._request is not None and self._chunks:
            self.on_message_complete()

    def connection_lost(self, problem: Exception | None) -> None:
        if not self._retired:
            self._retired = True
            self._sender.lost(self._request, problem)

    def _send(self) -> None:
        self._request = request = self._sender.next()
        if request is None:
            self._retired = True
            self._transport.close()
            self._sender.retire()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)
