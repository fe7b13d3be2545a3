"""What does a very large table cost? Loads as many small items as time allows, then measures what people do with it.

    python bench/large_table.py --items 100000000 --minutes 60 --folder /somewhere/with/room --json found.json

Items are loaded through the engine in the order of their keys, in commits of 20,000 rows, as an import does it. One
server answers point operations and pages of a query from some clients, and makes a backup and an index, whose entries
are in quite another order than the items. With `--busy` clients get and put items meanwhile, and what these wait is
said, too. Each step is given up after `--step-minutes`; what was reached until then is said. Not part of any test.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Self

import growth
from growth import PARTITION_ITEMS, TABLE, Server

from hashrange.core import items
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.sqlite import SqliteEngine

_CHUNK_ITEMS = 20_000
_REPORT_ITEMS = 5_000_000
_SAMPLE_ITEMS = 1_000  # of so many one partition is remembered, to be asked for
_POLL_SECONDS = 1.0
Found = dict[str, Any]
Ask = Callable[[Random, str], tuple[str, dict[str, Any]]]


def load(folder: Path, count: int, minutes: float, partitions: list[str]) -> Found:
    """Write items until they are all there or the time is over; give how many and how fast, and some partitions."""
    server = Server(folder)
    server.ask("CreateTable", growth.DEFINITION)
    server.stop()
    engine = SqliteEngine.open(folder)
    (table,) = Catalogue(engine).tables()
    began = last = time.perf_counter()
    chunk: list[tuple[bytes, bytes]] = []
    loaded = size_bytes = 0
    steps: list[Found] = []
    for row in growth.rows(table, count):
        chunk.append(row)
        size_bytes += items.stored_size(row[1])
        if len(chunk) % _SAMPLE_ITEMS == 0:
            partitions.append(items.decode(row[1])["pk"]["S"])
        if len(chunk) < _CHUNK_ITEMS:
            continue
        loaded += len(chunk)
        growth.store(engine, chunk)
        now = time.perf_counter()
        if loaded % _REPORT_ITEMS == 0:
            steps.append({"items": loaded, "per_second": round(_REPORT_ITEMS / (now - last))})
            last = now
            print(f"{loaded:,} items, {steps[-1]['per_second']:,} a second", flush=True)
        if now - began > minutes * 60:
            break
    loaded += len(chunk)
    growth.store(engine, chunk)
    engine.write(lambda tx: growth.count_items(tx, table, loaded, size_bytes))
    engine.close()
    seconds = time.perf_counter() - began
    return {
        "items": loaded,
        "all": loaded == count,
        "seconds": round(seconds),
        "per_second": round(loaded / seconds),
        "item_bytes": round(size_bytes / loaded),
        "file_bytes": sum(file.stat().st_size for file in folder.iterdir() if file.is_file()),
        "steps": steps,
    }


def _get(random: Random, partition: str) -> tuple[str, dict[str, Any]]:
    key = {"pk": {"S": partition}, "sk": {"N": str(random.randrange(PARTITION_ITEMS))}}
    return "GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": True}


def _put(random: Random, partition: str) -> tuple[str, dict[str, Any]]:
    number = random.randrange(PARTITION_ITEMS)
    item = {
        "pk": {"S": partition},
        "sk": {"N": str(number)},
        "total": {"N": str(random.randrange(10_000))},
        "note": {"S": f"new {random.random()}" * 7},
    }
    return "PutItem", {"TableName": TABLE, "Item": item}


def _page(_: Random, partition: str) -> tuple[str, dict[str, Any]]:
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": partition}}}
    return "Query", {"TableName": TABLE, **condition}


KINDS: dict[str, Ask] = {"get": _get, "put": _put, "page of 50": _page}


class Clients:
    """Clients that ask for one kind of thing, each as soon as it has its answer, while the context is entered."""

    def __init__(self, server: Server, kind: Ask, partitions: list[str], count: int) -> None:
        self._server = server
        self._kind = kind
        self._partitions = partitions
        self._waits: list[float] = []
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(seed,)) for seed in range(count)]
        self._began = 0.0
        self._seconds = 0.0

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._seconds = time.perf_counter() - self._began

    def found(self) -> Found:
        """What they have seen."""
        centiles = statistics.quantiles(self._waits, n=100)
        return {
            "per_second": round(len(self._waits) / self._seconds),
            "p50_ms": round(centiles[49] * 1000, 3),
            "p99_ms": round(centiles[98] * 1000, 3),
        }

    def _run(self, seed: int) -> None:
        connection, random, mine = self._server.another(), Random(seed), []
        while not self._stopping.is_set():
            began = time.perf_counter()
            connection.ask(*self._kind(random, random.choice(self._partitions)))
            mine.append(time.perf_counter() - began)
        self._waits.extend(mine)


def latencies(server: Server, kind: Ask, partitions: list[str], count: int, seconds: float) -> Found:
    """Ask from some clients at once for some seconds."""
    with Clients(server, kind, partitions, count) as clients:
        time.sleep(seconds)
    return clients.found()


def _timed(minutes: float, done: Callable[[], tuple[bool, int]]) -> Found:
    """Wait until something is over; `done` says whether it is, and how many items it has come to, if it knows."""
    began = time.perf_counter()
    while True:
        is_done, count = done()
        seconds = time.perf_counter() - began
        if is_done or seconds > minutes * 60:
            break
        time.sleep(_POLL_SECONDS)
    return {"done": is_done, "seconds": round(seconds, 1), "per_second": round(count / seconds)}


def backup(server: Server, minutes: float) -> Found:
    """Make an on-demand backup; nobody says how far one has come that is not over."""
    made = server.ask("CreateBackup", {"TableName": TABLE, "BackupName": "large"})
    arn = {"BackupArn": made["BackupDetails"]["BackupArn"]}

    def done() -> tuple[bool, int]:
        described = server.ask("DescribeBackup", arn)["BackupDescription"]
        is_done = described["BackupDetails"]["BackupStatus"] == "AVAILABLE"
        return is_done, described["SourceTableDetails"]["ItemCount"] if is_done else 0

    return _timed(minutes, done)


def add_index(server: Server, minutes: float) -> Found:
    """Add a global index of keys only."""
    create = {
        "IndexName": "by_total",
        "KeySchema": [{"AttributeName": "total", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    request = {
        "TableName": TABLE,
        "AttributeDefinitions": [
            *growth.DEFINITION["AttributeDefinitions"],
            {"AttributeName": "total", "AttributeType": "N"},
        ],
        "GlobalSecondaryIndexUpdates": [{"Create": create}],
    }
    server.ask("UpdateTable", request)

    def done() -> tuple[bool, int]:
        (index,) = server.ask("DescribeTable", {"TableName": TABLE})["Table"]["GlobalSecondaryIndexes"]
        return index["IndexStatus"] == "ACTIVE", index["ItemCount"]

    return _timed(minutes, done)


def run_step(
    server: Server, step: Callable[[Server, float], Found], partitions: list[str], options: argparse.Namespace
) -> Found:
    """Run a step, maybe beside clients: half of them get items, the others put some."""
    if not options.busy:
        return step(server, options.step_minutes)
    count = max(1, options.clients // 2)
    with Clients(server, _get, partitions, count) as gets, Clients(server, _put, partitions, count) as puts:
        found = step(server, options.step_minutes)
    return {**found, "get": gets.found(), "put": puts.found()}


def _file_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def run(folder: Path, options: argparse.Namespace) -> Found:
    """Load, then measure one thing after the other."""
    partitions: list[str] = []
    found: Found = {"load": load(folder, options.items, options.minutes, partitions)}
    print(json.dumps({**found["load"], "steps": "…"}), flush=True)
    server = Server(folder)
    try:
        for name, kind in KINDS.items():
            latencies(server, kind, partitions, options.clients, options.seconds / 4)  # warms up
            found[name] = latencies(server, kind, partitions, options.clients, options.seconds)
            print(name, found[name], flush=True)
        found["memory_mib"] = round(server.resident_mib())
        for name, step in (("backup", backup), ("index", add_index)):
            found[name] = run_step(server, step, partitions, options)
            found[name]["folder_bytes"] = _file_bytes(folder)
            found[name]["memory_mib"] = round(server.resident_mib())
            print(name, found[name], flush=True)
    finally:
        server.stop()
    return found


def main() -> None:
    """Load, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=100_000_000)
    parser.add_argument("--minutes", type=float, default=60.0, help="for loading")
    parser.add_argument("--step-minutes", type=float, default=30.0, help="for the backup, and for the index")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each kind of request")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument(
        "--busy", action="store_true", help="have clients ask while backup and index are made"
    )
    parser.add_argument("--folder", type=Path, default=None, help="where to put the data for the time being")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        found = run(root, options)
    finally:
        shutil.rmtree(root)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
