"""Plain JSON lines: items as people write them, whose types are those of JSON."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import orjson

from hashrange.core import json_values
from hashrange.core.values import Item, Value
from hashrange.formats.errors import Garbage
from hashrange.formats.lines import lines
from hashrange.formats.records import Record

_NOT_JSON = "The line is not valid JSON"
_NOT_AN_OBJECT = "The line is not a JSON object"
_TOO_MANY_VALUES = "The line has more values than an item may have"


class _Number(str):
    """The digits of a number: as a float it would lose some."""

    __slots__ = ()


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


_decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_refuse)


def records(chunks: Iterable[bytes]) -> Iterator[Record]:
    """An item for each line; blank lines are none."""
    index = 0
    for line in lines(chunks):
        if stripped := line.strip():
            yield Record(index, {"Item": _item(stripped)})
            index += 1


def _item(line: bytes) -> Item:
    if json_values.too_many(line):
        raise Garbage(_TOO_MANY_VALUES)
    try:
        members = _decoder.decode(line.decode("utf-8"))
        if b"\\u" in line:
            orjson.loads(line)  # which refuses halves of characters
        if type(members) is not dict:
            raise Garbage(_NOT_AN_OBJECT)
        return {name: _value(member) for name, member in members.items()}
    except (ValueError, RecursionError):
        raise Garbage(_NOT_JSON) from None


def _value(plain: Any) -> Value:
    match plain:
        case _Number():
            return {"N": str(plain)}
        case str():
            return {"S": plain}
        case bool():
            return {"BOOL": plain}
        case None:
            return {"NULL": True}
        case list():
            return {"L": [_value(member) for member in plain]}
        case _:
            return {"M": {name: _value(member) for name, member in plain.items()}}
