"""What does a very large table cost? Loads as many small items as time allows, then measures what people do with it.

    python bench/large_table.py --items 100000000 --minutes 60 --folder /somewhere/with/room --json found.json

Items are loaded through the engine in the order of their keys, in commits of 20,000 rows, as an import does it. One
server answers point operations and pages of a query from some clients, and makes a backup and an index. Each step is
given up after `--step-minutes`; what was reached until then is said. Not part of any test.
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
from typing import Any

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
    item = {"pk": {"S": partition}, "sk": {"N": str(number)}, "note": {"S": f"new {random.random()}" * 7}}
    return "PutItem", {"TableName": TABLE, "Item": item}


def _page(_: Random, partition: str) -> tuple[str, dict[str, Any]]:
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": partition}}}
    return "Query", {"TableName": TABLE, **condition}


KINDS: dict[str, Ask] = {"get": _get, "put": _put, "page of 50": _page}


def latencies(server: Server, kind: Ask, partitions: list[str], clients: int, seconds: float) -> Found:
    """Ask from some clients at once for some seconds."""
    found: list[float] = []

    def client(seed: int) -> None:
        connection, random, mine = server.another(), Random(seed), []
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            connection.ask(*kind(random, random.choice(partitions)))
            mine.append(time.perf_counter() - began)
        found.extend(mine)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    centiles = statistics.quantiles(found, n=100)
    return {
        "per_second": round(len(found) / seconds),
        "p50_ms": round(centiles[49] * 1000, 3),
        "p99_ms": round(centiles[98] * 1000, 3),
    }


def _timed(minutes: float, is_done: Callable[[], bool]) -> Found:
    began = time.perf_counter()
    while not (done := is_done()) and time.perf_counter() - began < minutes * 60:
        time.sleep(_POLL_SECONDS)
    return {"done": done, "seconds": round(time.perf_counter() - began, 1)}


def backup(server: Server, minutes: float) -> Found:
    """Make an on-demand backup."""
    made = server.ask("CreateBackup", {"TableName": TABLE, "BackupName": "large"})
    arn = {"BackupArn": made["BackupDetails"]["BackupArn"]}

    def is_done() -> bool:
        described = server.ask("DescribeBackup", arn)["BackupDescription"]["BackupDetails"]
        return bool(described["BackupStatus"] == "AVAILABLE")

    return _timed(minutes, is_done)


def add_index(server: Server, minutes: float) -> Found:
    """Add a global index of keys only."""
    create = {
        "IndexName": "by_state",
        "KeySchema": [
            {"AttributeName": "state", "KeyType": "HASH"},
            {"AttributeName": "pk", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "state")]
    definitions.append({"AttributeName": "sk", "AttributeType": "N"})
    server.ask(
        "UpdateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": definitions,
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )

    def is_done() -> bool:
        (index,) = server.ask("DescribeTable", {"TableName": TABLE})["Table"]["GlobalSecondaryIndexes"]
        return bool(index["IndexStatus"] == "ACTIVE")

    return _timed(minutes, is_done)


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
            found[name] = {**step(server, options.step_minutes), "folder_bytes": _file_bytes(folder)}
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
