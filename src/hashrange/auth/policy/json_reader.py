"""Reading a policy's JSON: an element that is there twice, or a character no policy may have, makes it invalid."""

import json
import re
from typing import Any

_ALLOWED = re.compile(r"[\t\n\r\x20-\xff]*")


class NumberText(str):
    """A JSON number, as it was written: a condition compares it as text or as it likes."""

    __slots__ = ()


class InvalidJson(Exception):
    """The document is no JSON object that a policy could be."""


def read(document: str) -> dict[str, Any]:
    """The JSON object of a policy."""
    if not _ALLOWED.fullmatch(document):
        raise InvalidJson
    try:
        content = json.loads(
            document,
            object_pairs_hook=_object,
            parse_int=NumberText,
            parse_float=NumberText,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        raise InvalidJson from None
    if not isinstance(content, dict):
        raise InvalidJson
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("an element is there twice")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)
