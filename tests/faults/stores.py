"""A small store with a bit of everything in it, and everything that a client can see of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson

from clocked import Clocked
from faults.tables import DEFINITIONS, FACTS, NOTES
from hashrange.storage.delivery import run_inline
from hashrange.storage.sqlite import SqliteEngine
from hashrange.workers import SharedCommitVersion, SharedCounters

FACTS_COUNT = 40
NOTES_COUNT = 60
WORKERS = 2


@contextmanager
def opened(directory: Path) -> Iterator[Clocked]:
    """A service on a data directory."""
    engine = SqliteEngine.open(directory)
    try:
        service = Clocked(engine)
        service.clock.advance(1000)
        yield service
    finally:
        engine.close()


@contextmanager
def opened_by_workers(directory: Path) -> Iterator[list[Clocked]]:
    """Services that share a data directory, as worker processes do."""
    with ExitStack() as stack:
        stack.callback(SqliteEngine.lock_directory(directory).release)
        counters = SharedCounters(WORKERS)
        services = []
        for worker in range(WORKERS):
            version = SharedCommitVersion(counters, worker)
            engine = SqliteEngine.join(directory, deliver=run_inline, commit_version=version)
            stack.callback(engine.close)
            services.append(Clocked(engine))
            services[-1].clock.advance(1000)
        yield services


def fact(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"p{number % 5}"},
        "sk": {"N": f"{number}"},
        "rank": {"N": f"{number % 7}"},
        "group": {"S": f"g{number % 3}"},
        "version": {"N": "1"},
        "text": {"S": f"<{number}>" * 150},
    }


def note(number: int) -> dict[str, Any]:
    return {"pk": {"S": f"n{number}"}, "group": {"S": f"g{number % 4}"}, "text": {"S": f"[{number}]" * 200}}


def fill(service: Clocked) -> None:
    """Create tables and put items, one in each way there is."""
    for definition in DEFINITIONS:
        service.call("CreateTable", **definition)
    service.settle()
    for number in range(FACTS_COUNT):
        service.call("PutItem", TableName=FACTS, Item=fact(number))
    for start in range(0, NOTES_COUNT, 20):
        puts = [{"PutRequest": {"Item": note(number)}} for number in range(start, start + 20)]
        service.call("BatchWriteItem", RequestItems={NOTES: puts})
    for number in range(3):
        put = {"Put": {"TableName": NOTES, "Item": note(NOTES_COUNT + number)}}
        service.call("TransactWriteItems", TransactItems=[put], ClientRequestToken=f"token-{number}")
    service.call("DeleteItem", TableName=NOTES, Key={"pk": {"S": "n0"}})
    # These have expired too long ago to be deleted.
    specification = {"AttributeName": "version", "Enabled": True}
    service.call("UpdateTimeToLive", TableName=FACTS, TimeToLiveSpecification=specification)
    service.run_jobs()


def requests() -> list[tuple[str, dict[str, Any]]]:
    """Requests that together read everything."""
    scans: list[tuple[str, dict[str, Any]]] = [
        ("Scan", {"TableName": FACTS}),
        ("Scan", {"TableName": FACTS, "IndexName": "by-group"}),
        ("Scan", {"TableName": FACTS, "IndexName": "brief"}),
        ("Scan", {"TableName": FACTS, "IndexName": "by-rank"}),
        ("Scan", {"TableName": NOTES}),
        ("Scan", {"TableName": NOTES, "IndexName": "by-group"}),
        ("DescribeTable", {"TableName": FACTS}),
        ("DescribeTable", {"TableName": NOTES}),
        ("ListTables", {}),
    ]
    facts = [
        ("GetItem", {"TableName": FACTS, "Key": {"pk": {"S": f"p{number % 5}"}, "sk": {"N": f"{number}"}}})
        for number in range(FACTS_COUNT)
    ]
    notes = [
        ("GetItem", {"TableName": NOTES, "Key": {"pk": {"S": f"n{number}"}}})
        for number in range(NOTES_COUNT + 3)
    ]
    queries = [
        (
            "Query",
            {
                "TableName": FACTS,
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": f"p{number}"}},
            },
        )
        for number in range(5)
    ]
    return [*scans, *facts, *notes, *queries]


Answers = list[bytes | Exception]


def answers(service: Clocked, allowed: Callable[[Exception], bool] = lambda _: False) -> Answers:
    """The answers to all requests; an error that is allowed stands for itself."""
    collected: Answers = []
    for operation, request in requests():
        try:
            body = service.call(operation, **request)
        except Exception as error:
            if not allowed(error):
                raise
            collected.append(error)
        else:
            collected.append(orjson.dumps(body, option=orjson.OPT_SORT_KEYS))
    return collected
