"""DynamoDB JSON: the lines of full and incremental exports, and of imports and bulk operations."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson

from hashrange.core import json_values, patient_json
from hashrange.formats.errors import Garbage
from hashrange.formats.lines import lines
from hashrange.formats.records import Change, Record

_NOT_JSON = "The line is not valid JSON"
_NOT_AN_OBJECT = "The line is not a JSON object"
_TOO_MANY_VALUES = "The line has more values than an item may have"


def item_line(item_json: bytes) -> bytes:
    """A line of a full export; takes the item's JSON as it is stored."""
    return b'{"Item":' + item_json + b"}\n"


def change_line(change: Change) -> bytes:
    """A line of an incremental export."""
    line: dict[str, object] = {
        "Metadata": {"WriteTimestampMicros": {"N": str(change.written_at_micros)}},
        "Keys": change.keys,
    }
    if change.old_image is not None:
        line["OldImage"] = change.old_image
    if change.new_image is not None:
        line["NewImage"] = change.new_image
    return orjson.dumps(line) + b"\n"


def records(chunks: Iterable[bytes]) -> Iterator[Record]:
    """The members of each line; blank lines are none."""
    index = 0
    for line in lines(chunks):
        if stripped := line.strip():
            yield Record(index, _members(stripped))
            index += 1


def _members(line: bytes) -> dict[str, Any]:
    if json_values.too_many(line):
        raise Garbage(_TOO_MANY_VALUES)
    try:
        members = patient_json.loads(line, orjson.loads)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        raise Garbage(_NOT_JSON) from None
    if type(members) is not dict:
        raise Garbage(_NOT_AN_OBJECT)
    return members
