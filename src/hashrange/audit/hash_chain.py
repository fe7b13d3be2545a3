"""Lines that hold on to each other: every one has the hash of the one before it, and its own.

A line is a JSON object. Its last member is the SHA-256 of the line without that member, and one of those before is the
hash of the previous line; so a line that is changed, taken out, put in or moved is found. Whoever can write the file
can also compute all hashes anew: that is found by comparing the last one with one that was noted elsewhere.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from typing import NamedTuple

import orjson

FIRST_HASH = "0" * 64
_END = re.compile(rb',"hash":"([0-9a-f]{64})"}\Z')
_MEMBER = "auditChain"


class Head(NamedTuple):
    """Where a chain is at: the last of its lines."""

    chain: str
    number: int
    hash: str
    follows: str = ""  # the last hash of the chain whose place this one takes, because its file was lost


class Line(NamedTuple):
    """What a line says of its chain."""

    head: Head
    previous: str


class LineInvalid(Exception):
    """A line is not what was written."""


def new_chain(follows: str = "") -> Head:
    """The head of a chain that has no line yet."""
    return Head(secrets.token_hex(8), 0, FIRST_HASH, follows)


def sealed(event: Mapping[str, object], head: Head) -> tuple[bytes, Head]:
    """The line of an event, and the chain's head behind it."""
    number = head.number + 1
    link: dict[str, object] = {"id": head.chain, "number": number, "previous": head.hash}
    if head.follows:
        link["follows"] = head.follows
    text = dumped({**event, _MEMBER: link})
    digest = hashlib.sha256(text).hexdigest()
    return b'%b,"hash":"%b"}\n' % (text[:-1], digest.encode()), Head(head.chain, number, digest)


def dumped(value: object) -> bytes:
    """JSON in which nothing but printable ASCII is left: what clients send ends no line and moves no cursor."""
    try:
        text = orjson.dumps(value, default=str)
    except TypeError:  # half of a character, or a number that it has no room for
        text = b"\x7f"
    if text.isascii() and b"\x7f" not in text:
        return text  # as nearly always, and in a tenth of the time
    return json.dumps(value, separators=(",", ":"), default=str).replace("\x7f", "\\u007f").encode("ascii")


def read(line: bytes) -> Line:
    """What a line says of its chain; raises LineInvalid."""
    line = line.removesuffix(b"\n")
    end = _END.search(line)
    if end is None:
        raise LineInvalid("it has no hash")
    text = line[: end.start()] + b"}"
    digest = hashlib.sha256(text).hexdigest()
    if digest != end[1].decode():
        raise LineInvalid("it was changed: its hash is another one")
    try:
        link = json.loads(text)[_MEMBER]
        follows = str(link.get("follows", ""))
        return Line(Head(str(link["id"]), int(link["number"]), digest, follows), str(link["previous"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise LineInvalid("it is not of an audit log") from None
