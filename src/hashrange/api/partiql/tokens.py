"""NextToken: where a SELECT goes on, good only for the statement and parameters that it was given for."""

import base64

import msgspec

from hashrange.api.partiql.statements import Parameterized
from hashrange.api.protocol.digests import digest
from hashrange.core.errors import Invalid


class Resume(msgspec.Struct, frozen=True, array_like=True):
    """Where to go on: in which of the statement's reads, behind which key (none: from its start)."""

    read: int
    after: bytes | None


class _Token(msgspec.Struct, frozen=True, array_like=True):
    """What a token says, to us alone."""

    binding: bytes
    resume: Resume


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Token).decode


def binding(request: Parameterized) -> bytes:
    """What a token is bound to; Limit and ConsistentRead may change from page to page."""
    return digest(request.statement, request.parameters)


def encode(resume: Resume, binding: bytes) -> str:
    """The token as the client gets it."""
    return base64.b64encode(_encode(_Token(binding, resume))).decode("ascii")


def decode(text: str, binding: bytes) -> Resume:
    """Where a token leads, if it belongs to this request."""
    try:
        token = _decode(base64.b64decode(text, validate=True))
    except (msgspec.DecodeError, ValueError):
        raise Invalid("Invalid NextToken") from None
    if token.binding != binding or token.resume.read < 0:
        raise Invalid("NextToken does not match request")
    return token.resume
