"""An HTTP proxy that loses things: requests before the server has them, and answers to what a token protects."""

import http.client
import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

_LOSE_EVERY = 5  # so that no request is lost as often as an SDK tries it


class LossyProxy(ThreadingHTTPServer):
    """The proxy: where it listens, and what it has lost."""

    daemon_threads = True

    def __init__(self, target_port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target_port = target_port
        self.lost: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._faults = itertools.cycle(("cut", "failed", "throttled"))
        self._done: set[bytes] = set()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def fault(self) -> str | None:
        """What becomes of the next request: nothing, for most."""
        with self._lock:
            if next(self._numbers) % _LOSE_EVERY:
                return None
            fault = next(self._faults)
            self.lost[fault] += 1
            return fault

    def loses_answer(self, operation: str, body: bytes) -> bool:
        """Whether this is the first answer to a transaction: its token makes it safe to send again."""
        with self._lock:
            if operation != "TransactWriteItems" or body in self._done:
                return False
            self._done.add(body)
            self.lost["answer"] += 1
            return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        proxy = cast("LossyProxy", self.server)
        fault = proxy.fault()
        if fault == "cut":
            self.close_connection = True
        elif fault is not None:
            self._refuse(fault)
        else:
            self._forward(proxy, body)

    def _refuse(self, fault: str) -> None:
        name = "InternalServerError" if fault == "failed" else "ThrottlingException"
        text = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": fault})
        headers = {"Content-Type": "application/x-amz-json-1.0"}
        self._answer(500 if fault == "failed" else 400, headers, text.encode())

    def _forward(self, proxy: LossyProxy, body: bytes) -> None:
        server = http.client.HTTPConnection("127.0.0.1", proxy.target_port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        server.request("POST", self.path, body, headers)
        response = server.getresponse()
        text = response.read()
        server.close()
        if proxy.loses_answer(self.headers["X-Amz-Target"].rpartition(".")[2], body):
            self.close_connection = True
        else:
            self._answer(response.status, dict(response.getheaders()), text)

    def _answer(self, status: int, headers: dict[str, str], text: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in {"connection", "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing: what was lost is counted."""


@contextmanager
def lossy_proxy(target_port: int) -> Iterator[LossyProxy]:
    """Run it before a server. What is lost on the way there was never done; what is lost on the way back was."""
    with LossyProxy(target_port) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
