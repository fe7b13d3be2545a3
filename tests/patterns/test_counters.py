"""Sharded counters: everything is counted, and once."""

from typing import Any

import pytest

from faulty_client import StillRunner, survives
from hashrange.patterns import ShardedCounter, Table
from item_tables import unique


def test_what_is_added_is_in_the_sum(table: Table, runner: StillRunner) -> None:
    counter, name = ShardedCounter(table, shards=100), unique()
    assert runner.run(counter.value(name)) == 0
    for amount in (5, -2, 10):
        runner.run(counter.add(name, amount))
    runner.run(counter.add_cheaply(name, 100))
    assert runner.run(counter.value(name)) == 113


def test_additions_spread_over_the_shards(client: Any, table: Table, runner: StillRunner) -> None:
    counter, name = ShardedCounter(table, shards=3), unique()
    for number in range(20):
        runner.run(counter.add(name, token=str(number)))
    keys = [{"pk": {"S": f"COUNT#{name}#{shard}"}, "sk": {"S": "COUNT"}} for shard in range(3)]
    found = client.batch_get_item(RequestItems={table.name: {"Keys": keys}})["Responses"][table.name]
    assert sum(int(item["count"]["N"]) for item in found) == 20
    assert all(int(item["count"]["N"]) < 20 for item in found)


def test_with_a_token_it_counts_once_whatever_goes_wrong(
    client: Any, table: Table, runner: StillRunner
) -> None:
    counter, name = ShardedCounter(table), unique()

    def add(faulty: StillRunner) -> None:
        faulty.run(counter.add(name, 3, token="order 1"))

    for _ in survives(client, add):
        assert runner.run(counter.value(name)) == 3
        name = unique()


def test_a_hundred_shards_are_the_most(table: Table, runner: StillRunner) -> None:
    with pytest.raises(ValueError, match="1 to 100"):
        runner.run(ShardedCounter(table, shards=101).value("x"))
