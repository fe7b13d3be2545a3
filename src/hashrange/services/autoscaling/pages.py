"""Pages of lists: a token is the id that the page before ended with."""

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import TypeVar

from hashrange.api.errors import ApiError

T = TypeVar("T")

_EXAMINED_MAX = 1000


def start_of(token: str | None) -> str:
    """The id behind which a page begins; empty for the first page."""
    if token is None:
        return ""
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ApiError("InvalidNextTokenException", "The next token supplied is invalid") from None


def page(rows: Iterator[tuple[str, T]], fits: Callable[[T], bool], limit: int) -> tuple[list[T], str | None]:
    """The next rows that fit, and the token of the page behind them.

    Where few of many rows fit, a page may be short or even empty, with a token, as the service's may be: nobody else
    waits for long.
    """
    chosen: list[T] = []
    last = ""
    for examined, (row_id, row) in enumerate(rows):
        if examined == _EXAMINED_MAX or len(chosen) == limit:
            return chosen, base64.urlsafe_b64encode(last.encode()).decode()
        if fits(row):
            chosen.append(row)
        last = row_id
    return chosen, None
