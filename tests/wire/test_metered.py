"""What the server counts of its requests agrees with what it tells its clients they have consumed."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hashrange.capacity.series import Statistics, merged
from hashrange.storage.metric_rows import known_series, read_series
from hashrange.storage.sqlite import SqliteEngine
from item_tables import definitions, make_table
from service_clients import REGION, client_of
from serving import Serving, serving

pytestmark = pytest.mark.slow

ACCOUNT = "000000000000"
INDEX = "by-g"


class Metrics:
    """The metrics of a server that has been stopped."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine

    def of(self, metric: str, **dimensions: str) -> Statistics:
        """All samples of the last hour; empty ones of idle minutes are left out."""
        now = time.time()
        points = self._engine.read(
            lambda reader: read_series(
                reader, ACCOUNT, REGION, metric, dimensions, now - 3600, now + 60, 60, now=0
            )
        )
        return merged(points)

    def names(self) -> set[str]:
        return {
            metric
            for metric, _ in self._engine.read(lambda reader: list(known_series(reader, ACCOUNT, REGION)))
        }


class Workload:
    """Random requests of every kind, and what they were told to have consumed."""

    def __init__(self, client: Any, table: str, seed: int) -> None:
        self._client = client
        self._table = table
        self._random = random.Random(seed)
        self.units: Counter[tuple[str, str]] = Counter()  # of (table or index, Read or Write)
        self.calls: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    def key(self) -> dict[str, Any]:
        return {"p": {"S": f"{self._random.randrange(20)}"}}

    def item(self) -> dict[str, Any]:
        size = self._random.choice((10, 100, 1500, 5000))
        item = {**self.key(), "a": {"S": "x" * size}}
        if self._random.random() < 0.5:
            item["g"] = {"S": f"{self._random.randrange(3)}"}
        return item

    def step(self) -> None:
        kinds = [name for name in dir(self) if name.startswith("do_")]
        name = self._random.choice(kinds)
        getattr(self, name)()

    def call(self, method: str, kind: str, **request: Any) -> None:
        try:
            answer = getattr(self._client, method)(**request, ReturnConsumedCapacity="INDEXES")
        except ClientError as error:
            self.failures[error.response["Error"]["Code"]] += 1
            return
        self.calls[method] += 1
        reports = answer["ConsumedCapacity"]
        for report in reports if isinstance(reports, list) else [reports]:
            self.units["", kind] += report.get("Table", {}).get("CapacityUnits", 0)
            for units in report.get("GlobalSecondaryIndexes", {}).values():
                self.units[INDEX, kind] += units["CapacityUnits"]

    def do_get(self) -> None:
        consistent = self._random.random() < 0.5
        self.call("get_item", "Read", TableName=self._table, Key=self.key(), ConsistentRead=consistent)

    def do_get_part(self) -> None:
        self.call("get_item", "Read", TableName=self._table, Key=self.key(), ProjectionExpression="p")

    def do_put(self) -> None:
        self.call("put_item", "Write", TableName=self._table, Item=self.item())

    def do_update(self) -> None:
        self.call(
            "update_item",
            "Write",
            TableName=self._table,
            Key=self.key(),
            UpdateExpression="SET n = :n",
            ExpressionAttributeValues={":n": {"N": "1"}},
        )

    def do_delete(self) -> None:
        self.call("delete_item", "Write", TableName=self._table, Key=self.key())

    def do_fail(self) -> None:
        self.call(
            "put_item",
            "Write",
            TableName=self._table,
            Item={**self.key(), "a": {"S": "x" * 2500}},
            ConditionExpression="attribute_exists(nothing)",
        )

    def do_invalid(self) -> None:
        self.call("get_item", "Read", TableName=self._table, Key={"q": {"S": "x"}})

    def do_query(self) -> None:
        self.call(
            "query",
            "Read",
            TableName=self._table,
            IndexName=INDEX,
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": {"S": f"{self._random.randrange(3)}"}},
        )

    def do_scan(self) -> None:
        self.call("scan", "Read", TableName=self._table)

    def do_batch_get(self) -> None:
        keys = [{"p": {"S": f"{number}"}} for number in self._random.sample(range(20), 5)]
        self.call("batch_get_item", "Read", RequestItems={self._table: {"Keys": keys}})

    def do_batch_write(self) -> None:
        puts = {item["p"]["S"]: {"PutRequest": {"Item": item}} for item in (self.item() for _ in range(4))}
        self.call("batch_write_item", "Write", RequestItems={self._table: list(puts.values())})

    def do_transact_get(self) -> None:
        items = [{"Get": {"TableName": self._table, "Key": {"p": {"S": f"{number}"}}}} for number in range(3)]
        self.call("transact_get_items", "Read", TransactItems=items)

    def do_transact_write(self) -> None:
        self.call(
            "transact_write_items",
            "Write",
            TransactItems=[{"Put": {"TableName": self._table, "Item": self.item()}}],
        )

    def do_select(self) -> None:
        self.call("execute_statement", "Read", Statement=f"SELECT * FROM \"{self._table}\" WHERE p = '1'")

    def do_insert(self) -> None:
        number = self._random.randrange(10**9)
        self.call(
            "execute_statement",
            "Write",
            Statement=f"INSERT INTO \"{self._table}\" VALUE {{'p': 'n{number}'}}",
        )


