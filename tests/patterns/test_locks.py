"""The lock: one holder at a time, leases by the waiting process's own clock, and the fence."""

from typing import Any

import pytest

from faulty_client import FaultyClient, StillRunner, survives
from hashrange.patterns import FencedOut, Held, Lock, LockHeld, LockLost, Table
from hashrange.patterns.steps import Pause, Step
from item_tables import unique


def test_a_lock_that_is_held_is_refused_until_it_is_released(table: Table, runner: StillRunner) -> None:
    lock, name = Lock(table), unique()
    first = runner.run(lock.acquire(name))
    with pytest.raises(LockHeld):
        runner.run(lock.acquire(name))
    runner.run(lock.release(first))
    second = runner.run(lock.acquire(name))
    assert (first.fence, second.fence) == (1, 2)
    runner.run(lock.release(first))  # a late release of who had it before
    with pytest.raises(LockHeld):
        runner.run(lock.acquire(name))


def test_a_holder_that_died_is_waited_for_by_its_own_lease(table: Table, runner: StillRunner) -> None:
    name = unique()
    dead = runner.run(Lock(table, lease_seconds=12).acquire(name))
    started = runner.now
    with pytest.raises(LockHeld):
        runner.run(Lock(table, lease_seconds=4).acquire(name, wait_seconds=11))
    held = runner.run(Lock(table, lease_seconds=4).acquire(name, wait_seconds=20))
    # The first wait was in vain: each watcher begins anew, since it trusts no clock but its own.
    assert runner.now - started >= 11 + 12
    assert held.fence == 2
    with pytest.raises(LockLost):
        runner.run(Lock(table).renew(dead))


class RenewingRunner(StillRunner):
    """While one waits here, the holder renews its lease."""

    def __init__(self, client: Any, lock: Lock, held: Held, renewals: int) -> None:
        super().__init__(client)
        self.lock, self.leases, self.renewals = lock, [held], renewals

    def perform(self, step: Step) -> object:
        if isinstance(step, Pause) and len(self.leases) <= self.renewals:
            self.leases.append(self.run(self.lock.renew(self.leases[-1])))
        return super().perform(step)


def test_a_renewed_lease_is_not_taken_over(client: Any, table: Table, runner: StillRunner) -> None:
    lock, name = Lock(table, lease_seconds=10), unique()
    with RenewingRunner(client, lock, runner.run(lock.acquire(name)), 1000) as waiting:
        with pytest.raises(LockHeld):
            waiting.run(lock.acquire(name, wait_seconds=40))
        first, last = waiting.leases[0], waiting.leases[-1]
    assert last.until > first.until + 35
    assert last.fence == first.fence == 1


def test_a_holder_that_renewed_and_died_is_waited_for_as_well(
    client: Any, table: Table, runner: StillRunner
) -> None:
    lock, name = Lock(table, lease_seconds=8), unique()
    with RenewingRunner(client, lock, runner.run(lock.acquire(name)), 2) as waiting:
        started = waiting.now
        assert waiting.run(lock.acquire(name, wait_seconds=30)).fence == 2
        assert 8 < waiting.now - started < 16


def test_no_write_of_an_earlier_holder_arrives_after_one_of_a_later(
    table: Table, runner: StillRunner
) -> None:
    lock, name, item = Lock(table, lease_seconds=5), unique(), table.key(unique(), "x")
    slow = runner.run(lock.acquire(name))
    runner.run(lock.put(slow, {**item, "by": "slow"}))
    fast = runner.run(lock.acquire(name, wait_seconds=6))
    runner.run(lock.put(slow, {**item, "by": "slow, before the other has written"}))
    runner.run(lock.put(fast, {**item, "by": "fast"}))
    with pytest.raises(FencedOut):
        runner.run(lock.put(slow, {**item, "by": "slow"}))
    stored = runner.run(table.get(item))
    assert stored is not None
    assert stored["by"] == "fast"


def test_a_lock_survives_every_fault(client: Any, table: Table, runner: StillRunner) -> None:
    """Whoever dies with it is waited for; nobody waits for itself."""
    lock, name = Lock(table, lease_seconds=2), unique()
    fences: list[int] = []

    def work(faulty: StillRunner) -> None:
        held: Held = faulty.run(lock.acquire(name, wait_seconds=3))
        fences.append(held.fence)
        held = faulty.run(lock.renew(held))
        faulty.run(lock.put(held, {**table.key(name, "protected")}))
        faulty.run(lock.release(held))

    for faulty in survives(client, work):
        stored = runner.run(table.get(table.key(name, "protected")))
        assert stored is not None
        assert stored["fence"] == fences[-1]
        assert fences == sorted(set(fences))
        # The lock is free at once, but for who has died with it.
        runner.run(lock.release(runner.run(lock.acquire(name))))
        assert len(faulty.sent) < 10
        name = unique()
        fences.clear()


def test_a_request_for_the_lock_that_is_sent_twice_waits_for_nobody(client: Any, table: Table) -> None:
    with StillRunner(FaultyClient(client, "sent twice", 0)) as runner:
        assert runner.run(Lock(table).acquire(unique())).fence == 1
        assert runner.pauses == []


def test_waiting_is_no_hot_loop(client: Any, table: Table, runner: StillRunner) -> None:
    lock, name = Lock(table, lease_seconds=0.001), unique()
    runner.run(Lock(table, lease_seconds=1000).acquire(name))
    with pytest.raises(LockHeld):
        runner.run(lock.acquire(name, wait_seconds=1))
    assert all(pause.seconds >= 0.009 for pause in runner.pauses)
