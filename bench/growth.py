"""Does a table of ten million items cost more to read than one of ten thousand? And how soon does it start?

Both tables are loaded through the engine, each into a data folder of its own; two servers run side by side and are
asked in turns, so that whatever else the machine does falls on both alike. `python bench/growth.py --help`
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from hashrange.core import items
from hashrange.core.keys import encoding
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Transaction
from hashrange.storage.sqlite import SqliteEngine

TABLE = "growth"
PARTITION_ITEMS = 50  # one page of a query
_CHUNK_ITEMS = 20_000
_WRITTEN_AT = 1_780_000_000.0
_HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0",
}
DEFINITION: dict[str, Any] = {
    "TableName": TABLE,
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


class Connection:
    """One client of a server."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.close = self._connection.close

    def ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and give its answer."""
        headers = {**_HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        self._connection.request("POST", "/", json.dumps(request), headers)
        response = self._connection.getresponse()
        body: dict[str, Any] = json.loads(response.read())
        assert response.status == http.HTTPStatus.OK, body
        return body


class Server:
    """A server process on a data folder."""

    def __init__(self, folder: Path) -> None:
        self.began = time.perf_counter()
        command = [sys.executable, "-m", "hashrange", "serve", "--port", "0", "--data-dir", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--transition-ms", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        found = next(filter(None, (re.search(r"http://[\d.]+:(\d+)", line) for line in self.process.stdout)))
        self._port = int(found[1])
        self._connection = Connection(self._port)

    def ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and give its answer."""
        return self._connection.ask(operation, request)

    def another(self) -> "Connection":
        """A connection for one more client."""
        return Connection(self._port)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the process."""
        self._connection.close()
        self.process.send_signal(number)
        self.process.wait(timeout=60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def resident_mib(self) -> float:
        """How much memory the process holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def cpu_seconds(self) -> float:
        """How much processor time it has used, over all its threads."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((each / "schedstat").read_text("ascii").split()[0]) for each in threads) / 1e9


def load(folder: Path, count: int) -> None:
    """Write a table of so many items, in key order, behind the server's back."""
    server = Server(folder)
    server.ask("CreateTable", DEFINITION)
    server.stop()
    engine = SqliteEngine.open(folder)
    (table,) = Catalogue(engine).tables()
    began = time.perf_counter()
    chunk: list[tuple[bytes, bytes]] = []
    size_bytes = 0
    for key, stored in rows(table, count):
        chunk.append((key, stored))
        size_bytes += items.stored_size(stored)
        if len(chunk) == _CHUNK_ITEMS:
            store(engine, chunk)
    store(engine, chunk)
    engine.write(lambda tx: count_items(tx, table, count, size_bytes))
    engine.close()
    megabytes = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
    print(f"loaded {count} items, {megabytes:.0f} MiB, in {time.perf_counter() - began:.0f} s", flush=True)


def rows(table: Table, count: int) -> Iterator[tuple[bytes, bytes]]:
    prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)
    names = [f"customer-{number:07}" for number in range(count // PARTITION_ITEMS)]
    sort_keys = [{"N": str(number)} for number in range(PARTITION_ITEMS)]
    suffixes = [encoding.scalar(sort) for sort in sort_keys]
    random = Random(3)  # for an attribute by which items are in quite another order than by their keys
    for start, name in sorted((encoding.partition_prefix([{"S": name}]), name) for name in names):
        for sort, suffix in zip(sort_keys, suffixes, strict=True):
            item: Item = {
                "pk": {"S": name},
                "sk": sort,
                "state": {"S": "delivered"},
                "total": {"N": f"{random.randrange(1000, 10000)}.{random.randrange(10)}7"},
                "lines": {"L": [{"S": "a few words about it"}, {"N": "3"}]},
                "note": {"S": "n" * 60},
            }
            yield prefix + start + suffix, items.encode(item, items.item_size(item), _WRITTEN_AT)


def store(engine: SqliteEngine, chunk: list[tuple[bytes, bytes]]) -> None:
    def step(tx: Transaction) -> None:
        for key, stored in chunk:
            tx.put(key, stored)

    engine.write(step)
    chunk.clear()


def count_items(tx: Transaction, table: Table, count: int, size_bytes: int) -> None:
    tx.add(layout.count_key(table.number, layout.BASE_SLOT), count)
    tx.add(layout.size_key(table.number, layout.BASE_SLOT), size_bytes)


@dataclass
class Series:
    """Measurements of one kind of request on one server."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def _point_read(random: Random, partitions: int) -> tuple[str, dict[str, Any]]:
    key = {"pk": {"S": f"customer-{random.randrange(partitions):07}"}, "sk": {"N": str(random.randrange(50))}}
    return "GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": True}


def _query(random: Random, partitions: int) -> tuple[str, dict[str, Any]]:
    value = {"S": f"customer-{random.randrange(partitions):07}"}
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": value}}
    return "Query", {"TableName": TABLE, **condition}


KINDS = {"point read": _point_read, "one-page query": _query}


def measure(servers: dict[int, Server], rounds: int, requests: int) -> dict[str, dict[int, Series]]:
    """Ask both servers in short turns."""
    found = {kind: {count: Series() for count in servers} for kind in KINDS}
    random = Random(1)
    for number in range(rounds):
        for kind, make in KINDS.items():
            for count, server in servers.items():
                asked = [make(random, count // PARTITION_ITEMS) for _ in range(requests)]
                cpu, began = server.cpu_seconds(), time.perf_counter()
                for operation, request in asked:
                    server.ask(operation, request)
                if number > rounds // 10:  # the first rounds warm up
                    found[kind][count].wall.append((time.perf_counter() - began) / requests)
                    found[kind][count].cpu.append((server.cpu_seconds() - cpu) / requests)
    return found


def cold_start(folder: Path) -> float:
    """Seconds from the start of the process to its first answer, with nothing of the file in memory."""
    for file in folder.iterdir():
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
    server = Server(folder)
    server.ask(*_point_read(Random(2), 100))
    elapsed = time.perf_counter() - server.began
    server.stop(signal.SIGKILL)
    return elapsed


def main() -> None:
    """Load, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--requests", type=int, default=200, help="per round, kind and table")
    parser.add_argument("--folder", type=Path, default=None, help="where to put the data for the time being")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        _run(root, options)
    finally:
        shutil.rmtree(root)


def _run(root: Path, options: argparse.Namespace) -> None:
    counts = (options.small, options.large)
    folders = {count: root / str(count) for count in counts}
    for count, folder in folders.items():
        load(folder, count)
    servers = {count: Server(folder) for count, folder in folders.items()}
    found = measure(servers, options.rounds, options.requests)
    for kind, series in found.items():
        small, large = (series[count] for count in counts)
        wall = statistics.median(large.wall) / statistics.median(small.wall)
        cpu = statistics.median(large.cpu) / statistics.median(small.cpu)
        print(
            f"{kind}: {counts[1]} items cost {wall:.2f} times the wall time and {cpu:.2f} times the processor time"
        )
        print(
            f"    {statistics.median(small.wall) * 1e6:.0f} and {statistics.median(large.wall) * 1e6:.0f} µs"
        )
    for count, server in servers.items():
        print(f"resident with {count} items: {server.resident_mib():.0f} MiB")
        server.stop()
    starts = [cold_start(folders[counts[1]]) for _ in range(5)]
    print(f"cold start to first answer: median {statistics.median(starts):.2f} s, worst {max(starts):.2f} s")


if __name__ == "__main__":
    main()
