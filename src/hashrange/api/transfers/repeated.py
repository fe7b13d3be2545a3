"""Requests that are sent again with their token: the job that the first one started answers all of them."""

from typing import TypeVar

import msgspec

from hashrange.api.errors import ApiError
from hashrange.storage import job_tokens
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace, JobRows

T = TypeVar("T", bound=msgspec.Struct)


def earlier_job(
    reader: Reader,
    rows: JobRows[T],
    kind: str,
    place: JobPlace,
    token: str | None,
    *,
    digest: bytes,
    now: float,
    conflict: ApiError,
) -> tuple[JobPlace, T] | None:
    """The job that a request with this token has started; `conflict` is raised if that was another request."""
    earlier = None if token is None else job_tokens.find(reader, kind, place, token, now)
    if earlier is None:
        return None
    if earlier.digest != digest:
        raise conflict
    place = place._replace(id=earlier.job_id)
    record = rows.find(reader, place)
    return None if record is None else (place, record)
