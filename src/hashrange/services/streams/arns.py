"""Streams by their ARN."""

import re
from typing import NamedTuple

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.storage import stream_rows
from hashrange.storage.engine import Reader
from hashrange.storage.stream_rows import Stream

_ARN = re.compile(
    r"arn:aws[a-z-]*:dynamodb:(?P<region>[a-z0-9-]+):(?P<account_id>[0-9]{12})"
    r":table/(?P<table_name>[a-zA-Z0-9_.-]{3,255})/stream/(?P<label>[0-9T:.-]+)",
    re.ASCII,
)


class StreamName(NamedTuple):
    """What an ARN says."""

    arn: str
    account_id: str
    region: str
    table_name: str
    label: str


def parse(arn: str) -> StreamName:
    """The parts of a stream's ARN; ValidationException if it is none."""
    match = _ARN.fullmatch(arn)
    if match is None:
        raise errors.validation("Invalid StreamArn")
    return StreamName(arn, match["account_id"], match["region"], match["table_name"], match["label"])


def find(reader: Reader, context: Context, name: StreamName, now: float) -> Stream:
    """The stream of an ARN, which the caller may reach and which must be young enough to be read."""
    stream = None
    reached = name.account_id == context.account_id or name.account_id in context.reaches
    if reached and name.region == context.region:
        stream = stream_rows.find(reader, *name[1:])
    if stream is None or not stream.readable(now):
        raise not_found(name.arn)
    return stream


def not_found(arn: str) -> ApiError:
    """ResourceNotFoundException about a stream."""
    return errors.not_found(f"Requested resource not found: Stream: {arn} not found")


def shard_not_found() -> ApiError:
    """ResourceNotFoundException about a shard."""
    return errors.not_found("Requested resource not found: Shard does not exist")


def trimmed() -> ApiError:
    """TrimmedDataAccessException: the records are older than a day."""
    return ApiError("TrimmedDataAccessException", "The data you are trying to access has been trimmed")
