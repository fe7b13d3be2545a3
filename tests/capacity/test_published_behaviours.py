"""The published behaviours of the service as tables: load over time, and what is accepted, throttled and split."""

import math
from collections.abc import Iterator
from itertools import count, cycle
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from capacity.load import Machine, even_keys, one_key, sharded_key
from hashrange.core import partitions
from hashrange.core.schema import Table, Throughput, Warm
from hashrange.scaling import tracking
from hashrange.scaling.tracking import Bounds, Memory, Tracking
from schemas import item_key
from schemas import table as record

BEGIN = 1_000_000 * 60.0
MINUTE = 60
DAY = 86_400.0


class Load(NamedTuple):
    """A stretch of even load, and what must come of it."""

    minutes: float
    per_second: float
    accepted: float  # per second
    splits: int = 0  # in this stretch
    rest: int = 0  # minutes without load before it
    settings: dict[str, Any] = {}  # noqa: RUF012 - what is changed about the table before it; never written


def provisioned(reads: int, writes: int, *keys: str, idle: float = 0.0, **more: Any) -> Table:
    throughput = Throughput(read_units=reads, write_units=writes)
    warm = Warm(read_units=reads, write_units=writes)
    created: dict[str, Any] = {"created_at": BEGIN - idle, "throughput": throughput, "warm": warm}
    return partitions.created(record(*(keys or ("pk:S",)), **created, **more))


def on_demand(*keys: str) -> Table:
    warm = Warm(read_units=12_000, write_units=4_000)
    return partitions.created(record(*(keys or ("pk:S",)), on_demand=True, warm=warm, created_at=BEGIN - DAY))


def dates() -> Iterator[bytes]:
    """A partition key for each of some days, under which times rise."""
    for day in range(16, 30):
        for second in range(60_000):
            yield item_key({"S": f"2026-11-{day}"}, {"N": str(second)})


def shuffled_items(pk: str) -> Iterator[bytes]:
    keys = [item_key({"S": pk}, {"N": str(number)}) for number in range(400)]
    Random(1).shuffle(keys)
    return cycle(keys)


def uneven_keys() -> Iterator[bytes]:
    """Half of the traffic falls into one of four partitions."""
    bounds = partitions.even(4)
    found: list[list[bytes]] = [[] for _ in bounds]
    for number in range(400):
        key = item_key({"S": f"key-{number}"})
        found[partitions.number_of(bounds, key)].append(key)
    by_turns = [found[place][turn] for turn in range(50) for place in (0, 1, 0, 2, 0, 3)]
    return cycle(by_turns)


