"""Talking to a running server's own endpoints, for commands of the terminal."""

import http.client
import os
import time
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from hashrange.auth.signature.signer import SigningKey, Target, signed_headers

DEFAULT_ENDPOINT = "http://127.0.0.1:8000"
_TIMEOUT_SECONDS = 30.0
_SERVICE = "hashrange"  # what signatures for the server's own paths are made for
_PORTS = {"http": 80, "https": 443}


class AdminFailed(Exception):
    """The server did not do it; the message is meant for the person at the terminal."""


def ask(endpoint: str, method: str, path: str, body: str = "") -> str:
    """Send a request, signed if the environment has a key; give the answer's text."""
    url = urlsplit(endpoint)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if url.scheme not in kinds or not url.hostname:
        raise AdminFailed(f"{endpoint} is no endpoint: it must begin with http:// or https://")
    connection = kinds[url.scheme](url.hostname, url.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body, _signature(url, method, path, body.encode(), os.environ))
        answer = connection.getresponse()
        text = str(answer.read(), "utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise AdminFailed(f"there is no server at {endpoint}: {error}") from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise AdminFailed(text.strip() or f"{endpoint} answered {answer.status}")
    return text


def _signature(
    url: SplitResult, method: str, path: str, body: bytes, environment: Mapping[str, str]
) -> dict[str, str]:
    """The headers of a signed request, with the key that every AWS tool takes from the environment."""
    access_key = environment.get("AWS_ACCESS_KEY_ID")
    secret = environment.get("AWS_SECRET_ACCESS_KEY")
    if not access_key or not secret:
        return {}
    key = SigningKey(access_key, secret, environment.get("AWS_SESSION_TOKEN") or None)
    name = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
    port = f":{url.port}" if url.port not in {None, _PORTS[url.scheme]} else ""
    place, _, query = path.partition("?")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1"
    target = Target(method, name + port, place, query, region, _SERVICE)
    return dict(signed_headers(target, body, key, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())))
