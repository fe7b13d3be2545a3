"""The targets: ratios within one run, each with the least (or most) that is wanted."""

from collections.abc import Iterator
from dataclasses import dataclass

from measured import Comparison, Measured

PEERS = {"dynalite": "dynalite", "dynamodb-local": "DynamoDB Local"}
# Durable, one process; the peers keep their data in memory, and are warm.
RATES = (
    ("get", "GetItem", (("dynamodb-local", 4.0),)),
    ("query-1", "Query 1 item", (("dynamodb-local", 8.0),)),
    ("partiql", "PartiQL by key", (("dynamodb-local", 4.0),)),
    ("put-new", "PutItem, new", (("dynamodb-local", 4.0), ("dynalite", 1.5))),
    ("put", "PutItem, overwrite", (("dynamodb-local", 5.0),)),
    ("put-2-gsi", "PutItem, new, 2 indexes", (("dynamodb-local", 3.0), ("dynalite", 1.2))),
    ("update", "UpdateItem with condition", (("dynamodb-local", 5.0),)),
    ("delete", "DeleteItem", (("dynamodb-local", 4.0),)),
    ("query-100", "Query 100 items", (("dynamodb-local", 9.0),)),
    ("query-gsi", "Query of an index, 100 items", (("dynamodb-local", 9.0),)),
    ("query-filter", "Query 100 items with filter", (("dynamodb-local", 5.0),)),
    ("query-projection", "Query 4 attributes of 100 items", (("dynamodb-local", 5.0),)),
    ("scan", "Scan 1 MB page", (("dynamodb-local", 20.0),)),
    ("scan-filter", "Scan 1 MB page with filter", (("dynamodb-local", 8.0),)),
    ("batch-get-100", "BatchGet 100", (("dynamodb-local", 8.0),)),
    ("batch-write-25", "BatchWrite 25", (("dynamodb-local", 6.0),)),
    ("transact-write-2", "TransactWrite 2", (("dynamodb-local", 6.0),)),
    ("transact-write-25", "TransactWrite 25", (("dynamodb-local", 10.0),)),
    ("transact-get-10", "TransactGet 10", (("dynamodb-local", 6.0),)),
)
ON_POSTGRES_MIN = 0.4
GROWTH_MAX = 1.4
ITEM_BYTES_MAX = 3_000
_GROWTH_FROM = 10_000


@dataclass(frozen=True, slots=True)
class Target:
    what: str
    wanted: float
    found: float | None  # None: one side of the ratio was not measured
    at_most: bool = False
    per_core: float | None = None  # the same ratio of requests per second of processor time

    @property
    def reached(self) -> bool | None:
        if self.found is None:
            return None
        return self.found <= self.wanted if self.at_most else self.found >= self.wanted


def targets(comparison: Comparison) -> Iterator[Target]:
    """Give every target with what was found."""
    durable = comparison.system("hashrange")
    for workload, title, wanted in RATES:
        for peer, least in wanted:
            other = comparison.system(peer)
            found = _divided(_rate(durable, workload), _rate(other, workload))
            per_core = _divided(_per_core(durable, workload), _per_core(other, workload))
            yield Target(f"{title}, to {PEERS[peer]}", least, found, per_core=per_core)
    on_postgres = _rate(comparison.system("hashrange-postgres"), "query-100")
    what = "Query 100 items on PostgreSQL, to embedded"
    yield Target(what, ON_POSTGRES_MIN, _divided(on_postgres, _rate(durable, "query-100")))
    yield from _growth(durable)
    what = "bytes on disk of an item of 2.1 KB"
    yield Target(what, ITEM_BYTES_MAX, durable.item_disk_bytes if durable else None, at_most=True)


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


def _per_core(system: Measured | None, workload: str) -> float | None:
    return system.per_core(workload) if system else None


def _divided(mine: float | None, other: float | None) -> float | None:
    return None if mine is None or not other else mine / other
