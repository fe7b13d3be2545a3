"""What settings about web pages, hosts and identity providers accept."""

import re

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#@]+")
_ISSUER = re.compile(r"https?://[^/\s?#@]+(?:/[^\s?#]*)?")
_HOST_NAME = re.compile(r"\.?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")


def origins(text: str) -> tuple[str, ...]:
    """Origins of web pages, by commas."""
    origins = tuple(origin.strip().lower() for origin in text.split(",") if origin.strip())
    if not all(origin in {"*", "null"} or _ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError("must be origins such as https://app.example.org, without a path, or *")
    return origins


def issuer(text: str) -> str:
    """The URL of an identity provider."""
    if not _ISSUER.fullmatch(text):
        raise ValueError("must be a URL such as https://id.example.org, without a query")
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Names of hosts, by commas."""
    names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
    if not all(name == "*" or _HOST_NAME.fullmatch(name) for name in names):
        raise ValueError("must be host names without a port; .example.org is all names below it, * is any")
    return names
