"""DescribeStream: a stream and its shards, by pages, or the children of one shard."""

from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure
from hashrange.api.results import Described
from hashrange.core.limits import DESCRIBE_STREAM_SHARDS_MAX
from hashrange.core.log_shards import Shard
from hashrange.services.streams import arns
from hashrange.services.streams.structures import ShardId, StreamArn
from hashrange.storage import stream_pages
from hashrange.storage.engine import Reader
from hashrange.storage.stream_rows import Stream


class ShardFilter(Structure, kw_only=True):
    """Which shards are asked for."""

    type: Literal["CHILD_SHARDS"]
    shard_id: ShardId


class DescribeStream(Request, kw_only=True):
    """The request."""

    stream_arn: StreamArn
    limit: Annotated[int, Meta(ge=1, le=DESCRIBE_STREAM_SHARDS_MAX)] | None = None
    exclusive_start_shard_id: ShardId | None = None
    shard_filter: ShardFilter | None = None


SHAPE = Shape(DescribeStream)


class KeySchemaElement(Response, kw_only=True):
    """One attribute of the table's key."""

    attribute_name: str
    key_type: str


class SequenceNumberRange(Response, kw_only=True):
    """The sequence numbers that records of a shard can have; an open shard has no last one."""

    starting_sequence_number: str
    ending_sequence_number: str | None = None


class ShardDescription(Response, kw_only=True):
    """One shard."""

    shard_id: str
    sequence_number_range: SequenceNumberRange
    parent_shard_id: str | None = None


class StreamDescription(Response, kw_only=True):
    """The stream."""

    stream_arn: str
    stream_label: str
    stream_status: str
    stream_view_type: str
    creation_request_date_time: float
    table_name: str
    key_schema: list[KeySchemaElement]
    shards: list[ShardDescription]
    last_evaluated_shard_id: str | None = None


class DescribeStreamOutput(Response, kw_only=True):
    """The answer."""

    stream_description: StreamDescription


def describe_stream(context: Context, request: DescribeStream) -> Plan:
    """Take one shard more than asked for, to know whether there is a next page."""
    name = arns.parse(request.stream_arn)
    now = context.clock.now()
    limit = request.limit or DESCRIBE_STREAM_SHARDS_MAX

    def step(reader: Reader) -> Described:
        stream = arns.find(reader, context, name, now)
        shards = stream_pages.shards(reader, stream, now, request.exclusive_start_shard_id)
        if request.shard_filter is not None:
            parent_id = request.shard_filter.shard_id
            shards = (shard for shard in shards if shard.parent_id == parent_id)
        page = list(islice(shards, limit + 1))
        body = _described(stream, page[:limit], now)
        if len(page) > limit:
            body.last_evaluated_shard_id = page[limit - 1].id
        return Described(DescribeStreamOutput(stream_description=body))

    return Read(step)


def _described(stream: Stream, shards: list[Shard], now: float) -> StreamDescription:
    key_types = ("HASH", "RANGE")
    return StreamDescription(
        stream_arn=stream.arn,
        stream_label=stream.label,
        stream_status=stream.status_at(now),
        stream_view_type=stream.view_type,
        creation_request_date_time=stream.created_at,
        table_name=stream.table_name,
        key_schema=[
            KeySchemaElement(attribute_name=key.name, key_type=key_type)
            for key, key_type in zip(stream.keys, key_types, strict=False)
        ],
        shards=[_shard(shard) for shard in shards],
    )


def _shard(shard: Shard) -> ShardDescription:
    numbers = SequenceNumberRange(
        starting_sequence_number=shard.starting_number, ending_sequence_number=shard.ending_number
    )
    return ShardDescription(shard_id=shard.id, sequence_number_range=numbers, parent_shard_id=shard.parent_id)
