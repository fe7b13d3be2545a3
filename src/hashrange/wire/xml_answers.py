"""Answers of the query protocol: structures and errors as XML."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from hashrange.api.errors import ApiError
from hashrange.api.protocol.kinds import Flag, Kind, ListOf, MapOf, Member, Struct, Timestamp
from hashrange.api.protocol.operation import QueryProtocol
from hashrange.wire import errors

# Characters that XML 1.0 has no way to write, not even escaped.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ESCAPES = {"\r": "&#13;"}


def answered(
    operation: str, query: QueryProtocol, content: dict[str, Any] | None, members: dict[str, Member], id_: str
) -> bytes:
    """The answer of an operation; one whose model has no output has no result."""
    result = ""
    if content is not None:
        result = _element(f"{operation}Result", "".join(_members(content, members)))
    metadata = _element("ResponseMetadata", _element("RequestId", id_))
    return _document(f"{operation}Response", query, result + metadata)


def failed(error: ApiError, query: QueryProtocol, id_: str) -> bytes:
    """An error."""
    told = "".join(
        (
            _element("Type", errors.fault(error)),
            _element("Code", _escaped(errors.query_code(error, query))),
            _element("Message", _escaped(error.message or "")),
        )
    )
    return _document("ErrorResponse", query, _element("Error", told) + _element("RequestId", id_))


def _document(name: str, query: QueryProtocol, content: str) -> bytes:
    return f'<{name} xmlns="{query.namespace}">{content}</{name}>\n'.encode()


def _element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>"


def _escaped(text: str) -> str:
    return escape(_IMPOSSIBLE.sub("\ufffd", text), _ESCAPES)


def _members(content: dict[str, Any], members: dict[str, Member]) -> Iterator[str]:
    for name, value in content.items():
        yield _element(name, _content(value, members[name].kind))


def _content(value: Any, kind: Kind) -> str:
    match kind:
        case Struct():
            return "".join(_members(value, kind.members))
        case ListOf():
            return "".join(_element("member", _content(element, kind.element)) for element in value)
        case MapOf():
            return "".join(_entry(key, element, kind) for key, element in value.items())
        case Timestamp():
            return iso(value)
        case Flag():
            return "true" if value else "false"
        case _:
            return _escaped(str(value))


def _entry(key: str, value: Any, kind: MapOf) -> str:
    inner = _element("key", _escaped(key)) + _element("value", _content(value, kind.element))
    return _element("entry", inner)


def iso(moment: float) -> str:
    """A moment with milliseconds where it has any."""
    precision = "seconds" if moment == int(moment) else "milliseconds"
    shown = datetime.fromtimestamp(moment, UTC).isoformat(timespec=precision)
    return shown.removesuffix("+00:00") + "Z"
