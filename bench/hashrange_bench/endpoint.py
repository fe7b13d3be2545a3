"""An endpoint: where it is, and how a request to it is signed."""

import hashlib
import hmac
import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

_CONTENT_TYPE = "application/x-amz-json-1.0"
_SIGNED_HEADERS = "content-type;host;x-amz-date;x-amz-target"
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
class Credentials:
    access_key: str = "local"
    secret_key: str = "local"
    token: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Credentials":
        """Read the credentials where every AWS tool reads them."""
        return cls(
            environment.get("AWS_ACCESS_KEY_ID", "local"),
            environment.get("AWS_SECRET_ACCESS_KEY", "local"),
            environment.get("AWS_SESSION_TOKEN", ""),
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    scheme: str
    host: str
    port: int
    region: str = "us-east-1"
    credentials: Credentials = Credentials()

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
        headers = {
            "Host": self.authority,
            "X-Amz-Target": _TARGET_PREFIX + operation,
            "Content-Type": _CONTENT_TYPE,
            "X-Amz-Date": moment,
            "Authorization": self._authorization(operation, moment, body),
            "Accept-Encoding": "identity",
            "User-Agent": "hashrange-bench",
            "Content-Length": str(len(body)),
        }
        if self.credentials.token:
            headers["X-Amz-Security-Token"] = self.credentials.token
        return headers

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

    def _authorization(self, operation: str, moment: str, body: bytes) -> str:
        canonical = "\n".join(
            (
                *("POST", "/", ""),
                f"content-type:{_CONTENT_TYPE}",
                f"host:{self.authority}",
                f"x-amz-date:{moment}",
                f"x-amz-target:{_TARGET_PREFIX}{operation}",
                *("", _SIGNED_HEADERS),
                hashlib.sha256(body).hexdigest(),
            )
        )
        day = moment[:8]
        scope = f"{day}/{self.region}/{_SERVICE}/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{digest}"
        key = signing_key(self.credentials.secret_key, day, self.region)
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        return (
            f"AWS4-HMAC-SHA256 Credential={self.credentials.access_key}/{scope}, "
            f"SignedHeaders={_SIGNED_HEADERS}, Signature={signature}"
        )


def signing_key(secret_key: str, day: str, region: str) -> bytes:
    """Derive the day's key: Signature Version 4, step 3."""
    key = b"AWS4" + secret_key.encode()
    for part in (day, region, _SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        return {"message": body[:200].decode("utf-8", "replace")}
    return answer if isinstance(answer, dict) else {"message": str(answer)[:200]}
