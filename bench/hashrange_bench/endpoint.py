"""An endpoint: where it is, and how it is called."""

import http.client
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from hashrange_bench.sigv4 import Credentials, Message, authorization

_CONTENT_TYPE = "application/x-amz-json-1.0"
_TARGET_PREFIX = "DynamoDB_20120810."
_SERVICE = "dynamodb"
_PORTS = {"http": 80, "https": 443}


class EndpointInvalid(ValueError):
    """The text is not the address of an endpoint."""


class CallFailed(Exception):
    """The endpoint refused a call; the message is its own."""

    def __init__(self, operation: str, status: int, code: str, message: str) -> None:
        super().__init__(f"{operation}: {status} {code}: {message}".rstrip(": "))
        self.code = code


@dataclass(frozen=True, slots=True)
class Endpoint:
    scheme: str
    host: str
    port: int
    region: str = "us-east-1"
    credentials: Credentials = field(default_factory=Credentials)

    @classmethod
    def parse(
        cls, url: str, *, region: str = "us-east-1", credentials: Credentials | None = None
    ) -> "Endpoint":
        """Read `http://host:port`; DynamoDB has no paths."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as problem:
            raise EndpointInvalid(f"{url!r} is not a URL: {problem}") from None
        if parts.scheme not in _PORTS or not parts.hostname or parts.path not in {"", "/"}:
            raise EndpointInvalid(f"{url!r} is not an endpoint such as http://127.0.0.1:8000")
        return cls(
            parts.scheme, parts.hostname, port or _PORTS[parts.scheme], region, credentials or Credentials()
        )

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}"

    def headers(self, operation: str, body: bytes) -> dict[str, str]:
        """Give the headers of a call, with a real signature, as an SDK would send them."""
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        signed = {
            "Host": self.authority,
            "X-Amz-Target": _TARGET_PREFIX + operation,
            "Content-Type": _CONTENT_TYPE,
            "X-Amz-Date": moment,
        }
        if self.credentials.token:
            signed["X-Amz-Security-Token"] = self.credentials.token
        return {
            **signed,
            "Authorization": authorization(
                Message(signed, body),
                moment=moment,
                region=self.region,
                service=_SERVICE,
                credentials=self.credentials,
            ),
            "Accept-Encoding": "identity",
            "User-Agent": "hashrange-bench",
            "Content-Length": str(len(body)),
        }

    def request(self, operation: str, body: str) -> bytes:
        """Give a whole request, ready to be sent."""
        payload = body.encode()
        lines = [f"{name}: {value}\r\n" for name, value in self.headers(operation, payload).items()]
        return b"".join((b"POST / HTTP/1.1\r\n", "".join(lines).encode("latin-1"), b"\r\n", payload))

    def call(self, operation: str, body: str, timeout_seconds: float = 60) -> dict[str, Any]:
        """Make one call on a connection of its own; raise what the endpoint refuses."""
        kind = http.client.HTTPSConnection if self.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=timeout_seconds)
        payload = body.encode()
        try:
            connection.request("POST", "/", payload, self.headers(operation, payload))
            response = connection.getresponse()
            answer = _decoded(response.read())
        finally:
            connection.close()
        if response.status != 200:
            code = str(answer.get("__type", "")).rpartition("#")[2]
            message = str(answer.get("message") or answer.get("Message") or "")
            raise CallFailed(operation, response.status, code, message)
        return answer


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        return {"message": body[:200].decode("utf-8", "replace")}
    return answer if isinstance(answer, dict) else {"message": str(answer)[:200]}