RAISED = Throughput(read_units=1, write_units=400)
BEHAVIOURS: dict[str, tuple[Table, Iterator[bytes], bool, list[Load]]] = {
    "even load is never throttled": (
        provisioned(100, 4_000),
        even_keys(),
        True,
        [Load(7, 3_000, 3_000), Load(1, 1_000, 1_000)],
    ),
    "one hot key has what one partition gives, for ever": (
        on_demand(),
        one_key(),
        True,
        [Load(1, 1_500, 1_000), Load(7, 1_500, 1_000)],
    ),
    "a date as the key rolls from one hot partition to the next": (
        provisioned(1, 8_000, "pk:S", "sk:N", idle=DAY),
        dates(),
        True,
        [Load(7, 2_000, 1_000), Load(3, 2_000, 1_000)],
    ),
    "write sharding mends the hot key": (
        on_demand(),
        sharded_key("hot", 20),
        True,
        [Load(7, 1_500, 1_500)],
    ),
    "a hot collection is split by its sort keys": (
        on_demand("pk:S", "sk:N"),
        shuffled_items("hot"),
        True,
        [Load(6, 1_800, 1_135, 1), Load(3, 1_800, 1_800)],
    ),
    # The guide's arithmetic: 150 units that were idle for five minutes carry 200 for a quarter of an hour.
    "a burst is served from what was saved, and then it is exhausted": (
        provisioned(150, 1, idle=DAY),
        even_keys(),
        False,
        [Load(14.5, 200, 200), Load(1, 200, 175), Load(2, 200, 150)],
    ),
    # The guide's example: 400 units, four partitions, and one of them has half of the traffic.
    "a hot partition borrows what the others leave": (
        msgspec.structs.replace(provisioned(1, 400), partitions=partitions.even(4)),
        uneven_keys(),
        True,
        [Load(10, 380, 380), Load(3, 900, 600), Load(2, 900, 400)],
    ),
    "on-demand serves twice its peak, and doubles once in half an hour": (
        on_demand(),
        even_keys(),
        True,
        [
            Load(6, 3_000, 3_000),
            Load(6, 10_000, 6_000, 1),
            Load(1.5, 10_000, 7_333, rest=30),
            Load(2, 10_000, 10_000),
        ],
    ),
    "more provisioned capacity counts at once, less keeps what was saved": (
        provisioned(1, 40),
        even_keys(),
        True,
        [
            Load(2, 100, 60),
            Load(2, 100, 40),
            Load(5, 300, 300, settings={"throughput": RAISED}),
            Load(5, 100, 80, settings={"throughput": Throughput(read_units=1, write_units=40)}),
        ],
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_published_behaviour(name: str) -> None:
    table, keys, write, loads = BEHAVIOURS[name]
    machine = Machine(table, now=BEGIN, follows=True)
    for number, load in enumerate(loads):
        machine.now += load.rest * MINUTE
        if load.settings:
            machine.change(**load.settings)
        splits, seconds = len(made(machine)), load.minutes * MINUTE
        units = max(1.0, load.per_second / 100)
        tally = machine.load(keys, seconds=seconds, per_second=load.per_second, units=units, write=write)
        assert tally.accepted / seconds == pytest.approx(load.accepted, rel=0.04), (name, number)
        offered = tally.accepted + tally.throttled
        assert tally.throttled / offered == pytest.approx(1 - load.accepted / load.per_second, abs=0.04)
        assert len(made(machine)) - splits == load.splits, (name, number)


def made(machine: Machine) -> list[object]:
    return [split for split in machine.splits if split.at is not None]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_auto_scaling_follows_the_curve_of_a_day() -> None:
    """From 50 units at night to 1,000 at noon, against real buckets: next to nothing is throttled, little is idle."""
    table = msgspec.structs.replace(provisioned(1, 100), partitions=partitions.even(4))
    machine, keys = Machine(table, now=BEGIN), even_keys()
    policy, bounds = Tracking(target_percent=70.0), Bounds(10, 2_000)
    capacity, memory = 100, Memory()
    consumed: list[float] = []
    offered = paid = 0.0
    for minute in range(24 * 60):
        load = 525 - 475 * math.cos(minute / 1440 * 2 * math.pi)
        accepted = 0.0
        for _ in range(MINUTE):
            machine.now += 1
            for _ in range(4):
                key = next(keys)
                if not machine.admission.refused(machine.now, machine.table, None, key, write=True):
                    machine.admission.charge(machine.now, machine.table, None, key, load / 4, write=True)
                    accepted += load / 4
        offered, paid = offered + load * MINUTE, paid + capacity * MINUTE
        consumed.append(accepted)
        decision = tracking.decide(policy, bounds, capacity, consumed[-60:], memory, machine.now)
        if decision is not None:
            capacity = decision.capacity
            memory = tracking.remembered(memory, decision, machine.now)
            machine.change(throughput=Throughput(read_units=1, write_units=capacity))
    assert sum(consumed) / offered > 0.999
    assert sum(consumed) / paid > 0.6


@pytest.mark.slow
def test_a_long_run_keeps_memory_bounded() -> None:
    """A day of load on ever new keys and partitions: buckets of partitions are forgotten when they are full again."""
    machine = Machine(
        msgspec.structs.replace(on_demand(), partitions=partitions.even(500)), now=BEGIN, follows=True
    )
    keys = (item_key({"S": f"key-{number}"}) for number in count())
    sizes = []
    for _ in range(24):
        machine.load(keys, seconds=MINUTE, per_second=200, units=20)
        machine.now += 3_600 - MINUTE
        machine.admission.forget_idle(machine.now)
        sizes.append(len(machine.admission))
    assert sizes == [0] * 24
    assert machine.heat is not None
    assert len(machine.heat) <= 2
    assert len(machine.heat.windows(machine.table, None, machine.now)) <= 7
