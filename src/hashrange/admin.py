"""Talking to a running server's own endpoints, for commands of the terminal."""

import http.client
from urllib.parse import urlsplit

DEFAULT_ENDPOINT = "http://127.0.0.1:8000"
_TIMEOUT_SECONDS = 30.0


class AdminFailed(Exception):
    """The server did not do it; the message is meant for the person at the terminal."""


def ask(endpoint: str, method: str, path: str, body: str = "") -> str:
    """Send a request; give the answer's text."""
    url = urlsplit(endpoint)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if url.scheme not in kinds or not url.hostname:
        raise AdminFailed(f"{endpoint} is no endpoint: it must begin with http:// or https://")
    connection = kinds[url.scheme](url.hostname, url.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = str(answer.read(), "utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise AdminFailed(f"there is no server at {endpoint}: {error}") from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise AdminFailed(text.strip() or f"{endpoint} answered {answer.status}")
    return text
