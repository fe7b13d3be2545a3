"""The targets: ratios within one run, each with the least (or most) that is wanted."""

from collections.abc import Iterator
from dataclasses import dataclass

from measured import Comparison, Measured

PEERS = {"dynalite": "dynalite", "dynamodb-local": "DynamoDB Local", "ceiling": "the bare protocol"}
RATES = (
    ("get", "GetItem", (("dynalite", 2.0), ("dynamodb-local", 15.0), ("ceiling", 0.55))),
    ("put", "PutItem", (("dynalite", 1.5), ("dynamodb-local", 10.0))),
    ("update", "UpdateItem with condition", (("dynalite", 1.5), ("dynamodb-local", 10.0))),
    ("query-100", "Query 100 items", (("dynalite", 4.0), ("dynamodb-local", 15.0))),
    ("scan", "Scan 1 MB page", (("dynalite", 5.0), ("dynamodb-local", 15.0))),
    ("batch-write-25", "BatchWrite 25", (("dynalite", 2.0), ("dynamodb-local", 10.0))),
    ("transact-write-2", "TransactWrite 2", (("dynamodb-local", 10.0),)),
)
WORKERS_MIN = 1.5
START_MAX = 1 / 5
IDLE_MEMORY_MAX = 1 / 3
GROWTH_MAX = 1.3
_GROWTH_FROM = 10_000


@dataclass(frozen=True, slots=True)
class Target:
    what: str
    wanted: float
    found: float | None  # None: one side of the ratio was not measured
    at_most: bool = False

    @property
    def reached(self) -> bool | None:
        if self.found is None:
            return None
        return self.found <= self.wanted if self.at_most else self.found >= self.wanted


def targets(comparison: Comparison) -> Iterator[Target]:
    """Give every target with what was found."""
    durable = comparison.system("hashrange")
    local = comparison.system("dynamodb-local")
    for workload, title, wanted in RATES:
        for peer, least in wanted:
            found = _divided(_rate(durable, workload), _rate(comparison.system(peer), workload))
            yield Target(f"{title}, to {PEERS[peer]}", least, found)
    yield from _growth(durable)
    one, two = (comparison.workers.get(count) for count in (1, 2))
    yield Target("mixed load, 2 workers to 1", WORKERS_MIN, _divided(two, one))
    if durable is None or local is None:
        return
    start = _divided(durable.start_seconds, local.start_seconds)
    yield Target("cold start, to DynamoDB Local", START_MAX, start, at_most=True)
    memory = _divided(durable.idle_memory_bytes, local.idle_memory_bytes)
    yield Target("idle memory, to DynamoDB Local", IDLE_MEMORY_MAX, memory, at_most=True)


def _growth(durable: Measured | None) -> Iterator[Target]:
    growth = durable.report.growth if durable else {}
    last = max(growth, default=0)
    if last <= _GROWTH_FROM or _GROWTH_FROM not in growth:
        yield Target("p50 as the table grows", GROWTH_MAX, None, at_most=True)
        return
    for before, after in zip(growth[_GROWTH_FROM], growth[last], strict=True):
        what = f"{after.title}, p50 at {last:,} items to {_GROWTH_FROM:,}"
        yield Target(what, GROWTH_MAX, _divided(after.p50_ms, before.p50_ms), at_most=True)


def _rate(system: Measured | None, workload: str) -> float | None:
    return system.rate(workload) if system else None


def _divided(mine: float | None, other: float | None) -> float | None:
    return None if mine is None or not other else mine / other
