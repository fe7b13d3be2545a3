"""What a request costs in round trips to the database: with the database a millisecond away, that is its time."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from hashrange.config import Settings
from hashrange.server import Server
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from postgres_server import PostgresServer
from serving import Serving

TABLE = {
    "TableName": "trips",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
NAME = {"TableName": "trips"}
ITEM = {"pk": {"S": "item"}, "g": {"S": "group"}}
KEY = {"pk": {"S": "item"}}
ADD = {"UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}


class Trips:
    """A server in this process, and the threads that have sent something to the database."""

    def __init__(self, url: str) -> None:
        self.senders: list[threading.Thread] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = Server(Settings(engine=url, port=0, transition_ms=0))
        engine, port = self._run(self._server.start())
        assert isinstance(engine, PostgresEngine)
        self.writer = engine._committer._worker.thread
        self._engine = engine
        self.serving = Serving(None, f"http://127.0.0.1:{port}", None)  # type: ignore[arg-type]

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        self._run(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def loop(self) -> threading.Thread:
        """The event loop's thread, once it has connections of its own to read with."""
        readers = self._engine._loop_readers
        assert readers is not None
        deadline = time.monotonic() + 30
        while not (readers._rows._lanes and readers._ranges._lanes) and time.monotonic() < deadline:
            self.cost("GetItem", {**NAME, "Key": KEY})
            self.cost("Scan", NAME)
        return self._thread

    def stop_jobs(self) -> None:
        """Their own writes, a lease's heartbeat for one, go through the same writer and would be counted."""
        for supervisor in self._server._supervisors:
            supervisor.stop()

    def cost(self, operation: str, request: dict[str, Any], *threads: threading.Thread) -> int:
        """How often these threads send something for a request; others do work of their own."""
        self.senders.clear()
        answer = self.serving.post(operation, request)
        assert answer.status == 200, answer
        return sum(sender in threads for sender in self.senders)


@pytest.fixture(scope="module")
def trips(postgres: PostgresServer) -> Iterator[Trips]:
    postgres.execute("CREATE DATABASE trips")
    patch = pytest.MonkeyPatch()
    try:
        running = Trips(postgres.url("trips"))
        queue = PipelineConnection._queue

        def counted(link: PipelineConnection, calls: Sequence[Call]) -> None:
            running.senders.append(threading.current_thread())
            queue(link, calls)

        patch.setattr(PipelineConnection, "_queue", counted)
        assert running.serving.post("CreateTable", TABLE).status == 200
        running.stop_jobs()
        yield running
        running.close()
    finally:
        patch.undo()
        postgres.execute("DROP DATABASE trips WITH (FORCE)")


@pytest.mark.parametrize("turn", ["new", "there"])
@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("PutItem", {**NAME, "Item": ITEM}),
        ("PutItem", {**NAME, "Item": ITEM, "ConditionExpression": "attribute_not_exists(x)"}),
        ("UpdateItem", {**NAME, "Key": KEY, **ADD}),
        ("BatchWriteItem", {"RequestItems": {"trips": [{"PutRequest": {"Item": ITEM}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {**NAME, "Item": ITEM}}], "ClientRequestToken": "t"}),
    ],
)  # fmt: skip
def test_a_write_takes_two(trips: Trips, operation: str, request_body: dict[str, Any], turn: str) -> None:
    if turn == "new":
        trips.cost("DeleteItem", {**NAME, "Key": KEY})
    assert trips.cost(operation, request_body, trips.writer) == 2


@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("GetItem", {**NAME, "Key": KEY}),
        ("BatchGetItem", {"RequestItems": {"trips": {"Keys": [KEY]}}}),
        ("Query", {**NAME, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "item"}}}),
    ],
)  # fmt: skip
def test_a_read_takes_one(trips: Trips, operation: str, request_body: dict[str, Any]) -> None:
    trips.cost("PutItem", {**NAME, "Item": ITEM})
    # The loop also looks now and then whether another server has changed a table.
    assert min(trips.cost(operation, request_body, trips.loop) for _ in range(3)) == 1
