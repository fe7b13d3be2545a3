"""Pages of lists: a marker says behind what the next one begins."""

import base64
import binascii
from collections.abc import Iterable
from typing import TypeVar

from hashrange.services.iam import errors

T = TypeVar("T")

_DEFAULT = 100


def page(
    rows: Iterable[tuple[str, T]], *, marker: str | None, max_items: int | None
) -> tuple[list[T], bool | None, str | None]:
    """The rows of a page, which come in the order of their ids; whether there are more, and the marker for those."""
    after = "" if marker is None else _id_of(marker)
    size = max_items or _DEFAULT
    listed: list[T] = []
    last = ""
    for row_id, row in rows:
        if after and row_id <= after:
            continue
        if len(listed) == size:
            return listed, True, base64.urlsafe_b64encode(last.encode()).decode()
        listed.append(row)
        last = row_id
    return listed, False, None


def _id_of(marker: str) -> str:
    try:
        return base64.b64decode(marker.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        raise errors.invalid_input("Invalid Marker.") from None
