"""What limits a table or index at a moment: the rates of its buckets and what they hold. Sources: docs/capacity.md."""

from typing import Literal

import msgspec

from hashrange.core import limits
from hashrange.core.schema import Index, Table, UnitPair, Warm

Limit = Literal[
    "ProvisionedThroughputExceeded",
    "KeyRangeThroughputExceeded",
    "MaxOnDemandThroughputExceeded",
    "AccountLimitExceeded",
]

BURST_SECONDS = 300.0  # of provisioned capacity that is kept when it is not used (developer guide)
# Ours: the service does not say what a new table can burst, and serves small bursts at once.
NEW_BURST_SECONDS = 60.0
# Ours: a ceiling per second needs at least a second's depth, or a burst within the second would be refused.
CEILING_SECONDS = 1.0
# Ours: what is admitted without a question is at most this much of a rate, and of what a bucket holds.
LENT_SECONDS = 0.1
LENT_SHARE = 0.1
LENT_UNITS_MIN = 1.0  # less is not worth it: tables with little capacity are asked for every request


class Rate(msgspec.Struct, frozen=True):
    """One bucket of a table or index: units per second, the most it keeps, and what its exhaustion is called."""

    limit: Limit
    units_per_second: float
    depth_seconds: float


def rates(table: Table, index: Index | None, *, write: bool) -> tuple[Rate, ...]:
    """The buckets of a table or global index as a whole, outermost first; those of its partitions come on top."""
    owner = table if index is None else index
    delivered = provisioned(table, index)
    if delivered is not None:
        units = _of(delivered, write=write)
        # An index that is on its way out may have none left; a bucket of nothing would never open again.
        return (Rate("ProvisionedThroughputExceeded", max(1.0, units), BURST_SECONDS),)
    account = Rate("AccountLimitExceeded", limits.TABLE_CAPACITY_UNITS_MAX, CEILING_SECONDS)
    # What on-demand capacity has grown to is a matter of partitions: the service has no other reason for it.
    grown = Rate("KeyRangeThroughputExceeded", instant_units(owner, write=write), CEILING_SECONDS)
    maximum = table.on_demand_limits if index is None else index.on_demand
    if maximum is None or _of(maximum, write=write) < 0:
        return account, grown
    return account, Rate("MaxOnDemandThroughputExceeded", _of(maximum, write=write), BURST_SECONDS), grown


def instant_units(owner: Table | Index, *, write: bool) -> float:
    """What an on-demand table or index serves at once: twice its previous peak, which its warm throughput keeps."""
    initial = limits.ON_DEMAND_WARM_WRITES if write else limits.ON_DEMAND_WARM_READS
    if owner.warm is None:
        return float(initial)
    return max(float(initial), _of(owner.warm.previous or owner.warm, write=write))


def partition_units(*, write: bool) -> float:
    """What one partition serves per second."""
    return float(limits.PARTITION_WRITE_UNITS if write else limits.PARTITION_READ_UNITS)


def saving_since(table: Table, index: Index | None) -> float:
    """Since when a table or index may have saved capacity, in its present billing mode."""
    throughput = table.throughput if index is None else index.throughput
    return max(table.created_at, throughput.last_increase or 0.0)


def provisioned(table: Table, index: Index | None) -> UnitPair | None:
    """The provisioned units, those from before while a change is under way; None: what is served is on-demand."""
    owner = table if index is None else index
    throughput = owner.throughput
    if table.on_demand:
        return throughput.delivered if owner.status == "UPDATING" else None
    if throughput.previous is not None and owner.status == "UPDATING":
        return throughput.previous
    return UnitPair(read_units=throughput.read_units, write_units=throughput.write_units)


def _of(pair: UnitPair | Warm, *, write: bool) -> float:
    return float(pair.write_units if write else pair.read_units)
