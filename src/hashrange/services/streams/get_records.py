"""GetRecords: the next changes of a shard, in order."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result, StreamRead
from hashrange.core.limits import STREAM_RECORDS_MAX
from hashrange.core.log_shards import Shard
from hashrange.services.streams import arns, iterators
from hashrange.storage import stream_pages
from hashrange.storage.engine import Reader
from hashrange.storage.stream_pages import LogRecord, Trimmed
from hashrange.storage.stream_rows import Stream

_MICROSECONDS = 1_000_000


class GetRecords(Request, kw_only=True):
    """The request."""

    shard_iterator: Annotated[str, Meta(min_length=1, max_length=2048)]
    limit: Annotated[int, Meta(ge=1, le=STREAM_RECORDS_MAX)] | None = None


SHAPE = Shape(GetRecords)


class RecordsRead(Result):
    """Records of a shard, and where the next ones are; None where there will never be any."""

    stream: Stream
    shard: Shard
    records: list[LogRecord]
    next_iterator: str | None
    now: float

    def stream_read(self) -> StreamRead:
        """How much it was, and how far behind the present."""
        records, stream = self.records, self.stream
        size_bytes = sum(record.size for record in records)
        age = max(0.0, self.now - records[-1].time_us / _MICROSECONDS) if records else None
        return StreamRead(stream.table_name, stream.label, len(records), size_bytes, age)


def get_records(context: Context, request: GetRecords) -> Plan:
    """Read on from where the iterator points to; everything it needs is in one snapshot."""
    sent = iterators.parse(request.shard_iterator)
    now = context.clock.now()
    limit = request.limit or STREAM_RECORDS_MAX

    def step(reader: Reader) -> RecordsRead:
        stream = arns.find(reader, context, sent.stream, now)
        iterator = sent.verified(stream)
        if iterator.is_expired(now):
            raise iterators.expired()
        shard = stream_pages.numbered_shard(reader, stream, iterator.shard, now)
        if shard is None:
            raise arns.shard_not_found()
        position = iterator.position
        if iterator.from_horizon:
            position = stream_pages.horizon(reader, stream, shard, now)
        try:
            page = stream_pages.read_page(reader, stream, shard, position, limit=limit, now=now)
        except Trimmed:
            raise arns.trimmed() from None
        following = None
        if page.next_position is not None:
            following = iterators.issue(stream, shard.number, page.next_position, now)
        return RecordsRead(stream, shard, page.records, following, now)

    return Read(step)
