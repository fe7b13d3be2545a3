"""Talking to a running server's own endpoints, for commands of the terminal."""

import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from hashrange.auth.signature.signer import SigningKey, Target, signed_headers
from hashrange.client_tls import ClientTlsInvalid, client_context

DEFAULT_ENDPOINT = "http://127.0.0.1:8000"
_TIMEOUT_SECONDS = 30.0
_SERVICE = "hashrange"  # what signatures for the server's own paths are made for
_PORTS = {"http": 80, "https": 443}


class AdminFailed(Exception):
    """The server did not do it; the message is meant for the person at the terminal."""


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    text: str


class Message(NamedTuple):
    """A request, with the name that its signature is made for."""

    method: str
    path: str
    body: str = ""
    service: str = _SERVICE
    headers: Mapping[str, str] = {}
    region: str | None = None  # None: that of the environment


def ask(endpoint: str, method: str, path: str, body: str = "") -> str:
    """Send a request, signed if the environment has a key; give the answer's text."""
    reply = sent(endpoint, Message(method, path, body))
    if reply.status != http.client.OK:
        raise AdminFailed(reply.text.strip() or f"{endpoint} answered {reply.status}")
    return reply.text


def sent(
    endpoint: str, message: Message, *, seconds: float | None = None, bytes_max: int | None = None
) -> Reply:
    """Send a request, signed if the environment has a key; give whatever was answered.

    With `seconds` the whole exchange takes no longer, and with `bytes_max` no more of the answer is read.
    """
    url = urlsplit(endpoint)
    connection = _connection(url, os.environ, seconds or _TIMEOUT_SECONDS)
    headers = _signature(url, message, os.environ) or message.headers
    deadline = None if seconds is None else _deadline(connection, seconds)
    try:
        connection.request(message.method, message.path, message.body.encode(), dict(headers))
        answer = connection.getresponse()
        return Reply(answer.status, str(answer.read(bytes_max), "utf-8", "replace"))
    except ssl.SSLCertVerificationError as error:
        raise AdminFailed(
            f"the certificate of {endpoint} is not trusted: {error.verify_message}. AWS_CA_BUNDLE names the file of "
            "its authority"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise AdminFailed(f"there is no server at {endpoint}: {error}") from None
    finally:
        if deadline is not None:
            deadline.cancel()
        connection.close()


def _deadline(connection: http.client.HTTPConnection, seconds: float) -> threading.Timer:
    """End an exchange at a moment: a timeout is over one piece of an answer, and there may be any number of them."""

    def end() -> None:
        sock: socket.socket | None = connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


def _connection(
    url: SplitResult, environment: Mapping[str, str], seconds: float
) -> http.client.HTTPConnection:
    if url.scheme not in _PORTS or not url.hostname:
        raise AdminFailed(f"{url.geturl()} is no endpoint: it must begin with http:// or https://")
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname, url.port, timeout=seconds)
    try:
        context = client_context(environment)
    except ClientTlsInvalid as problem:
        raise AdminFailed(str(problem)) from None
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=seconds, context=context)


def _signature(url: SplitResult, message: Message, environment: Mapping[str, str]) -> Mapping[str, str]:
    """The headers of a signed request, with the key that every AWS tool takes from the environment."""
    access_key = environment.get("AWS_ACCESS_KEY_ID")
    secret = environment.get("AWS_SECRET_ACCESS_KEY")
    if not access_key or not secret:
        return {}
    key = SigningKey(access_key, secret, environment.get("AWS_SESSION_TOKEN") or None)
    name = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
    port = f":{url.port}" if url.port not in {None, _PORTS[url.scheme]} else ""
    place, _, query = message.path.partition("?")
    region = message.region or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    target = Target(message.method, name + port, place, query, region or "us-east-1", message.service)
    timestamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return signed_headers(target, message.body.encode(), key, timestamp, message.headers)
