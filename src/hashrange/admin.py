"""Talking to a running server's own endpoints, for commands of the terminal."""

import http.client
import os
import ssl
import time
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from hashrange.auth.signature.signer import SigningKey, Target, signed_headers
from hashrange.client_tls import ClientTlsInvalid, client_context

DEFAULT_ENDPOINT = "http://127.0.0.1:8000"
_TIMEOUT_SECONDS = 30.0
_SERVICE = "hashrange"  # what signatures for the server's own paths are made for
_PORTS = {"http": 80, "https": 443}


class AdminFailed(Exception):
    """The server did not do it; the message is meant for the person at the terminal."""


def ask(endpoint: str, method: str, path: str, body: str = "") -> str:
    """Send a request, signed if the environment has a key; give the answer's text."""
    url = urlsplit(endpoint)
    connection = _connection(url, os.environ)
    try:
        connection.request(method, path, body, _signature(url, method, path, body.encode(), os.environ))
        answer = connection.getresponse()
        text = str(answer.read(), "utf-8", "replace")
    except ssl.SSLCertVerificationError as error:
        raise AdminFailed(
            f"the certificate of {endpoint} is not trusted: {error.verify_message}. AWS_CA_BUNDLE names the file of "
            "its authority"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise AdminFailed(f"there is no server at {endpoint}: {error}") from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise AdminFailed(text.strip() or f"{endpoint} answered {answer.status}")
    return text


def _connection(url: SplitResult, environment: Mapping[str, str]) -> http.client.HTTPConnection:
    if url.scheme not in _PORTS or not url.hostname:
        raise AdminFailed(f"{url.geturl()} is no endpoint: it must begin with http:// or https://")
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname, url.port, timeout=_TIMEOUT_SECONDS)
    try:
        context = client_context(environment)
    except ClientTlsInvalid as problem:
        raise AdminFailed(str(problem)) from None
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=_TIMEOUT_SECONDS, context=context)


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
