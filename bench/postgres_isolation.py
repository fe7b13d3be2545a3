"""What keeps writes on PostgreSQL apart, and what it costs: row locks against SERIALIZABLE, on the engine itself.

    python bench/postgres_isolation.py [--rounds 3] [--seconds 2]

Servers are processes with an engine each and a number of steps under way. Every round runs every workload in every
mode, one after the other, so that what else the machine does weighs on all of them; the figures are medians of rounds.
They are in docs/design/008-postgres-isolation.md.
"""

import argparse
import multiprocessing
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import Conflict
from hashrange.storage.postgres import PostgresEngine
from postgres_server import postgres_server

ROWS = 20_000
VALUE = bytes(400)
ACCOUNTS = [b"account%d" % number for number in range(10)]


class Measured(NamedTuple):
    """What came of one run."""

    done: int
    runs: int  # of steps, those that were thrown away included
    conflicts: int  # steps that were given up


class Operation(NamedTuple):
    """One step and what it declares."""

    step: Callable[[Any], object]
    reads: Sequence[bytes]
    is_read: bool = False


class Workload(NamedTuple):
    """What each server does."""

    name: str
    servers: int
    under_way: int
    draw: Callable[[random.Random], Operation]


def key(number: int) -> bytes:
    return b"row%08d" % number


def put(chance: random.Random) -> Operation:
    row = key(chance.randrange(ROWS))

    def step(tx: Transaction) -> None:
        tx.get(row)
        tx.put(row, VALUE)
        tx.add(b"size", 1)

    return Operation(step, (row,))


def increment(_: random.Random) -> Operation:
    def step(tx: Transaction) -> None:
        tx.put(b"hot", b"%d" % (int(tx.get(b"hot") or b"0") + 1))

    return Operation(step, (b"hot",))


def transfer(chance: random.Random) -> Operation:
    source, target = chance.sample(ACCOUNTS, 2)

    def step(tx: Transaction) -> None:
        for account, amount in ((source, -1), (target, 1)):
            tx.put(account, b"%d" % (int(tx.get(account) or b"0") + amount))

    return Operation(step, (source, target))


def get(chance: random.Random) -> Operation:
    row = key(chance.randrange(ROWS))

    def step(reader: Reader) -> bytes | None:
        return reader.get(row)

    return Operation(step, (row,), is_read=True)


def half_and_half(chance: random.Random) -> Operation:
    return (get if chance.random() < 0.5 else put)(chance)


WORKLOADS = (
    Workload("put, 1 server", 1, 32, put),
    Workload("put, 2 servers", 2, 32, put),
    Workload("put, 2 servers, 4 under way each", 2, 4, put),
    Workload("get, 1 server", 1, 32, get),
    Workload("get and put, 2 servers", 2, 32, half_and_half),
    Workload("one hot row, 2 servers", 2, 8, increment),
    Workload("transfers among 10 rows, 2 servers", 2, 8, transfer),
)


class Loop:
    """Keeps a number of steps under way until the time is over."""

    def __init__(self, engine: PostgresEngine, workload: Workload, seconds: float) -> None:
        self._engine = engine
        self._workload = workload
        self._chance = random.Random()
        self._until = time.monotonic() + seconds
        self._left = threading.Semaphore(0)
        self._done = self._runs = self._conflicts = 0

    def run(self) -> Measured:
        for _ in range(self._workload.under_way):
            self._next()
        for _ in range(self._workload.under_way):
            self._left.acquire()
        return Measured(self._done, self._runs, self._conflicts)

    def _next(self) -> None:
        if time.monotonic() > self._until:
            self._left.release()
            return
        operation = self._workload.draw(self._chance)

        def step(transaction: Any) -> object:
            self._runs += 1
            return operation.step(transaction)

        submit = self._engine.submit_read if operation.is_read else self._engine.submit
        submit(step, self._ended, reads=operation.reads)

    def _ended(self, _result: object, error: BaseException | None) -> None:
        if error is None:
            self._done += 1
        elif isinstance(error, Conflict):
            self._conflicts += 1
        else:
            raise error
        self._next()


def serve(
    url: str, isolation: str, workload: Workload, seconds: float, out: "multiprocessing.Queue[Measured]"
) -> None:
    with closing(PostgresEngine.open(url, isolation=isolation)) as engine:
        out.put(Loop(engine, workload, seconds).run())


def measure(url: str, isolation: str, workload: Workload, seconds: float) -> Measured:
    out: multiprocessing.Queue[Measured] = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=serve, args=(url, isolation, workload, seconds, out))
        for _ in range(workload.servers)
    ]
    for process in processes:
        process.start()
    results = [out.get() for _ in processes]
    for process in processes:
        process.join()
    return Measured(*(sum(column) for column in zip(*results, strict=True)))


def fill(url: str) -> None:
    with closing(PostgresEngine.open(url)) as engine:
        for start in range(0, ROWS, 1000):
            engine.write(lambda tx, start=start: [tx.put(key(start + n), VALUE) for n in range(1000)])
        engine.write(lambda tx: [tx.put(account, b"100") for account in ACCOUNTS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    synced = {"fsync": "on", "full_page_writes": "on"}
    with (
        postgres_server(**synced) as plain,
        postgres_server(**synced, max_pred_locks_per_transaction="1024") as raised,
    ):
        modes = {
            "locking": (plain.url(), "locking"),
            "serializable": (plain.url(), "serializable"),
            "serializable, 1024 locks": (raised.url(), "serializable"),
        }
        for server in (plain, raised):
            fill(server.url())
            server.execute("VACUUM ANALYZE hashrange.rows")
        runs: dict[tuple[str, str], list[Measured]] = {}
        for _ in range(arguments.rounds):
            for workload in WORKLOADS:
                for mode, (url, isolation) in modes.items():
                    result = measure(url, isolation, workload, arguments.seconds)
                    runs.setdefault((workload.name, mode), []).append(result)
        print(f"{os.cpu_count()} cores, {arguments.rounds} rounds of {arguments.seconds:.0f} s each")
        for workload in WORKLOADS:
            base = runs[workload.name, "locking"]
            for mode in modes:
                print(line(workload.name, mode, runs[workload.name, mode], base, arguments.seconds))


def line(name: str, mode: str, results: list[Measured], base: list[Measured], seconds: float) -> str:
    rate = statistics.median(each.done for each in results) / seconds
    ratio = statistics.median(
        each.done / max(other.done, 1) for each, other in zip(results, base, strict=True)
    )
    wasted = sum(each.runs for each in results) / max(sum(each.done for each in results), 1) - 1
    given_up = sum(each.conflicts for each in results)
    return (
        f"{name:36} {mode:26} {rate:7.0f}/s {ratio:6.2f} {wasted:6.2f} wasted for each {given_up:5} given up"
    )


if __name__ == "__main__":
    main()
