"""Optimistic locking: no change is lost, and none of somebody else's overwritten."""

from typing import Any

import pytest

from faulty_client import StillRunner, survives
from hashrange.patterns import OptimisticLock, Stale, Table
from hashrange.patterns.values import Item
from item_tables import unique


def test_only_the_version_that_was_read_is_replaced(table: Table, runner: StillRunner) -> None:
    lock, key = OptimisticLock(table), table.key(unique(), "x")
    assert runner.run(lock.read(key)).version == 0
    assert runner.run(lock.write({**key, "text": "one"}, 0)) == 1
    read = runner.run(lock.read(key))
    assert (read.item, read.version) == ({**key, "text": "one"}, 1)
    assert runner.run(lock.write({**key, "text": "two"}, 1)) == 2
    for version in (0, 1, 3):
        with pytest.raises(Stale):
            runner.run(lock.write({**key, "text": "late"}, version))
    with pytest.raises(Stale):
        runner.run(lock.delete(key, 1))
    runner.run(lock.delete(key, 2))
    runner.run(lock.delete(key, 2))
    assert runner.run(lock.read(key)).item is None


def test_a_write_that_is_sent_twice_is_no_conflict_with_itself(
    client: Any, table: Table, runner: StillRunner
) -> None:
    lock, key = OptimisticLock(table), table.key(unique(), "x")

    def begun(faulty: StillRunner) -> None:
        # Whoever does not know whether it was done reads first.
        if faulty.run(lock.read(key)).version == 0:
            assert faulty.run(lock.write({**key, "text": "one"}, 0)) == 1

    for _ in survives(client, begun):
        assert runner.run(lock.read(key)).version == 1
        key = table.key(unique(), "x")


def test_a_change_begins_again_where_somebody_was_faster(table: Table, runner: StillRunner) -> None:
    lock, key = OptimisticLock(table), table.key(unique(), "x")
    rivals = iter(range(3))

    def change(item: Item | None) -> Item:
        if next(rivals, None) is not None:
            runner.run(lock.change(key, lambda other: {"n": (other or {"n": 0})["n"] + 10}))
        return {"n": (item or {"n": 0})["n"] + 1}

    assert runner.run(lock.change(key, change))["n"] == 31
    assert len(runner.pauses) == 3


def test_a_change_gives_up_in_the_end(table: Table, runner: StillRunner) -> None:
    lock, key = OptimisticLock(table), table.key(unique(), "x")

    def change(item: Item | None) -> Item:
        runner.run(lock.change(key, lambda _: {}))
        return {}

    with pytest.raises(Stale):
        runner.run(lock.change(key, change, attempts_max=3))
    assert len(runner.pauses) == 2
