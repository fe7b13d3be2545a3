"""The key ring: when keys of tables are asked for, how long they are good, and what a silent service costs."""

import threading
from collections.abc import Callable, Mapping

import pytest

from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys import ring as rings
from hashrange.remote_keys.client import KmsFailed
from hashrange.remote_keys.lane import THREADS, Lane
from hashrange.remote_keys.ring import KeyRing
from transfers import until

LIFE_SECONDS = 100.0
KEY = bytes(32)


def sealed(number: int) -> SealedKey:
    return SealedKey("arn:aws:kms:us-east-1:000000000000:key/k", b"%d" % number, f"t{number}", "000000000000")


class Service:
    """A key service that a test tells what to say."""

    def __init__(self) -> None:
        self.failure: KmsFailed | None = None
        self.asked: list[bytes] = []
        self.answers = threading.Event()
        self.answers.set()

    def opened_key(self, _key_arn: str, ciphertext: bytes, _context: Mapping[str, str], /) -> bytes:
        self.asked.append(ciphertext)
        self.answers.wait(30)
        if self.failure is not None:
            raise self.failure
        return KEY


class Clock:
    now = 1000.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are retried without a pause, so that no test waits."""
    monkeypatch.setattr(rings, "_PROBE_SECONDS", 0.0)
    monkeypatch.setattr(rings, "_RETRY_SECONDS_MAX", 0.0)


def made() -> tuple[KeyRing, Service, Clock]:
    service, clock = Service(), Clock()
    return KeyRing(service, LIFE_SECONDS, lambda: clock.now), service, clock


def ticking(ring: KeyRing, condition: Callable[[], bool]) -> None:
    def look() -> bool:
        ring.tick()
        return condition()

    until(look)


def test_a_key_is_found_once_it_was_fetched() -> None:
    ring, service, _ = made()
    assert ring.find(sealed(1)) is None
    told = threading.Event()
    ring.fetch(sealed(1), told.set)
    assert told.wait(30)
    assert (ring.find(sealed(1)), ring.holds(sealed(1))) == (KEY, True)
    ring.fetch(sealed(1), told.set)
    assert service.asked == [b"1"]


def test_many_who_wait_for_one_key_ask_once() -> None:
    ring, service, _ = made()
    service.answers.clear()
    told: list[int] = []
    for number in range(50):
        ring.fetch(sealed(1), lambda number=number: told.append(number))
    service.answers.set()
    until(lambda: len(told) == 50)
    assert service.asked == [b"1"]


def test_a_key_is_asked_for_again_at_half_its_life_and_gone_after_it() -> None:
    ring, service, clock = made()
    ticking(ring, lambda: ring.find(sealed(1)) == KEY)
    clock.now += LIFE_SECONDS / 2 - 1
    ring.tick()
    assert len(service.asked) == 1
    service.failure = KmsFailed("disabled", "it is disabled")
    clock.now += 2
    ticking(ring, lambda: len(service.asked) > 2)
    assert ring.find(sealed(1)) == KEY
    clock.now += LIFE_SECONDS / 2
    ticking(ring, lambda: ring.find(sealed(1)) == "disabled")
    assert not ring.holds(sealed(1))
    service.failure = None
    ticking(ring, lambda: ring.find(sealed(1)) == KEY)


def test_a_clock_that_is_set_back_does_not_make_keys_live_longer() -> None:
    ring, service, clock = made()
    ticking(ring, lambda: ring.find(sealed(1)) == KEY)
    service.failure = KmsFailed("denied", "no")
    clock.now -= 3600
    ticking(ring, lambda: ring.find(sealed(1)) == "denied")


def test_a_silent_service_is_asked_by_one_request_at_a_time() -> None:
    ring, service, _ = made()
    service.failure = KmsFailed("unreachable", "nobody is there")
    ring.find(sealed(0))
    ticking(ring, lambda: ring.find(sealed(0)) == "unreachable")
    for number in range(40):
        assert ring.find(sealed(number)) == "unreachable"
    service.answers.clear()
    until(lambda: ring._lane.room == rings.WAITING_MAX + THREADS)
    before = len(service.asked)
    ring.tick()
    until(lambda: len(service.asked) == before + 1)
    told: list[int] = []
    ring.fetch(sealed(99), lambda: told.append(1))
    assert told == [1]  # nobody waits behind the probe
    service.failure = None
    service.answers.set()
    ticking(ring, lambda: all(ring.find(sealed(number)) == KEY for number in range(40)))


def test_keys_that_nobody_looks_for_are_forgotten() -> None:
    ring, service, clock = made()
    ticking(ring, lambda: ring.find(sealed(1)) == KEY)
    clock.now += 3 * LIFE_SECONDS
    ring.tick()
    assert not ring._entries
    assert len(service.asked) == 1


def test_a_lane_takes_no_more_than_its_limit() -> None:
    lane, gate, done = Lane("test", 3), threading.Event(), []
    taken = [lane.submit(lambda: done.append(gate.wait(30))) for _ in range(10)]
    assert taken.count(True) == 3 + THREADS
    gate.set()
    until(lambda: len(done) == 3 + THREADS)
    until(lambda: lane.room == 3 + THREADS)
    lane.close()
    assert not lane.submit(gate.set)
