"""ListStreams: the streams of the account in this region, or of one table name, by pages."""

from itertools import islice
from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NewName, Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import LIST_STREAMS_MAX
from hashrange.services.streams import arns
from hashrange.services.streams.structures import StreamArn
from hashrange.storage import stream_rows
from hashrange.storage.engine import Reader
from hashrange.storage.stream_rows import Stream


class ListStreams(Request, kw_only=True):
    """The request."""

    table_name: NewName | None = None
    limit: Annotated[int, Meta(ge=1, le=LIST_STREAMS_MAX)] | None = None
    exclusive_start_stream_arn: StreamArn | None = None


SHAPE = Shape(ListStreams)


class StreamSummary(Response, kw_only=True):
    """One stream."""

    stream_arn: str
    table_name: str
    stream_label: str


class ListStreamsOutput(Response, kw_only=True):
    """The answer."""

    streams: list[StreamSummary]
    last_evaluated_stream_arn: str | None = None


def list_streams(context: Context, request: ListStreams) -> Plan:
    """Take one stream more than asked for, to know whether there is a next page."""
    limit = request.limit or LIST_STREAMS_MAX
    now = context.clock.now()
    start = request.exclusive_start_stream_arn
    after = None if start is None else arns.parse(start)

    def step(reader: Reader) -> Described:
        streams = stream_rows.of_region(
            reader,
            context.account_id,
            context.region,
            table_name=request.table_name,
            after=None if after is None else (after.table_name, after.label),
        )
        page = list(islice((stream for stream in streams if stream.readable(now)), limit + 1))
        last = page[limit - 1].arn if len(page) > limit else None
        shown = [_summary(stream) for stream in page[:limit]]
        return Described(ListStreamsOutput(streams=shown, last_evaluated_stream_arn=last))

    return Read(step)


def _summary(stream: Stream) -> StreamSummary:
    return StreamSummary(stream_arn=stream.arn, table_name=stream.table_name, stream_label=stream.label)
