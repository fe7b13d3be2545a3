"""Writers that know which changes a stream must have, whichever server is killed under them, and a reader."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from faults.line import Line, Refused
from serving import Serving
from stream_consumer import Consumer, all_shards

Item = dict[str, Any]
Change = tuple[Item | None, Item | None]  # the item before and after
Port = Callable[[], int]  # of a server, which may be another one every time

TABLE = "streamed"
_KEYS = 6
_GONE = (OSError, http.client.HTTPException)
_SECONDS = 60


def create(line: Line) -> str:
    """Make the table; give the ARN of its stream."""
    made = line.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        },
    )
    while line.call("DescribeTable", {"TableName": TABLE})["Table"]["TableStatus"] != "ACTIVE":
        pass
    return str(made["TableDescription"]["LatestStreamArn"])


def split(line: Line, write_units: int) -> None:
    """Have more partitions, and so more shards."""
    warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": write_units}
    line.call("UpdateTable", {"TableName": TABLE, "WarmThroughput": warm})


def advance(server: Serving, hours: float) -> None:
    """Move the server's clock; by an hour, and all shards are followed by others."""
    answer = server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %d}' % (hours * 3600))
    assert answer.status == http.HTTPStatus.OK, answer


FLAGS = ("--test-clock", "--stream-shard-hours", "1", "--log-level", "warning")


class StreamWriter:
    """Changes items of its own; an item whose last write may or may not have happened is left alone from then on."""

    def __init__(self, name: str, seed: str) -> None:
        self._name = name
        self._random = Random(seed)
        self._numbers = iter(range(10**9))
        self._keys = [self._new_key() for _ in range(_KEYS)]
        self._items: dict[str, Item] = {}
        self.acknowledged: dict[str, list[Change]] = {}
        self.doubtful: list[dict[str, Change]] = []  # requests that were not answered, by key

    def run(self, port: Port, stop: threading.Event) -> None:
        """Write until told to stop, on another connection whenever one is lost."""
        while not stop.is_set():
            try:
                with Line(port()) as line:
                    while not stop.is_set():
                        self._write(line)
            except _GONE:
                stop.wait(0.02)

    def _new_key(self) -> str:
        return f"{self._name}-{next(self._numbers)}"

    def _write(self, line: Line) -> None:
        count = self._random.choice((1, 1, 1, 3))
        changes = {key: self._change(key) for key in self._random.sample(self._keys, count)}
        try:
            self._send(line, changes)
        except (*_GONE, Refused) as error:
            if isinstance(error, Refused) and error.status < http.HTTPStatus.INTERNAL_SERVER_ERROR:
                if error.code in ("TransactionConflictException", "TransactionCanceledException"):
                    return  # by others on PostgreSQL; nothing was written
                raise
            self.doubtful.append(changes)
            self._keys = [self._new_key() if key in changes else key for key in self._keys]
            raise ConnectionError from error
        for key, change in changes.items():
            self._note(key, change)

    def _change(self, key: str) -> Change:
        before = self._items.get(key)
        chance = self._random.random()
        if before is not None and chance < 0.15:
            return before, None
        if before is not None and chance < 0.3:
            return before, before
        return before, {"pk": {"S": key}, "v": {"N": str(next(self._numbers))}}

    def _send(self, line: Line, changes: dict[str, Change]) -> None:
        if len(changes) > 1:
            line.call("TransactWriteItems", {"TransactItems": [_action(*one) for one in changes.items()]})
            return
        ((key, change),) = changes.items()
        ((name, request),) = _action(key, change).items()
        if name == "Put" and self._random.random() < 0.3:
            line.call("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": change[1]}}]}})
        else:
            line.call(f"{name}Item", request)

    def _note(self, key: str, change: Change) -> None:
        before, after = change
        if after is None:
            self._items.pop(key)
        else:
            self._items[key] = after
        if before != after:
            self.acknowledged.setdefault(key, []).append(change)


