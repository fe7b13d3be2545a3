"""Records of streams as JSON: keys and images are pasted as they are stored."""

from hashlib import blake2b

import orjson

from hashrange.core.items import stored_json
from hashrange.services.streams.get_records import GetRecords, RecordsRead
from hashrange.storage.stream_pages import LogRecord

_EVENT_ID_BYTES = 16
_MICROSECONDS = 1_000_000
# Who deletes what has expired.
_TTL_IDENTITY = b',"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}'


def records_read(_request: GetRecords, result: RecordsRead) -> bytes:
    """GetRecords."""
    region = orjson.dumps(result.stream.region)
    view_type = result.stream.view_type.encode()
    shard = result.shard
    ids = blake2b(f"{result.stream.table_id}/{shard.number}/".encode(), digest_size=_EVENT_ID_BYTES)
    pieces = []
    for record in result.records:
        event_id = ids.copy()
        event_id.update(b"%d" % record.position)
        change = record.change
        pieces.append(
            b'{"eventID":"%b","eventName":"%b","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":%b,'
            b'"dynamodb":{"ApproximateCreationDateTime":%d,"Keys":%b%b,"SequenceNumber":"%b","SizeBytes":%d,'
            b'"StreamViewType":"%b"}%b}'
            % (
                event_id.hexdigest().encode(),
                change.event.encode(),
                region,
                record.time_us // _MICROSECONDS,
                change.keys,
                _images(record),
                shard.sequence_number(record.position, record.time_us).encode(),
                record.size,
                view_type,
                _TTL_IDENTITY if change.actor == "ttl" else b"",
            )
        )
    body = b'{"Records":[' + b",".join(pieces) + b"]"
    if result.next_iterator is None:
        return body + b"}"
    return body + b',"NextShardIterator":' + orjson.dumps(result.next_iterator) + b"}"


def _images(record: LogRecord) -> bytes:
    before, after = record.change.before, record.change.after
    new = b"" if after is None else b',"NewImage":' + stored_json(after)
    return new if before is None else b'%b,"OldImage":%b' % (new, stored_json(before))
