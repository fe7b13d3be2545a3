"""The table of the operations of DynamoDB Streams, as api/registry.py has it for DynamoDB."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import Kind, Service
from hashrange.api.registry import DYNAMODB, Resources, no_resource, operation
from hashrange.services.streams import describe_stream, get_records, get_shard_iterator, list_streams
from hashrange.services.streams.iterators import stream_arn


def _stream(request: Any) -> Iterable[str]:
    return (request.stream_arn,)


def _iterator(request: Any) -> Iterable[str]:
    return (stream_arn(request.shard_iterator),)


_ROWS: tuple[tuple[str, ModuleType, Kind, Resources], ...] = (
    ("DescribeStream", describe_stream, "control", _stream),
    ("GetRecords", get_records, "read", _iterator),
    ("GetShardIterator", get_shard_iterator, "control", _stream),
    ("ListStreams", list_streams, "control", no_resource),
)


STREAMS = Service(
    "dynamodbstreams",
    "DynamoDBStreams_20120810.",
    DYNAMODB.error_namespace,
    {row[0]: operation(*row) for row in _ROWS},
    DYNAMODB.signing_name,
)

# Proxies such as DAX, and some clients, send these operations under DynamoDB's own name.
STREAMS_ON_DYNAMODB = Service(
    DYNAMODB.name,
    DYNAMODB.target_prefix,
    DYNAMODB.error_namespace,
    STREAMS.operations,
    DYNAMODB.signing_name,
)
