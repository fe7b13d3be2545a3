"""Provisioned throughput: what may be asked for, how it changes, and how often it may go down."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol

from hashrange.api import errors
from hashrange.api.tables.structures import BillingMode, ProvisionedThroughput
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import (
    ACCOUNT_CAPACITY_UNITS_MAX,
    DECREASE_INTERVAL_SECONDS,
    DECREASES_FREE_PER_DAY,
    TABLE_CAPACITY_UNITS_MAX,
)
from hashrange.core.schema import Table, Throughput, UnitPair, changed

_UNITS_OUT_OF_BOUNDS = 1_000_000_000_000  # beyond any quota: refused by another check, in other words
_GUIDE = "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
_DAY_SECONDS = 86_400


class Moded(Protocol):
    """A request that may ask for a billing mode and for capacity."""

    billing_mode: BillingMode | None
    table_throughput_mode: BillingMode | None
    provisioned_throughput: ProvisionedThroughput | None


def wants_on_demand(request: Moded) -> bool | None:
    """The billing mode a request asks for, if any; the newer member gives way to the older one."""
    mode = request.billing_mode or request.table_throughput_mode
    return None if mode is None else mode == "PAY_PER_REQUEST"


def check_with_mode(spec: ProvisionedThroughput | None, *, on_demand: bool) -> None:
    """Refuse capacity on an on-demand table and its absence on a provisioned one (CreateTable)."""
    if on_demand:
        refuse_on_demand(spec)
    elif spec is None:
        raise invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )
    else:
        check_bounds(spec)


def refuse_on_demand(spec: ProvisionedThroughput | None) -> None:
    """Refuse capacity where the table is, or becomes, on-demand."""
    if spec is not None:
        raise invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )


def check_mode_of(table: Table, request: Moded) -> None:
    """Refuse capacity for a table that is on-demand and stays so."""
    on_demand = wants_on_demand(request)
    if table.on_demand if on_demand is None else on_demand:
        refuse_on_demand(request.provisioned_throughput)


def check_bounds(spec: ProvisionedThroughput) -> None:
    """Refuse numbers that no quota could allow."""
    for name, units in (
        ("ReadCapacityUnits", spec.read_capacity_units),
        ("WriteCapacityUnits", spec.write_capacity_units),
    ):
        if units > _UNITS_OUT_OF_BOUNDS:
            raise errors.validation(f"Given value {units} for {name} is out of bounds")


def check_index_bounds(spec: ProvisionedThroughput) -> None:
    """The same for an index, where another part of the service complains."""
    if max(spec.read_capacity_units, spec.write_capacity_units) > _UNITS_OUT_OF_BOUNDS:
        raise errors.validation(
            "This operation cannot be performed with given input values. Please contact DynamoDB service team "
            "for more info: Action Blocked: IndexUpdate"
        )


def new(spec: ProvisionedThroughput | None) -> Throughput:
    """The throughput of a new table or index."""
    if not spec:
        return Throughput()
    return Throughput(read_units=spec.read_capacity_units, write_units=spec.write_capacity_units)


def units(throughput: Throughput) -> UnitPair:
    """The capacity without its history."""
    return UnitPair(read_units=throughput.read_units, write_units=throughput.write_units)


def updated(
    before: Throughput, spec: ProvisionedThroughput, now: float, *, index: str | None = None
) -> Throughput:
    """The throughput after a change, with its history; a change must change something."""
    reads, writes = spec.read_capacity_units, spec.write_capacity_units
    if (reads, writes) == (before.read_units, before.write_units):
        raise errors.validation(_unchanged(before, index))
    after = changed(
        before,
        read_units=reads,
        write_units=writes,
        previous=units(before),
    )
    if reads > before.read_units or writes > before.write_units:
        after = changed(after, last_increase=now)
    if reads < before.read_units or writes < before.write_units:
        check_decrease(before, now)
        after = decreased(after, now)
    return after


def decreased(throughput: Throughput, now: float) -> Throughput:
    """Note a decrease."""
    today = (*decreases_today(throughput, now), now)
    return changed(throughput, last_decrease=now, decreases=today)


def decreases_today(throughput: Throughput, now: float) -> tuple[float, ...]:
    """The decreases of this UTC day."""
    midnight = now - now % _DAY_SECONDS
    return tuple(moment for moment in throughput.decreases if moment >= midnight)


def check_decrease(throughput: Throughput, now: float) -> None:
    """After the first four decreases of a UTC day, an hour must pass before each further one."""
    today = decreases_today(throughput, now)
    if len(today) < DECREASES_FREE_PER_DAY or now >= today[-1] + DECREASE_INTERVAL_SECONDS:
        return
    midnight = now - now % _DAY_SECONDS + _DAY_SECONDS
    following = min(today[-1] + DECREASE_INTERVAL_SECONDS, midnight)
    raise over_limit(
        "Provisioned throughput decreases are limited within a given UTC day. After the first "
        f"{DECREASES_FREE_PER_DAY} decreases, each subsequent decrease in the same UTC day can be performed at "
        f"most once every {DECREASE_INTERVAL_SECONDS} seconds. Number of decreases today: {len(today)}. Last "
        f"decrease at {_spoken(today[-1])}. Next decrease can be made at {_spoken(following)}."
    )


def _spoken(moment: float) -> str:
    when = datetime.fromtimestamp(moment, UTC)
    hour = when.hour % 12 or 12
    return f"{when:%A, %B} {when.day}, {when.year} at {hour}:{when:%M:%S %p} Coordinated Universal Time"


def _unchanged(before: Throughput, index: str | None) -> str:
    subject = "the table" if index is None else f"the index {index}"
    where = "the table" if index is None else f"index {index}"
    return (
        f"The provisioned throughput for {subject} will not change. The requested value equals the current "
        f"value. Current ReadCapacityUnits provisioned for {where}: {before.read_units}. Requested "
        f"ReadCapacityUnits: {before.read_units}. Current WriteCapacityUnits provisioned for {where}: "
        f"{before.write_units}. Requested WriteCapacityUnits: {before.write_units}. {_GUIDE}"
    )


def check_quotas(table: Table, others: Iterable[Table]) -> None:
    """The account's quotas: so much for one table or index, so much for all of them together."""
    _check_each(table)
    reserved = [_reserved(other) for other in others]
    own = _reserved(table)
    for at, name in enumerate(("ReadCapacityUnits", "WriteCapacityUnits")):
        sum_before = sum(units[at] for units in reserved)
        if own[at] and sum_before + own[at] > ACCOUNT_CAPACITY_UNITS_MAX:
            raise errors.limit_exceeded(
                f"This request would have caused the {name} limit to be exceeded for the account in "
                f"{table.region}. Current {name} reserved by the account: {sum_before}. Limit: "
                f"{ACCOUNT_CAPACITY_UNITS_MAX}. Requested: {own[at]}. {_GUIDE}"
            )


def _check_each(table: Table) -> None:
    owners = [("", "table", table.throughput)]
    owners += [(f" for index {index.name}", "index", index.throughput) for index in table.global_indexes]
    for subject, kind, throughput in owners:
        for name, units in (
            ("ReadCapacityUnits", throughput.read_units),
            ("WriteCapacityUnits", throughput.write_units),
        ):
            if units > TABLE_CAPACITY_UNITS_MAX:
                raise errors.limit_exceeded(
                    f"The requested {name}{subject}, {units}, is above the per {kind} maximum for the account "
                    f"in {table.region}. Per {kind} maximum: {TABLE_CAPACITY_UNITS_MAX}. {_GUIDE}"
                )


def _reserved(table: Table) -> tuple[int, int]:
    owners = [table.throughput, *(index.throughput for index in table.global_indexes)]
    return sum(owner.read_units for owner in owners), sum(owner.write_units for owner in owners)
