"""The rules of faults: a look that began before a change does not take it back."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from hashrange.chain.background import Background
from hashrange.chain.chaos import Chaos
from hashrange.clock import ManualClock
from hashrange.storage.engine import Done
from hashrange.storage.fault_rules import FaultRule
from hashrange.storage.sqlite import MemoryEngine

RULE = FaultRule("1", "error", 1.0, 2_000_000_000.0, times=1)


class SlowReads(MemoryEngine):
    """An engine whose reads are told of when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[Callable[[], None]] = []

    def submit_read(self, step: Any, done: Done[Any], **_: Any) -> None:
        rules = self.read(step)
        self.late.append(lambda: done(rules, None))


@pytest.fixture
def engine() -> Iterator[SlowReads]:
    with closing(SlowReads()) as engine:
        yield engine


@pytest.fixture
def chaos(engine: SlowReads) -> Chaos:
    clock = ManualClock()
    return Chaos(engine, clock, Gate(Admission(), clock, "off"), Background(), lambda *_: None)


def test_a_rule_is_in_force_although_a_look_began_before_it(engine: SlowReads, chaos: Chaos) -> None:
    chaos.poll()
    chaos.add(RULE, lambda _: None)
    engine.late.pop()()
    assert chaos.rules() == [RULE]


def test_a_rule_is_gone_although_a_look_has_seen_it(engine: SlowReads, chaos: Chaos) -> None:
    chaos.add(RULE, lambda _: None)
    chaos.poll()
    chaos.clear(None, lambda _: None)
    engine.late.pop()()
    assert chaos.rules() == []


def test_of_two_looks_the_one_that_began_later_holds(engine: SlowReads, chaos: Chaos) -> None:
    other = Chaos(engine, ManualClock(), chaos._gate, Background(), lambda *_: None)
    other.poll()
    chaos.add(RULE, lambda _: None)
    other.poll()
    before, after = engine.late
    after()
    before()
    assert other.rules() == [RULE]
