"""Running `hashrange import` and `hashrange export`, and looking at what they have made."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from item_tables import Item, make_table

_WAIT_SECONDS = 60
Transfer = Callable[..., "Ended"]  # of the words behind `hashrange`


@dataclass
class Ended:
    """A command that has ended."""

    status: int
    out: str
    err: str


def started(*words: str, **options: Any) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "hashrange", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=110)
    return Ended(process.returncode, out, err)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def contents(client: Any, table: str) -> list[Item]:
    """All items of a table, in an order that is always the same."""
    items: list[Item] = []
    start: dict[str, Any] = {}
    while True:
        page = client.scan(TableName=table, ConsistentRead=True, **start)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return sorted(items, key=lambda item: repr(sorted(item.items())))
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def fill(client: Any, table: str, items: list[Item]) -> None:
    for start in range(0, len(items), 25):
        requests = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        client.batch_write_item(RequestItems={table: requests})


def full_table(client: Any, count: int, **options: Any) -> str:
    """A table with so many items of all types, `pk` and `sk` (a number) as its key."""
    name = make_table(client, "pk", "sk", types={"sk": "N"}, **options)
    fill(client, name, [item_of(number) for number in range(count)])
    return name


def item_of(number: int, **more: dict[str, Any]) -> Item:
    return {
        "pk": {"S": f"partition-{number % 17}"},
        "sk": {"N": str(number)},
        "blob": {"B": bytes([number % 256, 0, 255])},
        "set": {"NS": ["3", "1.5"]},
        "blobs": {"BS": [b"\xff", b"a"]},
        "document": {"M": {"list": {"L": [{"BOOL": True}, {"NULL": True}, {"B": b"x"}, {"S": "ü"}]}}},
        **more,
    }
