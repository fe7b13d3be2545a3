"""Leases: one holder at a time, taken over when it is gone, and its late writes refused."""

from collections.abc import Callable

import pytest

from hashrange.storage.engine import Engine
from hashrange.storage.leases import FencedEngine, Lease, LeaseLost


class Time:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> float:
        return self.seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def lease(engine: Engine, time: Time) -> Callable[..., Lease]:
    """Make a server's claim; all want the same lease unless they name another."""

    def make(holder: str, name: str = "jobs", clock: Time = time) -> Lease:
        return Lease(engine, name, holder, term_seconds=4, now=clock.now)

    return make


def test_the_first_to_acquire_it_keeps_it(lease: Callable[..., Lease], time: Time) -> None:
    one, two = lease("one"), lease("two")
    assert one.acquire()
    for _ in range(20):
        time.seconds += 1
        assert one.acquire()
        assert not two.acquire()


def test_leases_of_other_names_are_other_leases(lease: Callable[..., Lease]) -> None:
    assert lease("one", "jobs").acquire()
    assert lease("two", "stream").acquire()


def test_a_holder_that_is_gone_is_followed_after_the_term(lease: Callable[..., Lease], time: Time) -> None:
    one, two = lease("one"), lease("two")
    assert one.acquire()
    assert not two.acquire()
    time.seconds += 3.9
    assert not two.acquire()
    time.seconds += 0.2
    assert two.acquire()
    assert not one.acquire()


def test_the_term_is_counted_from_what_a_server_has_seen_itself(
    lease: Callable[..., Lease], time: Time
) -> None:
    """The holder's clock is not looked at, so clocks need not agree."""
    ahead = Time()
    ahead.seconds = 9_000_000.0
    one, two = lease("one"), lease("two", clock=ahead)
    assert one.acquire()
    assert not two.acquire()
    ahead.seconds += 3
    time.seconds += 3
    assert one.acquire()
    ahead.seconds += 3
    assert not two.acquire()


def test_a_released_lease_is_free_at_once(lease: Callable[..., Lease]) -> None:
    one, two = lease("one"), lease("two")
    assert one.acquire()
    assert not two.acquire()
    one.release()
    assert two.acquire()
    one.release()
    assert two.acquire()


def test_only_one_of_two_waiting_servers_takes_it_over(lease: Callable[..., Lease], time: Time) -> None:
    one, two, three = lease("one"), lease("two"), lease("three")
    assert one.acquire()
    assert not two.acquire()
    assert not three.acquire()
    time.seconds += 5
    assert [two.acquire(), three.acquire()] == [True, False]


def test_late_writes_of_a_former_holder_are_refused(
    engine: Engine, lease: Callable[..., Lease], time: Time
) -> None:
    one, two = lease("one"), lease("two")
    assert one.acquire()
    first, second = FencedEngine(engine, one), FencedEngine(engine, two)
    first.write(lambda tx: tx.put(b"\xf0k", b"1"))
    with pytest.raises(LeaseLost):
        second.write(lambda tx: tx.put(b"\xf0k", b"never"))
    assert not two.acquire()
    time.seconds += 5
    assert two.acquire()
    second.write(lambda tx: tx.put(b"\xf0k", b"2"))
    errors: list[BaseException | None] = []
    first.submit(lambda tx: tx.put(b"\xf0k", b"late"), lambda _result, error: errors.append(error))
    with pytest.raises(LeaseLost):
        first.write(lambda tx: tx.put(b"\xf0k", b"late"))
    assert isinstance(errors[0], LeaseLost)
    assert second.read(lambda reader: reader.get(b"\xf0k")) == b"2"


def test_the_same_server_after_a_restart_is_another_holder(
    engine: Engine, lease: Callable[..., Lease], time: Time
) -> None:
    """A process that was paused and its successor of the same name do not share a claim."""
    old = lease("server")
    assert old.acquire()
    new = lease("server")
    assert not new.acquire()
    time.seconds += 5
    assert new.acquire()
    with pytest.raises(LeaseLost):
        FencedEngine(engine, old).write(lambda tx: tx.put(b"\xf0k", b"late"))
