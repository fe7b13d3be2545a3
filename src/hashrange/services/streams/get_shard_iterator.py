"""GetShardIterator: a place in a shard from which on GetRecords reads."""

from typing import Annotated, Literal

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.kinds import Timestamp
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.log_shards import Shard, microseconds
from hashrange.services.streams import arns, iterators
from hashrange.services.streams.structures import SequenceNumber, ShardId, StreamArn
from hashrange.storage import stream_pages
from hashrange.storage.engine import Reader
from hashrange.storage.stream_pages import NotWritten, Trimmed
from hashrange.storage.stream_rows import Stream


class GetShardIterator(Request, kw_only=True):
    """The request."""

    stream_arn: StreamArn
    shard_id: ShardId
    shard_iterator_type: Literal[
        "TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"
    ]
    sequence_number: SequenceNumber | None = None
    timestamp: Annotated[float, Timestamp()] | None = None


SHAPE = Shape(GetShardIterator)


class GetShardIteratorOutput(Response, kw_only=True):
    """The answer."""

    shard_iterator: str


def get_shard_iterator(context: Context, request: GetShardIterator) -> Plan:
    """Find the place in the shard as it is now."""
    name = arns.parse(request.stream_arn)
    now = context.clock.now()
    _check(request, now)

    def step(reader: Reader) -> Described:
        stream = arns.find(reader, context, name, now)
        shard = stream_pages.find_shard(reader, stream, request.shard_id, now)
        if shard is None:
            raise arns.shard_not_found()
        from_horizon = request.shard_iterator_type == "TRIM_HORIZON"
        position = shard.first if from_horizon else _position(reader, stream, shard, request, now)
        text = iterators.issue(stream, shard.number, position, now, from_horizon=from_horizon)
        return Described(GetShardIteratorOutput(shard_iterator=text))

    return Read(step)


def _check(request: GetShardIterator, now: float) -> None:
    """Which members go with which type."""
    kind, number = request.shard_iterator_type, request.sequence_number
    if kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        if number is None:
            raise errors.validation('Missing required parameter "SequenceNumber"')
        if not (number.isascii() and number.isdigit()):
            raise errors.validation("Invalid SequenceNumber")
    elif number is not None:
        raise errors.validation("Iterator of this type should not have sequence number")
    if kind != "AT_TIMESTAMP":
        if request.timestamp is not None:
            raise errors.validation("Iterator of this type should not have timestamp")
    elif request.timestamp is None:
        raise errors.validation('Missing required parameter "Timestamp"')
    elif request.timestamp > now:
        raise errors.validation("Timestamp must not be in the future")


def _position(reader: Reader, stream: Stream, shard: Shard, request: GetShardIterator, now: float) -> int:
    number, behind = request.sequence_number, request.shard_iterator_type == "AFTER_SEQUENCE_NUMBER"
    if number is not None:
        try:
            return stream_pages.at_number(reader, stream, shard, number, now, behind=behind)
        except Trimmed:
            raise arns.trimmed() from None
        except NotWritten:
            # What the service says is not known; that it should be silent for ever is not likely.
            raise errors.validation("Invalid SequenceNumber: it is behind the end of the shard") from None
    if request.timestamp is not None:
        time_us = microseconds(max(0.0, request.timestamp))
        return stream_pages.at_time(reader, stream, shard, time_us, now)
    return stream_pages.latest(reader, stream, shard)
