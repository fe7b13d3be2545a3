"""Requests of any content are answered, or refused in the service's way."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.api.errors import ApiError
from hashrange.services.streams.registry import STREAMS
from stream_tables import ONE_SHARD, Streamed

CODES = {
    "answer",
    "ExpiredIteratorException",
    "ResourceNotFoundException",
    "SerializationException",
    "TrimmedDataAccessException",
    "ValidationException",
}


@cache
def streamed() -> Streamed:
    """A stream with some records and a closed shard."""
    table = Streamed(**ONE_SHARD)
    table.put("a")
    table.clock.advance(4 * 3600)
    table.service.run_jobs()
    table.put("b")
    return table


@cache
def sensible() -> dict[str, list[Any]]:
    """Values that are good in the right place."""
    table = streamed()
    shards = [shard["ShardId"] for shard in table.shards()]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in table.records()]
    return {
        "StreamArn": [table.arn],
        "ExclusiveStartStreamArn": [table.arn],
        "TableName": ["tab", "missing"],
        "ShardId": shards,
        "ExclusiveStartShardId": shards,
        "ShardFilter": [{"Type": "CHILD_SHARDS", "ShardId": shards[0]}, {}],
        "ShardIteratorType": [
            "TRIM_HORIZON",
            "LATEST",
            "AT_SEQUENCE_NUMBER",
            "AFTER_SEQUENCE_NUMBER",
            "AT_TIMESTAMP",
        ],
        "SequenceNumber": [*numbers, "9" * 40, "0" * 21, "-" + "1" * 30],
        "Timestamp": [0, table.clock.now(), 1e308, -1e308, 0.5],
        "ShardIterator": [table.iterator(0), table.iterator(1, "LATEST")],
        "Limit": [1, 1000, 2**63],
    }


rubbish = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=60),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)


@pytest.mark.parametrize("operation", STREAMS.operations)
@given(data=st.data())
def test_every_request_has_an_answer(operation: str, data: st.DataObject) -> None:
    members = STREAMS.operations[operation].shape.members
    request: dict[str, Any] = {}
    for name in members:
        kind = data.draw(st.sampled_from(["good", "good", "good", "rubbish", "absent"]), name)
        if kind == "good":
            request[name] = data.draw(st.sampled_from(sensible()[name]), name)
        elif kind == "rubbish":
            request[name] = data.draw(rubbish, name)
    assert outcome(operation, request) in CODES


def outcome(operation: str, request: dict[str, Any]) -> str:
    try:
        streamed().call(operation, **request)
    except ApiError as error:
        return error.code
    return "answer"
