"""Cursors: where the next page of a query begins, as a short text for the application's clients."""

import base64
import binascii
import json

import msgspec

from hashrange.patterns.errors import BadCursor
from hashrange.patterns.values import Item, Scalar, digest, json_scalar, scalar_of_json

_CURSOR_LENGTH_MAX = 8_192  # two keys of 2,048 and 1,024 bytes fit, however they are escaped


class Page(msgspec.Struct, frozen=True):
    """Items in order; without a cursor there are no more."""

    items: list[Item]
    cursor: str | None


def cursor_of(query: str, *position: Scalar) -> str:
    """The cursor of a position in a query, which is named by everything that its pages have in common."""
    members = [digest(query)[:12], *map(json_scalar, position)]
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode()


def position_of(query: str, cursor: str) -> list[Scalar]:
    """The position again. Cursors come back from browsers: one that was not given out for this query is refused."""
    if len(cursor) > _CURSOR_LENGTH_MAX:
        raise BadCursor("the cursor is too long")
    try:
        name, *pairs = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        position = [scalar_of_json(pair) for pair in pairs]
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise BadCursor("the cursor is damaged") from error
    if name != digest(query)[:12]:
        raise BadCursor("the cursor belongs to another query")
    return position
