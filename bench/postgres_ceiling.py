"""Hashrange on PostgreSQL against pgbench on the same PostgreSQL: how much of the database's own rate gets through?

    python bench/postgres_ceiling.py [--servers 2] [--seconds 5]

Both write with the same durability. Rates are also given per core used: by the database and its client, which is
pgbench in one case and Hashrange in the other. The figures are in docs/design/006-postgres-engine.md.
"""

import argparse
import contextlib
import json
import random
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from postgres_server import PostgresServer, postgres_server, program
from serving import AUTHORIZATION, Serving, serving

ITEMS = 10_000
VALUE = "xy" * 200
SQL = {
    "select": "\\set i random(1, 10000)\nSELECT v FROM kv WHERE k = sha256(:i::text::bytea);\n",
    "upsert": "\\set i random(1, 10000)\nINSERT INTO kv VALUES (sha256(:i::text::bytea), repeat('x', 400)::bytea) "
    "ON CONFLICT (k) DO UPDATE SET v = excluded.v;\n",
}


def cpu_seconds(roots: Iterable[int]) -> dict[int, float]:
    """What these processes and all they have started have used so far."""
    used = {}
    for root in roots:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    used[process.pid] = times.user + times.system
    return used


def pgbench(server: PostgresServer, script: str, clients: int, seconds: float) -> tuple[float, float]:
    """Transactions per second, and per core."""
    server.execute("CHECKPOINT")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(SQL[script])
        file.flush()
        command = [
            *(program("pgbench"), "-n", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-M", "prepared"),
            *("-f", file.name, "-c", str(clients), "-j", "1", "-T", str(int(seconds)), "postgres"),
        ]  # fmt: skip
        before = sum(cpu_seconds([server.process.pid]).values())
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        used: dict[int, float] = {}
        while process.poll() is None:
            used |= cpu_seconds(
                [server.process.pid, process.pid]
            )  # a process that has ended keeps what it had
            time.sleep(0.05)
        rate = float(re.search(r"tps = ([\d.]+)", process.communicate()[0])[1])
    return rate, rate * seconds / (sum(used.values()) - before)


def request(operation: str, body: dict[str, object]) -> bytes:
    payload = json.dumps(body).encode()
    head = (
        f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{operation}\r\nX-Amz-Date: 20260101T000000Z\r\n"
        f"Authorization: {AUTHORIZATION}\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    return head.encode() + payload


def requests(operation: str) -> list[bytes]:
    """Requests to be sent again and again; those that put change what is there, since engines notice what does not."""
    names = [f"item-{number}" for number in random.sample(range(ITEMS), 1000)] * 2
    if operation == "PutItem":
        values = [VALUE] * 1000 + [VALUE[::-1]] * 1000
        bodies = [
            {"TableName": "bench", "Item": {"pk": {"S": name}, "v": {"S": value}}}
            for name, value in zip(names, values, strict=True)
        ]
    elif operation == "GetItem":
        bodies = [
            {"TableName": "bench", "Key": {"pk": {"S": name}}, "ConsistentRead": True} for name in names
        ]
    else:
        where = {"KeyConditionExpression": "pk = :p", "ConsistentRead": True}
        bodies = [
            {"TableName": "bench", **where, "ExpressionAttributeValues": {":p": {"S": name}}}
            for name in names
        ]
    return [request(operation, body) for body in bodies]


def send(ports: list[int], operation: str, clients: int, seconds: float) -> float:
    """Requests of one operation per second over so many connections."""
    return send_all(ports, requests(operation), clients, seconds)


def send_all(ports: list[int], pool: list[bytes], clients: int, seconds: float) -> float:
    """Requests per second over so many connections."""
    selector = selectors.DefaultSelector()
    for number in range(clients):
        connection = socket.create_connection(("127.0.0.1", ports[number % len(ports)]))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ)
        connection.sendall(random.choice(pool))
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for key, _ in selector.select(1):
            answer = key.fileobj.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            done += 1
            key.fileobj.sendall(pool[done % len(pool)])
    return done / (time.perf_counter() - began)


def fill(server: Serving) -> None:
    key = {"AttributeName": "pk"}
    table = {
        "TableName": "bench",
        "AttributeDefinitions": [{**key, "AttributeType": "S"}],
        "KeySchema": [{**key, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert server.post("CreateTable", table).status == 200
    for start in range(0, ITEMS, 25):
        items = [{"pk": {"S": f"item-{number}"}, "v": {"S": VALUE}} for number in range(start, start + 25)]
        body = {"RequestItems": {"bench": [{"PutRequest": {"Item": item}} for item in items]}}
        assert server.post("BatchWriteItem", body).status == 200


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--servers", type=int, default=1)
    flags.add_argument("--seconds", type=float, default=5)
    chosen = flags.parse_args()
    with ExitStack() as stack:
        database = stack.enter_context(
            postgres_server(fsync="on", full_page_writes="on", shared_buffers="'256MB'")
        )
        database.execute("CREATE TABLE kv (k bytea PRIMARY KEY, v bytea NOT NULL) WITH (fillfactor = 85)")
        database.execute(
            "INSERT INTO kv SELECT sha256(i::text::bytea), repeat('x', 400)::bytea FROM generate_series(1, 10000) i"
        )
        servers = [
            stack.enter_context(serving("--engine", database.url(), "--transition-ms", "0"))
            for _ in range(chosen.servers)
        ]
        fill(servers[0])
        database.execute("VACUUM ANALYZE")
        pids = [database.process.pid, *(server.process.pid for server in servers)]
        client = stack.enter_context(ProcessPoolExecutor(1))
        print(f"{'':24}{'a second':>10}{'per core':>10}")
        for clients in (16, 64):
            ceilings = {script: pgbench(database, script, clients, chosen.seconds) for script in SQL}
            for script, (rate, per_core) in ceilings.items():
                print(f"pgbench {script:8} {clients:3} {rate:12.0f}{per_core:10.0f}")
            for operation, script in (("GetItem", "select"), ("Query", "select"), ("PutItem", "upsert")):
                before = sum(cpu_seconds(pids).values())
                ports = [server.port for server in servers]
                rate = client.submit(send, ports, operation, clients, chosen.seconds).result()
                per_core = rate * chosen.seconds / (sum(cpu_seconds(pids).values()) - before)
                share = 100 * per_core / ceilings[script][1]
                print(f"{operation:16} {clients:3} {rate:12.0f}{per_core:10.0f}  {share:3.0f}% of {script}")


if __name__ == "__main__":
    main()
