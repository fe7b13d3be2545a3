"""Two ways to make contended transactions serializable on PostgreSQL: its own SERIALIZABLE, or row locks in key order.

    python bench/postgres_contention.py

Sixteen clients on one hot counter, sixteen on transfers among ten accounts, and two writers that insert new rows in
batches, which is what servers with group commit do. The figures are in docs/design/006-postgres-engine.md.
"""

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from postgres_server import postgres_server

SECONDS = 4.0
RETRIED = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UniqueViolation,
)
WAYS = {"SERIALIZABLE": ("SERIALIZABLE", ""), "row locks": ("READ COMMITTED", " ORDER BY k FOR UPDATE")}
Work = Callable[[psycopg.Connection, str, random.Random], None]


def lock(connection: psycopg.Connection, suffix: str, keys: list[bytes]) -> dict[bytes, int]:
    rows = connection.execute(f"SELECT k, n FROM hot WHERE k = ANY(%s){suffix}", (keys,)).fetchall()
    return dict(rows)


def counter(connection: psycopg.Connection, suffix: str, _: random.Random) -> None:
    (number,) = lock(connection, suffix, [b"counter"]).values()
    connection.execute("UPDATE hot SET n = %s WHERE k = %s", (number + 1, b"counter"))


def transfer(connection: psycopg.Connection, suffix: str, chance: random.Random) -> None:
    source, target = chance.sample([b"account%d" % number for number in range(10)], 2)
    found = lock(connection, suffix, [source, target])
    for key, amount in sorted(((source, -1), (target, 1))):
        connection.execute("UPDATE hot SET n = %s WHERE k = %s", (found[key] + amount, key))


def inserts(connection: psycopg.Connection, suffix: str, chance: random.Random) -> None:
    keys = sorted(chance.randbytes(16) for _ in range(32))
    lock(connection, suffix, keys)
    connection.execute("INSERT INTO hot SELECT unnest(%s::bytea[]), 0", (keys,))


def client(
    url: str, way: str, work: Work, seed: int, outcome: "multiprocessing.Queue[tuple[int, int]]"
) -> None:
    isolation, suffix = WAYS[way]
    chance = random.Random(seed)
    done = retried = 0
    with psycopg.connect(url, autocommit=True) as connection:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
                work(connection, suffix, chance)
                connection.execute("COMMIT")
                done += 1
            except RETRIED:
                connection.execute("ROLLBACK")
                retried += 1
                time.sleep(chance.uniform(0, 0.004))
    outcome.put((done, retried))


def measure(url: str, way: str, work: Work, clients: int) -> tuple[float, float]:
    """Transactions per second, and attempts that were thrown away for each."""
    outcome: multiprocessing.Queue[tuple[int, int]] = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=client, args=(url, way, work, random.getrandbits(32), outcome))
        for _ in range(clients)
    ]
    for process in processes:
        process.start()
    found = [outcome.get() for _ in processes]
    for process in processes:
        process.join()
    done = sum(each for each, _ in found)
    return done / SECONDS, sum(each for _, each in found) / max(done, 1)


def main() -> None:
    with postgres_server(fsync="on") as server:
        server.execute("CREATE TABLE hot (k bytea PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50)")
        server.execute("INSERT INTO hot VALUES ('counter', 0)")
        server.execute("INSERT INTO hot SELECT ('account' || i)::bytea, 100 FROM generate_series(0, 9) i")
        server.execute("INSERT INTO hot SELECT sha256(i::text::bytea), 0 FROM generate_series(1, 100000) i")
        server.execute("VACUUM ANALYZE hot")
        print(f"{os.cpu_count()} cores, {SECONDS:.0f} s each")
        for name, work, clients in (
            ("counter", counter, 16),
            ("transfer", transfer, 16),
            ("inserts", inserts, 2),
            ("inserts", inserts, 8),
        ):
            for way in WAYS:
                rate, wasted = measure(server.url(), way, work, clients)
                print(
                    f"{name:9} {clients:3} clients  {way:13} {rate:7.0f}/s  {wasted:5.2f} attempts wasted for each"
                )


if __name__ == "__main__":
    main()
