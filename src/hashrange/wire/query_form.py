"""The query protocol's requests: a form of dotted names, read as the JSON that the operation takes.

`MetricData.member.2.Value=1.5` is the member Value of the second element of the list MetricData. The operation's shape
says what is a list, a map or a number; what it does not know is left out, as members of JSON are.
"""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_to_bytes

from hashrange.api.errors import serialization, too_many_values
from hashrange.api.protocol.kinds import Double, Flag, Kind, ListOf, MapOf, Member, Struct, Timestamp, Whole

# PutMetricData may have 1 MB, in which a member takes 38 bytes or more.
MEMBERS_MAX = 40_000
_PARTS_MAX = 16  # of a dotted name; the deepest member of any request has nine
_VERSION = re.compile(rb"(?:^|&)Version=([0-9-]{1,32})(?:&|$)")
_SCOPE = re.compile(rb"Credential=[^/,\s]{1,128}/[0-9]{1,8}/[^/,\s]{1,64}/([a-z0-9-]{1,32})/aws4_request")
_DIGITS = re.compile(r"[0-9]{1,6}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_FLAGS = {"true": True, "false": False}

Tree = dict[str, Any]  # parts of names; a value stands under the empty one


def version(form: bytes | bytearray) -> str:
    """The version that a form names, without reading the rest of it."""
    match = _VERSION.search(form)
    return "" if match is None else match[1].decode()


def signed_for(authorization: bytes) -> str:
    """The service that a signature says it is for."""
    match = _SCOPE.search(authorization)
    return "" if match is None else match[1].decode()


def fields(form: bytes | bytearray) -> dict[str, str]:
    """Names and values of a form.

    A name that is sent twice is refused: no client does it, and signatures do not cover the order of those in URLs.
    """
    if form.count(b"&") > MEMBERS_MAX:
        raise too_many_values()
    listed = list(_fields(form))
    named = dict(listed)
    if len(named) != len(listed):
        raise serialization(None)
    return named


def _fields(form: bytes | bytearray) -> Iterator[tuple[str, str]]:
    for pair in bytes(form).split(b"&"):
        name, _, value = pair.partition(b"=")
        if name:
            yield _text(name), _text(value)


def _text(quoted: bytes) -> str:
    try:
        return unquote_to_bytes(quoted.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise serialization(None) from None


def request(form: dict[str, str], members: dict[str, Member]) -> dict[str, Any]:
    """The request in a form."""
    tree: Tree = {}
    for name, value in form.items():
        if name.partition(".")[0] in members:
            _plant(tree, name, value)
    return _structure(tree, members)


def _plant(tree: Tree, name: str, value: str) -> None:
    parts = name.split(".", _PARTS_MAX)
    if len(parts) > _PARTS_MAX:
        raise serialization(None)
    if "" in parts:
        return  # no member is called so, and its place in the tree is that of the value
    for part in parts:
        tree = tree.setdefault(part, {})
    tree[""] = value


def _structure(tree: Tree, members: dict[str, Member]) -> dict[str, Any]:
    return {name: _value(tree[name], member.kind) for name, member in members.items() if name in tree}


def _value(tree: Tree, kind: Kind) -> Any:
    if isinstance(kind, Struct):
        return _structure(tree, kind.members)
    if isinstance(kind, ListOf):
        return [_value(element, kind.element) for element in _numbered(tree.get("member", tree))]
    if isinstance(kind, MapOf):
        entries = _numbered(tree.get("entry", tree))
        return {
            entry.get("key", {}).get("", ""): _value(entry.get("value", {}), kind.element)
            for entry in entries
        }
    return _scalar(tree.get("", ""), kind)


def _numbered(tree: Tree) -> list[Tree]:
    """The elements of a list in the order of their numbers, however these are sent."""
    numbers = sorted((int(part), part) for part in tree if _DIGITS.fullmatch(part))
    return [tree[part] for _, part in numbers]


def _scalar(text: str, kind: Kind) -> Any:
    """A value as JSON would have it; the shape says what is wrong with text that is none."""
    match kind:
        case Whole() if _WHOLE.fullmatch(text):
            return int(text)
        case Double() if _REAL.fullmatch(text):
            return _number(text)
        case Flag():
            return _FLAGS.get(text.lower(), text)
        case Timestamp():
            return _moment(text)
        case _:
            return text


def _moment(text: str) -> float | str:
    """Epoch seconds of a moment that is written as ISO 8601, or as such a number."""
    if _REAL.fullmatch(text):
        return _number(text)
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return text


def _number(text: str) -> float | str:
    """A number that JSON can have."""
    value = float(text)
    return value if math.isfinite(value) else text
