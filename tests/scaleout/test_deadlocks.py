"""Writers and table changes on several servers take their locks in one order: no deadlock has to be found."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from item_tables import definitions, index, key_schema
from postgres_server import PostgresServer
from serving import Answer, Serving, serving
from wiring import eventually

_WRITERS = 6
_ROUNDS = 12
_ITEMS = 20
# After these, or in the words of the service: the table is being made, changed or deleted by another thread.
_EXPECTED = {"ResourceNotFoundException", "ResourceInUseException", "TransactionConflictException", None}
_LOCAL = {**index("local", "pk", "l")}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_writers_and_table_changes_do_not_deadlock(
    postgres: PostgresServer, database: str, isolation: str, seed: int
) -> None:
    name = database.rpartition("/")[2]
    before = deadlocks(postgres, name)
    flags = ("--engine", database, "--transition-ms", "0", "--postgres-isolation", isolation)
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(*flags, "--log-level", "warning")) for _ in range(2)]
        for table in ("busy", "other"):
            make(servers[0], table)
        stop = threading.Event()
        writes: list[int] = []
        with ThreadPoolExecutor(_WRITERS + 2) as threads:
            works = [
                threads.submit(write, servers[number % 2], stop, random.Random(seed + number), writes)
                for number in range(_WRITERS)
            ]
            changes = [threads.submit(change, servers[number], f"own{number}") for number in range(2)]
            try:
                for future in changes:
                    future.result(200)
            finally:
                stop.set()
            for future in works:
                future.result(60)
        assert sum(writes) > _WRITERS
    # The sessions are over, so whatever they have counted is told.
    assert eventually(lambda: sessions(postgres, name) == 0)
    assert deadlocks(postgres, name) == before


def deadlocks(postgres: PostgresServer, name: str) -> int:
    ((count,),) = postgres.execute(f"SELECT deadlocks FROM pg_stat_database WHERE datname = '{name}'")
    return int(count)


def sessions(postgres: PostgresServer, name: str) -> int:
    ((count,),) = postgres.execute(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
    return int(count)


def make(server: Serving, name: str) -> None:
    created = server.post(
        "CreateTable",
        {
            "TableName": name,
            "AttributeDefinitions": definitions(pk="S", g="S", l="S"),
            "KeySchema": key_schema("pk", "g"),
            "LocalSecondaryIndexes": [_LOCAL],
            "GlobalSecondaryIndexes": [index("glo", "g")],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    assert created.status == 200, created


def write(server: Serving, stop: threading.Event, chance: random.Random, writes: list[int]) -> None:
    """Write to the tables that change, one item or several at once, and read them: no request fails for the others."""
    done = 0
    while not stop.is_set():
        table = chance.choice(("busy", "other", "own0", "own1"))
        answer = chance.choice(_REQUESTS)(server, table, chance)
        error = None if answer.status == 200 else answer.error
        assert error in _EXPECTED or error == "TransactionCanceledException", answer
        done += answer.status == 200
    writes.append(done)


def item(chance: random.Random) -> dict[str, Any]:
    number = chance.randrange(_ITEMS)
    return {"pk": {"S": str(number)}, "g": {"S": str(number % 3)}, "l": {"S": str(chance.random())}}


def key(chance: random.Random) -> dict[str, Any]:
    return {name: value for name, value in item(chance).items() if name != "l"}


def put(server: Serving, table: str, chance: random.Random) -> Answer:
    return server.post("PutItem", {"TableName": table, "Item": item(chance)})


def delete(server: Serving, table: str, chance: random.Random) -> Answer:
    return server.post("DeleteItem", {"TableName": table, "Key": key(chance)})


def transact(server: Serving, table: str, chance: random.Random) -> Answer:
    keys = {str(one): one for one in (key(chance) for _ in range(4))}
    actions: list[dict[str, Any]] = [
        {"Delete": {"TableName": table, "Key": one}}
        if chance.random() < 0.5
        else {"Put": {"TableName": table, "Item": {**one, "l": {"S": str(chance.random())}}}}
        for one in keys.values()
    ]
    return server.post("TransactWriteItems", {"TransactItems": actions})


def get(server: Serving, table: str, chance: random.Random) -> Answer:
    consistent = chance.random() < 0.5
    return server.post("GetItem", {"TableName": table, "Key": key(chance), "ConsistentRead": consistent})


def scan(server: Serving, table: str, _chance: random.Random) -> Answer:
    return server.post("Scan", {"TableName": table})


def list_tables(server: Serving, _table: str, _chance: random.Random) -> Answer:
    return server.post("ListTables", {})


_REQUESTS: tuple[Callable[[Serving, str, random.Random], Answer], ...] = (
    *(put, put, delete, transact),
    *(get, scan, list_tables),
)


def change(server: Serving, own: str) -> None:
    """Change a table that everyone writes to; make, change and delete one that comes and goes."""
    for number in range(_ROUNDS):
        make(server, own)
        repeat(server, "UpdateTable", {"TableName": "busy", "DeletionProtectionEnabled": number % 2 == 0})
        drop = {"TableName": own, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "glo"}}]}
        repeat(server, "UpdateTable", drop)
        repeat(server, "DeleteTable", {"TableName": own})
        assert eventually(lambda: server.post("DescribeTable", {"TableName": own}).status == 400)


def repeat(server: Serving, operation: str, body: dict[str, Any]) -> None:
    """Ask until it is done: the table may be in use by another change."""
    assert eventually(lambda: expect(server.post(operation, body)), 60)


def expect(answer: Answer) -> bool:
    assert answer.status == 200 or answer.error in _EXPECTED, answer
    return answer.status == 200
