"""What clearing expired items costs the other clients.

    PYTHONPATH=tests python bench/ttl.py [--items 1000000] [--indexes 1] [--seconds 20] [--engine URL] [--workers 1]

A server with a clock that can be moved gets a table full of items that expire together. Two clients, each in a process
of its own, read and write other items of the same table, one request after the other with a short pause. Their waits
are measured while nothing expires; then the clock is moved behind the expiry, and they are measured until the last item
is gone; then once more without. What counts is the ratio of the waits with the sweep to those without, both in one run.
"""

import argparse
import json
import multiprocessing
import re
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import orjson
from stalls import Client

from hashrange.core.keys import primary_key
from hashrange.core.mutation import Origin, PutCommand, sized_put
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import SqliteEngine
from serving import Serving, serving

_TABLE = "sessions"
_BATCH = 500
_PAUSE_SECONDS = 0.002
_CLEAR_SECONDS_MAX = 1800
_DAY_SECONDS = 86_400
_SHARES = (0.5, 0.99, 0.999)


@dataclass
class Waits:
    """How long the requests of one client took, in milliseconds, shortest first."""

    sorted_ms: list[float]

    def at(self, share: float) -> float:
        return self.sorted_ms[min(len(self.sorted_ms) - 1, int(len(self.sorted_ms) * share))]


def send(port: int, operation: str, orders: Connection) -> None:
    """Send one kind of request over and over; told to report, give all waits since the last report."""
    client = Client(port)
    waits: list[float] = []
    number = 0
    while True:
        number += 1
        began = time.perf_counter()
        status, answer = client.call(operation, body(operation, number))
        waits.append((time.perf_counter() - began) * 1000)
        if status != 200:
            raise SystemExit(f"{operation}: {answer[:300]!r}")
        if orders.poll():
            if orders.recv() == "stop":
                return
            orders.send(waits)
            waits = []
        time.sleep(_PAUSE_SECONDS)


def body(operation: str, number: int) -> bytes:
    key = {"pk": {"S": f"client-{number % 1000}"}}
    if operation == "GetItem":
        return orjson.dumps({"TableName": _TABLE, "Key": key})
    item = {**key, "group": {"S": "clients"}, "text": {"S": "x" * 100}}
    return orjson.dumps({"TableName": _TABLE, "Item": item})


class Sender:
    """A client in a process of its own, so that nothing here holds it up."""

    def __init__(self, port: int, operation: str) -> None:
        self._orders, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(
            target=send, args=(port, operation, theirs), daemon=True
        )
        self._process.start()
        self.waits()

    def waits(self) -> Waits:
        """The waits since the last call."""
        self._orders.send("report")
        return Waits(sorted(self._orders.recv()))

    def stop(self) -> None:
        self._orders.send("stop")
        self._process.join(10)


def call(client: Client, operation: str, request: object) -> None:
    status, answer = client.call(operation, orjson.dumps(request))
    if status != 200:
        raise SystemExit(f"{operation}: {answer[:300]!r}")


def create(port: int, indexes: int) -> None:
    client = Client(port)
    names = [f"group{number}" if number else "group" for number in range(indexes)]
    request = {
        "TableName": _TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", *names)],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": f"by-{name}",
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
            for name in names
        ],
    }
    if not names:
        del request["GlobalSecondaryIndexes"]
    call(client, "CreateTable", request)
    specification = {"AttributeName": "expires", "Enabled": True}
    call(client, "UpdateTimeToLive", {"TableName": _TABLE, "TimeToLiveSpecification": specification})


def fill(engine: Engine, items: int, expires: int) -> None:
    """Put the items without a server, which takes a tenth of the time."""
    (table,) = Catalogue(engine).tables()
    for start in range(0, items, _BATCH):
        numbers = range(start, min(start + _BATCH, items))
        engine.write(partial(put, table=table, numbers=numbers, expires=expires))


def put(tx: Transaction, *, table: Table, numbers: range, expires: int) -> None:
    for number in numbers:
        item: Item = {
            "pk": {"S": f"session-{number}"},
            "group": {"S": f"g{number % 1000}"},
            "expires": {"N": str(expires)},
            "text": {"S": "x" * 100},
        }
        key = primary_key.of_key(table, primary_key.key_of(table, item))
        store.apply(tx, table, PutCommand(key, item, sized_put(item)), Origin(time.time()))


def deleted(server: Serving) -> int:
    page = server.request("GET", "/_hashrange/metrics", timeout=60).body.decode()
    found = re.search(r"^hashrange_ttl_deleted_items_total\{[^}]*\} ([0-9]+)$", page, re.MULTILINE)
    return int(found[1]) if found else 0


def await_cleared(server: Serving, items: int) -> float:
    """Wait until all items are gone; give the seconds that took."""
    began = time.monotonic()
    while (done := deleted(server)) < items:
        if time.monotonic() - began > _CLEAR_SECONDS_MAX:
            raise SystemExit(f"{done} of {items} items were deleted in half an hour")
        time.sleep(0.5)
    return time.monotonic() - began


def measure(server: Serving, options: argparse.Namespace) -> None:
    senders = {operation: Sender(server.port, operation) for operation in ("GetItem", "PutItem")}
    time.sleep(options.seconds)
    before = {operation: sender.waits() for operation, sender in senders.items()}
    move = json.dumps({"advance_seconds": 2 * _DAY_SECONDS}).encode()
    server.request("POST", "/_hashrange/clock", move)
    seconds = await_cleared(server, options.items)
    during = {operation: sender.waits() for operation, sender in senders.items()}
    time.sleep(options.seconds)
    after = {operation: sender.waits() for operation, sender in senders.items()}
    for sender in senders.values():
        sender.stop()
    print(f"cleared in {seconds:.0f} s, {options.items / seconds:,.0f} items a second\n")
    report(before, during, after)


def report(before: dict[str, Waits], during: dict[str, Waits], after: dict[str, Waits]) -> None:
    print("| request | share | before, ms | sweep, ms | after, ms | ratio |\n|---|---|---|---|---|---|")
    for operation in before:
        for share in _SHARES:
            columns = [waits[operation].at(share) for waits in (before, during, after)]
            ratio = columns[1] / ((columns[0] + columns[2]) / 2)
            shown = " | ".join(f"{wait:.2f}" for wait in columns)
            print(f"| {operation} | {share:.1%} | {shown} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--indexes", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=20, help="how long to measure without a sweep, twice"
    )
    parser.add_argument("--engine", help="the postgresql:// URL of an empty database; a data file otherwise")
    parser.add_argument("--workers", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = ("--engine", options.engine) if options.engine else ("--data-dir", folder)
        flags = (*place, "--workers", options.workers, "--test-clock", "--log-level", "warning")
        with serving(*flags) as server:
            create(server.port, options.indexes)
        began = time.monotonic()
        engine = PostgresEngine.open(options.engine) if options.engine else SqliteEngine.open(Path(folder))
        with closing(engine):
            fill(engine, options.items, int(time.time()) + _DAY_SECONDS)
        seconds = time.monotonic() - began
        print(f"{options.items:,} items, {options.indexes} indexes, put in {seconds:.0f} s", flush=True)
        with serving(*flags) as server:
            measure(server, options)


if __name__ == "__main__":
    main()
