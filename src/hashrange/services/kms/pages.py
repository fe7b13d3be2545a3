"""Pages of lists: a marker is what the page before ended with."""

import base64
import binascii
from collections.abc import Iterator
from typing import TypeVar

from hashrange.api.errors import ApiError

T = TypeVar("T")


def start_of(marker: str | None) -> str:
    """The id behind which a page begins; empty for the first page."""
    if marker is None:
        return ""
    try:
        return base64.b64decode(marker, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ApiError("InvalidMarkerException", "The marker is not valid") from None


def page(rows: Iterator[tuple[str, T]], limit: int) -> tuple[list[T], str | None]:
    """The next rows, and the marker of the page behind them."""
    chosen: list[T] = []
    last = ""
    for row_id, row in rows:
        if len(chosen) == limit:
            return chosen, base64.urlsafe_b64encode(last.encode()).decode()
        chosen.append(row)
        last = row_id
    return chosen, None