@pytest.fixture(scope="module")
def metered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workload, Metrics, str]]:
    """A server after a random workload, stopped."""
    folder = tmp_path_factory.mktemp("metered")
    with serving("--data-dir", str(folder)) as server:
        client = client_of(server)
        index = {
            "IndexName": INDEX,
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        table = make_table(
            client,
            "p",
            AttributeDefinitions=definitions(p="S", g="S"),
            GlobalSecondaryIndexes=[index],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
        workload = Workload(client, table, seed=20261116)
        for _ in range(600):
            workload.step()
        read_stream(server, client.describe_table(TableName=table)["Table"]["LatestStreamArn"])
        assert server.stop() == 0
    engine = SqliteEngine.open(Path(folder))
    yield workload, Metrics(engine), table
    engine.close()


def read_stream(server: Serving, arn: str) -> None:
    streams = client_of(server, "dynamodbstreams")
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        streams.get_records(ShardIterator=iterator)


def test_consumed_capacity_and_the_metrics_agree(metered: tuple[Workload, Metrics, str]) -> None:
    workload, metrics, table = metered
    for kind in ("Read", "Write"):
        metric = f"Consumed{kind}CapacityUnits"
        failed = 3 * workload.failures["ConditionalCheckFailedException"] if kind == "Write" else 0
        counted = metrics.of(metric, TableName=table).sum
        # A failed write costs what it carried, or what it met if that is larger: the error does not say how much.
        extra = counted - workload.units["", kind]
        assert failed <= extra <= 2 * failed, kind
        of_index = metrics.of(metric, TableName=table, GlobalSecondaryIndexName=INDEX).sum
        assert of_index == workload.units[INDEX, kind] > 0


def test_every_operation_has_its_latencies(metered: tuple[Workload, Metrics, str]) -> None:
    workload, metrics, table = metered
    for method, calls in workload.calls.items():
        operation = "".join(part.title() for part in method.split("_"))
        latency = metrics.of("SuccessfulRequestLatency", TableName=table, Operation=operation)
        assert latency.n == calls, operation
        assert sum(latency.histogram.values()) == calls
        median = latency.percentile(50)
        assert median is not None
        assert 0 < latency.min <= median <= latency.max


def test_failures_are_counted_as_what_they_are(metered: tuple[Workload, Metrics, str]) -> None:
    workload, metrics, table = metered
    failed = workload.failures["ConditionalCheckFailedException"]
    assert metrics.of("ConditionalCheckFailedRequests", TableName=table).sum == failed > 0
    invalid = workload.failures["ValidationException"]
    # What it asked before the table was there counts too.
    assert metrics.of("UserErrors").sum >= invalid > 0


def test_pages_and_records_are_counted(metered: tuple[Workload, Metrics, str]) -> None:
    workload, metrics, table = metered
    returned = metrics.of("ReturnedItemCount", TableName=table, Operation="Scan")
    assert returned.n == workload.calls["scan"]
    assert returned.max > 0
    assert {"ReturnedBytes", "ReturnedRecordsCount", "IteratorAge"} <= metrics.names()


def test_what_was_done_before_the_clock_is_moved_counts_for_the_time_before(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--test-clock") as server:
        client = client_of(server)
        table = make_table(client, "p")
        for _ in range(5):
            client.put_item(TableName=table, Item={"p": {"S": "1"}})
        moved = server.request("POST", "/_hashrange/clock", b'{"advance_seconds": 86400}')
        assert moved.status == 200, moved.body
        assert server.stop() == 0
    engine = SqliteEngine.open(tmp_path)
    try:
        assert Metrics(engine).of("ConsumedWriteCapacityUnits", TableName=table).sum == 5
    finally:
        engine.close()
