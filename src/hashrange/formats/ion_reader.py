"""Ion, text or binary, as records of DynamoDB JSON: the mapping of exports, read backwards."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from hashrange.core import json_values
from hashrange.core.values import Value
from hashrange.formats import ion_binary, ion_parser, ion_text
from hashrange.formats.errors import Garbage
from hashrange.formats.ion_values import NOT_ION, Unmapped
from hashrange.formats.records import Record, Unread

_NOT_A_STRUCT = "The value is not an Ion struct"
_TOO_MANY_VALUES = "The value has more values than an item may have"


def records(chunks: Iterable[bytes]) -> Iterator[Record | Unread]:
    """The members of each top-level struct."""
    for index, value in enumerate(_values(chunks)):
        if isinstance(value, Unmapped):
            yield Unread(index, str(value))
        else:
            yield Record(index, _members(value))


def _values(chunks: Iterable[bytes]) -> Iterator[Value | Unmapped]:
    """All top-level values. Binary Ion begins with a marker that is no text."""
    iterator = iter(chunks)
    begin = b""
    while len(begin) < len(ion_binary.MARKER) and (chunk := next(iterator, None)) is not None:
        begin += chunk
    every = chain([begin], iterator)
    if begin.startswith(ion_binary.MARKER):
        yield from ion_binary.values(every)
        return
    for document in ion_text.values(every):
        yield from ion_parser.values(_decoded(document))


def _decoded(document: bytes) -> str:
    if json_values.too_many(document):
        raise Garbage(_TOO_MANY_VALUES)
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError:
        raise Garbage(NOT_ION) from None


def _members(value: Value) -> dict[str, Any]:
    """A record's members as DynamoDB JSON would have them."""
    if "M" not in value:
        raise Garbage(_NOT_A_STRUCT)
    members: dict[str, Any] = {}
    for name, member in value["M"].items():
        match name, member:
            case "ConditionExpression", {"S": text}:
                members[name] = text
            case "ExpressionAttributeNames", {"M": names}:
                members[name] = {key: text["S"] for key, text in names.items() if "S" in text}
            case _, {"M": attributes}:
                members[name] = attributes
            case _:
                pass  # no member that a record has; Item is missed where it is read
    return members
