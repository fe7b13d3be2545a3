"""An endpoint in front of another: a test sees every request, and answers those that it likes itself."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Body = dict[str, Any]
# Given an operation and a request: the status and the answer, or None to ask the endpoint behind.
Hook = Callable[[str, Body], tuple[int, Body] | None]


@contextmanager
def answering_proxy(endpoint: str, hook: Hook) -> Iterator[str]:
    """Start it; gives its URL."""
    port = urlsplit(endpoint).port

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            answer = hook(operation, json.loads(body))
            if answer is None:
                self._send(*self._forwarded(body))
            else:
                self._send(answer[0], json.dumps(answer[1]).encode())

        def _forwarded(self, body: bytes) -> tuple[int, bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name != "Accept-Encoding"}
            connection.request("POST", "/", body, headers)
            response = connection.getresponse()
            content = response.read()
            connection.close()
            return response.status, content

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that was killed closes its connections in the middle."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
