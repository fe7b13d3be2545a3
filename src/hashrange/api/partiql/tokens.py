"""NextToken: where a SELECT goes on, good only for the statement and parameters that it was given for."""

import base64
import binascii
from typing import Any

import msgspec
import orjson

from hashrange.api.digests import digest
from hashrange.core.errors import Invalid


class Resume(msgspec.Struct, frozen=True):
    """Where to go on: in which of the statement's reads, behind which key (none: from its start)."""

    read: int
    after: bytes | None


def binding(asked: dict[str, Any]) -> bytes:
    """What a token is bound to; Limit and ConsistentRead may change from page to page."""
    return digest([asked["Statement"], asked.get("Parameters")])


def encode(resume: Resume, bound: bytes) -> str:
    """The token as the client gets it."""
    after = None if resume.after is None else base64.b64encode(resume.after).decode("ascii")
    content = orjson.dumps([base64.b64encode(bound).decode("ascii"), resume.read, after])
    return base64.b64encode(content).decode("ascii")


def decode(token: str, bound: bytes) -> Resume:
    """Where a token leads, if it belongs to this request."""
    try:
        owner, read, after = orjson.loads(base64.b64decode(token, validate=True))
        resume = Resume(int(read), None if after is None else base64.b64decode(after, validate=True))
        foreign = base64.b64decode(owner, validate=True) != bound
    except (binascii.Error, TypeError, ValueError):
        raise Invalid("Invalid NextToken") from None
    if foreign or resume.read < 0:
        raise Invalid("NextToken does not match request")
    return resume
