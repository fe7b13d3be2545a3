"""Puts of the benchmark change what is stored: an engine that notices a put of what is there already writes nothing."""

import itertools
import json

import pytest

from hashrange_bench.workloads import GROWTH, WORKLOADS

CASES = {workload.name: workload for workload in (*WORKLOADS, *GROWTH)}


def puts(operation: str, body: str) -> list[dict[str, object]]:
    request = json.loads(body)
    if operation == "PutItem":
        return [request["Item"]]
    if operation == "BatchWriteItem":
        (writes,) = request["RequestItems"].values()
        return [write["PutRequest"]["Item"] for write in writes]
    return [action["Put"]["Item"] for action in request.get("TransactItems", ()) if "Put" in action]


@pytest.mark.parametrize(
    "name", ["put", "batch-write-25", "transact-write-2", "transact-write-25", "mixed", "growth-put"]
)
def test_each_put_changes_its_item_when_the_requests_are_sent_twice(name: str) -> None:
    workload = CASES[name]
    # What consumes its requests goes around its items at least fifteen times.
    items = 2_000 if workload.consumes else 10_000
    requests = list(itertools.islice(workload.requests(items), workload.count(1)))
    rounds = 1 if workload.consumes else 2
    stored: dict[str, object] = {}
    unchanged = changed = 0
    for operation, body in itertools.chain.from_iterable([requests] * rounds):
        for item in puts(operation, body):
            key = json.dumps([item["pk"], item.get("sk")])
            unchanged += stored.get(key) == item
            changed += 1
            stored[key] = item
    assert changed > 1000
    # Of the mixed load, a hot key may get the same revision twice in a row.
    assert unchanged <= (changed * 0.02 if name == "mixed" else 0)
