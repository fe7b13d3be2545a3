"""Pages of lists: a token is the id that the page before ended with."""

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import msgspec

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Read
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.api.scaling import resources
from hashrange.api.scaling.resources import NAMESPACE
from hashrange.services.autoscaling.structures import ScalableDimension, ServiceNamespace
from hashrange.storage.engine import Reader
from hashrange.storage.setting_rows import Place, SettingRows

R = TypeVar("R")
T = TypeVar("T", bound=msgspec.Struct)
Answer = Callable[[Place, list[T], str | None], Response]


class Filters(Protocol):
    """What requests choose records by."""

    service_namespace: ServiceNamespace
    resource_id: str | None
    scalable_dimension: ScalableDimension | None


class Scaled(Protocol):
    """A record of a capacity."""

    @property
    def resource_id(self) -> str: ...
    @property
    def dimension(self) -> str: ...


_EXAMINED_MAX = 1000


def start_of(token: str | None) -> str:
    """The id behind which a page begins; empty for the first page."""
    if token is None:
        return ""
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ApiError("InvalidNextTokenException", "The next token supplied is invalid") from None


def belongs(request: Filters, record: Scaled) -> bool:
    """Whether a record is of the service, the resource and the dimension that a request names."""
    return (
        request.service_namespace == NAMESPACE
        and request.resource_id in (None, record.resource_id)
        and request.scalable_dimension in (None, record.dimension)
    )


def listed(
    context: Context,
    rows: SettingRows[T],
    token: str | None,
    limit: int,
    answer: Answer[T],
    *,
    fits: Callable[[T], bool],
    newest_first: bool = False,
) -> Read:
    """Answer with the next records that fit."""
    start, place = start_of(token), resources.place_of(context)

    def step(reader: Reader) -> Described:
        records = rows.of_region(reader, place, after=start, reverse=newest_first)
        shown, following = page(records, fits, limit)
        return Described(answer(place, shown, following))

    return Read(step)


def page(rows: Iterator[tuple[str, R]], fits: Callable[[R], bool], limit: int) -> tuple[list[R], str | None]:
    """The next rows that fit, and the token of the page behind them.

    Where few of many rows fit, a page may be short or even empty, with a token, as the service's may be: nobody else
    waits for long.
    """
    chosen: list[R] = []
    last = ""
    for examined, (row_id, row) in enumerate(rows):
        if examined == _EXAMINED_MAX or len(chosen) == limit:
            return chosen, base64.urlsafe_b64encode(last.encode()).decode()
        if fits(row):
            chosen.append(row)
        last = row_id
    return chosen, None
