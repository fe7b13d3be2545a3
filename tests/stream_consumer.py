"""A consumer of streams like the Kinesis library: it follows the lineage of shards and resumes from checkpoints."""

from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]  # of an operation's name and its parameters
Record = dict[str, Any]


def boto3_call(client: Any) -> Call:
    """Calls by a boto3 client of DynamoDB Streams."""
    names = {
        "DescribeStream": "describe_stream",
        "GetShardIterator": "get_shard_iterator",
        "GetRecords": "get_records",
        "ListStreams": "list_streams",
    }
    return lambda operation, **parameters: getattr(client, names[operation])(**parameters)


def all_shards(call: Call, stream_arn: str, page: int = 100) -> list[Any]:
    """Every shard of a stream, page by page."""
    shards: list[Any] = []
    start: dict[str, str] = {}
    while True:
        answer = call("DescribeStream", StreamArn=stream_arn, Limit=page, **start)["StreamDescription"]
        shards += answer["Shards"]
        if "LastEvaluatedShardId" not in answer:
            return shards
        start = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}


class Consumer:
    """Reads every shard after its parent, and remembers the last record of each that it has taken."""

    def __init__(self, call: Call, stream_arn: str, *, limit: int = 1000) -> None:
        self.call = call
        self.stream_arn = stream_arn
        self.records: list[tuple[str, Record]] = []  # with the shard of each
        self._limit = limit
        self._checkpoints: dict[str, str] = {}
        self._iterators: dict[str, str] = {}
        self._finished: set[str] = set()

    def restart(self) -> None:
        """Forget all but the checkpoints, as a consumer that was killed."""
        self._iterators.clear()

    def catch_up(self) -> int:
        """Read until nothing new is there; give how many records that were."""
        start = len(self.records)
        before = -1
        while before != (progress := len(self.records) + len(self._finished)):
            before = progress
            self._pass()
        return len(self.records) - start

    def _pass(self) -> None:
        shards = all_shards(self.call, self.stream_arn)
        known = {shard["ShardId"] for shard in shards}
        for shard in shards:
            parent = shard.get("ParentShardId")
            if shard["ShardId"] not in self._finished and (parent not in known or parent in self._finished):
                self._read(shard["ShardId"])

    def _read(self, shard_id: str) -> None:
        while True:
            iterator = self._iterators.get(shard_id) or self._iterator(shard_id)
            answer = self.call("GetRecords", ShardIterator=iterator, Limit=self._limit)
            for record in answer["Records"]:
                self.records.append((shard_id, record))
                self._checkpoints[shard_id] = record["dynamodb"]["SequenceNumber"]
            if "NextShardIterator" not in answer:
                self._finished.add(shard_id)
                return
            self._iterators[shard_id] = answer["NextShardIterator"]
            if not answer["Records"]:
                return

    def _iterator(self, shard_id: str) -> str:
        checkpoint = self._checkpoints.get(shard_id)
        place = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if checkpoint is None
            else {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": checkpoint}
        )
        answer = self.call("GetShardIterator", StreamArn=self.stream_arn, ShardId=shard_id, **place)
        return str(answer["ShardIterator"])

    def changes(self) -> list[Record]:
        """What has been read, without the shards."""
        return [record for _, record in self.records]

    def check_order(self) -> None:
        """Nothing was read twice, and the numbers of every shard rise."""
        ids = [record["eventID"] for _, record in self.records]
        assert len(ids) == len(set(ids))
        numbers: dict[str, int] = {}
        for shard_id, record in self.records:
            number = int(record["dynamodb"]["SequenceNumber"])
            assert number > numbers.get(shard_id, 0)
            numbers[shard_id] = number


def read_all(call: Call, stream_arn: str) -> list[Record]:
    """All changes of a stream that can be read now, in the order of its lineage."""
    consumer = Consumer(call, stream_arn)
    consumer.catch_up()
    consumer.check_order()
    return consumer.changes()
