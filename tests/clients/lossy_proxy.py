"""An HTTP proxy that loses things: requests before the server has them, and answers to what a token protects."""

import http.client
import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LOSE_EVERY = 5  # so that no request is lost as often as an SDK tries it


@dataclass
class Lossy:
    """The proxy: where it listens, and what it has lost."""

    port: int
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def lossy_proxy(server_port: int) -> Iterator[Lossy]:
    """Run it before a server. What is lost on the way there was never done; what is lost on the way back was."""
    lossy = Lossy(0)
    lock = threading.Lock()
    numbers = itertools.count(1)
    faults = itertools.cycle(("cut", "failed", "throttled"))
    answered_transactions: set[bytes] = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                fault = next(faults) if next(numbers) % _LOSE_EVERY == 0 else None
            if fault is not None:
                self._refuse(fault)
                return
            self._forward(body)

        def _refuse(self, fault: str) -> None:
            lossy.lost[fault] += 1
            if fault == "cut":
                self.close_connection = True
                return
            name = "InternalServerError" if fault == "failed" else "ThrottlingException"
            text = json.dumps(
                {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": fault}
            ).encode()
            self._answer(
                500 if fault == "failed" else 400, {"Content-Type": "application/x-amz-json-1.0"}, text
            )

        def _forward(self, body: bytes) -> None:
            server = http.client.HTTPConnection("127.0.0.1", server_port, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            server.request("POST", self.path, body, headers)
            response = server.getresponse()
            text = response.read()
            server.close()
            if self._loses_answer(body):
                lossy.lost["answer"] += 1
                self.close_connection = True
                return
            self._answer(response.status, dict(response.getheaders()), text)

        def _loses_answer(self, body: bytes) -> bool:
            """Whether this is the first answer to a transaction: its token makes it safe to send again."""
            if not self.headers["X-Amz-Target"].endswith(".TransactWriteItems"):
                return False
            with lock:
                first = body not in answered_transactions
                answered_transactions.add(body)
            return first

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

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    lossy.port = proxy.server_port
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield lossy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