def _action(key: str, change: Change) -> dict[str, Any]:
    _, after = change
    where = {"TableName": TABLE, "Key": {"pk": {"S": key}}}
    if after is None:
        return {"Delete": where}
    if int(after["v"]["N"]) % 2:
        return {"Put": {"TableName": TABLE, "Item": after}}
    values = {"ExpressionAttributeValues": {":v": after["v"]}}
    return {"Update": {**where, "UpdateExpression": "SET v = :v", **values}}


class StreamReader:
    """A consumer that goes on from its checkpoints whenever it loses its server."""

    def __init__(self, stream_arn: str, port: Port, seed: str) -> None:
        self._port = port
        self._random = Random(seed)
        self._line: Line | None = None
        self.consumer = Consumer(self._call, stream_arn, limit=50)

    def _call(self, operation: str, **parameters: Any) -> Any:
        if self._line is None:
            self._line = Line(self._port())
        return self._line.call(operation, parameters)

    def close(self) -> None:
        """Let go of the connection; the next call takes another."""
        if self._line is not None:
            self._line.__exit__()
            self._line = None

    def run(self, stop: threading.Event) -> None:
        """Read until told to stop."""
        while not stop.is_set():
            try:
                self.consumer.catch_up()
                stop.wait(0.01)
            except (*_GONE, Refused) as error:
                expired = isinstance(error, Refused) and error.code == "ExpiredIteratorException"
                if (
                    isinstance(error, Refused)
                    and error.status < http.HTTPStatus.INTERNAL_SERVER_ERROR
                    and not expired
                ):
                    raise
                self.close()
                if expired or self._random.random() < 0.5:
                    self.consumer.restart()
                stop.wait(0.02)

    def await_records(self, count: int) -> None:
        """Wait until so many more have been read, by `run` on another thread."""
        goal, deadline = len(self.consumer.records) + count, time.monotonic() + _SECONDS
        while len(self.consumer.records) < goal:
            assert time.monotonic() < deadline, "the consumer does not get on"
            time.sleep(0.01)

    def check(self, writers: list[StreamWriter]) -> int:
        """Read to the end: every acknowledged change was there once and in order. Gives how many there were."""
        self.close()
        self.consumer.restart()
        self.consumer.catch_up()
        self.consumer.check_order()
        seen: dict[str, list[Change]] = {}
        for record in self.consumer.changes():
            images = record["dynamodb"]
            change = (images.get("OldImage"), images.get("NewImage"))
            seen.setdefault(images["Keys"]["pk"]["S"], []).append(change)
        for writer in writers:
            for changes in writer.doubtful:
                _settle(writer, changes, seen)
        expected = {key: changes for writer in writers for key, changes in writer.acknowledged.items()}
        assert seen == expected
        return len(self.consumer.records)

    def shards(self) -> list[Any]:
        return all_shards(self._call, self.consumer.stream_arn)


def _settle(writer: StreamWriter, changes: dict[str, Change], seen: dict[str, list[Change]]) -> None:
    """A request without an answer was carried out as a whole, or not at all."""
    happened = set()
    for key, change in changes.items():
        if change[0] == change[1]:
            continue
        before = writer.acknowledged.get(key, [])
        if seen.get(key, []) == [*before, change]:
            happened.add(True)
            writer.acknowledged[key] = [*before, change]
        else:
            happened.add(False)
    assert len(happened) <= 1, changes


@contextmanager
def streaming(writers: list[StreamWriter], reader: StreamReader, port: Port) -> Iterator[None]:
    """Have all write, and one read; on the way out they are told to stop, and what went wrong in one is raised."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below
            failures.append(error)

    works: list[Callable[[], None]] = [lambda one=one: one.run(port, stop) for one in writers]  # type: ignore[misc]
    works.append(lambda: reader.run(stop))
    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(_SECONDS)
    if failures:
        raise failures[0]
