"""Page tokens: a position in the answer to one request, which a token of another request is not."""

import base64
import binascii

import msgspec

from hashrange.api.protocol.digests import digest
from hashrange.services.cloudwatch import errors

_DIGEST_BYTES = 6
_TOKEN_CHARS_MAX = 4096


def token(position: str, request: object) -> str:
    """The token of a position."""
    return base64.urlsafe_b64encode(_digest(request) + position.encode()).decode()


def position(given: str | None, request: object) -> str | None:
    """The position of a token; `request` is what must be the same on every page."""
    if given is None:
        return None
    try:
        content = base64.urlsafe_b64decode(given[:_TOKEN_CHARS_MAX].encode("ascii"))
        text = content[_DIGEST_BYTES:].decode()
    except (binascii.Error, ValueError):
        raise errors.invalid_token() from None
    if content[:_DIGEST_BYTES] != _digest(request):
        raise errors.invalid_token()
    return text


def offset(given: str | None, request: object) -> int:
    """The position of a token that counts."""
    text = position(given, request)
    if text is None:
        return 0
    if not text.isdecimal() or not text.isascii() or len(text) > 12:
        raise errors.invalid_token()
    return int(text)


def _digest(request: object) -> bytes:
    return digest(msgspec.to_builtins(request))[:_DIGEST_BYTES]
