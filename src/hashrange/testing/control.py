"""Talking to the server's own endpoints, and to DynamoDB without an SDK, over one connection that is kept."""

import http.client
import json
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 60.0
_TARGET = "DynamoDB_20120810."


class TestingFailed(Exception):
    """The server did not do what the test suite asked for; the message says why."""

    __test__ = False  # whatever its name: nothing for pytest to collect


class Control:
    """A connection to a server that was started with --test-kit."""

    def __init__(self, endpoint_url: str) -> None:
        address = urlsplit(endpoint_url)
        self._connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS
        )
        self._lock = Lock()

    def ask(self, method: str, path: str, content: object = None) -> Any:
        """Send a request to one of the server's own endpoints; give the JSON of its answer."""
        body = b"" if content is None else json.dumps(content).encode()
        return self._answer(method, path, body, {})

    def call(self, operation: str, request: dict[str, Any], *, account_id: str, region: str) -> Any:
        """Have DynamoDB do something for an account. Nobody verifies the signature."""
        credential = f"{account_id}/20260101/{region}/dynamodb/aws4_request"
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": _TARGET + operation,
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=0",
        }
        return self._answer("POST", "/", json.dumps(request).encode(), headers)

    def _answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Any:
        with self._lock:
            try:
                status, text = self._sent(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                raise TestingFailed(f"the server does not answer {method} {path}: {error}") from error
        if status != http.client.OK:
            raise TestingFailed(f"{method} {path}: {text.decode('utf-8', 'replace').strip()}")
        return json.loads(text)

    def _sent(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server closes connections that nobody uses for a while; then the request has not arrived.
            self._connection.close()
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
