"""On-demand ceilings and warm throughput of tables and indexes."""

from hashrange.api.errors import ApiError
from hashrange.api.tables.structures import OnDemandThroughput, WarmThroughput
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import ON_DEMAND_WARM_READS, ON_DEMAND_WARM_WRITES, TABLE_CAPACITY_UNITS_MAX
from hashrange.core.schema import Throughput, UnitPair, Warm, changed

_NO_CEILING = -1
_INITIAL = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"
    "#on-demand-capacity-mode-initial"
)


def _ceiling_members(spec: OnDemandThroughput | None) -> tuple[tuple[str, int | None], ...]:
    """The members by name, reads first; None where one was not sent."""
    return (
        ("MaxReadRequestUnits", None if spec is None else spec.max_read_request_units),
        ("MaxWriteRequestUnits", None if spec is None else spec.max_write_request_units),
    )


def _warm_members(spec: WarmThroughput | None) -> tuple[tuple[str, int | None], ...]:
    return (
        ("ReadUnitsPerSecond", None if spec is None else spec.read_units_per_second),
        ("WriteUnitsPerSecond", None if spec is None else spec.write_units_per_second),
    )


def refuse_ceilings(spec: OnDemandThroughput | None, *, index: str | None, creating: bool) -> None:
    """A ceiling on requests has no place on a provisioned table."""
    for name, units in _ceiling_members(spec):
        if units is not None:
            if creating:
                subject = "" if index is None else f" for index: {index}"
                end = "when table BillingMode is PROVISIONED."
            else:
                subject = "" if index is None else f" for index : {index}"
                end = "when the table BillingMode is PROVISIONED"
            raise invalid(f"{name} for OnDemandThroughput{subject} cannot be specified {end}")


def ceilings(
    before: UnitPair | None,
    spec: OnDemandThroughput | None,
    *,
    index: str | None,
    region: str,
    creating: bool = False,
) -> UnitPair | None:
    """The ceilings after a request, which may give one of them; -1 takes one away, on a live table only."""
    after = [_NO_CEILING, _NO_CEILING] if before is None else [before.read_units, before.write_units]
    subject = "table" if index is None else f"index : {index}"
    for at, (name, units) in enumerate(_ceiling_members(spec)):
        if units is None:
            continue
        if units < 1 and (creating or units != _NO_CEILING):
            raise invalid(f"Requested {name} for OnDemandThroughput for {subject} is outside of valid range")
        if units > TABLE_CAPACITY_UNITS_MAX:
            raise _above_account(f"{name} for OnDemandThroughput for {subject}", at, region)
        after[at] = units
    if after == [_NO_CEILING, _NO_CEILING]:
        return None
    return UnitPair(read_units=after[0], write_units=after[1])


def initial_warm(
    spec: WarmThroughput | None, throughput: Throughput, *, on_demand: bool, index: str | None, region: str
) -> Warm:
    """What a new table or index can serve at once: what it was asked to, but not less than its mode gives."""
    floor = _floor(throughput, on_demand=on_demand)
    subject = "table" if index is None else f"index {index}"
    warm = list(floor)
    for at, (name, units) in enumerate(_warm_members(spec)):
        if units is None:
            continue
        if units < floor[at]:
            raise _below_floor(f"Requested {name} for WarmThroughput for {subject}", at, on_demand=on_demand)
        if units > TABLE_CAPACITY_UNITS_MAX:
            raise _above_account(f"{name} for WarmThroughput for {subject}", at, region)
        warm[at] = units
    return Warm(read_units=warm[0], write_units=warm[1])


def _floor(throughput: Throughput, *, on_demand: bool) -> tuple[int, int]:
    if on_demand:
        return ON_DEMAND_WARM_READS, ON_DEMAND_WARM_WRITES
    return throughput.read_units, throughput.write_units


def _below_floor(subject: str, at: int, *, on_demand: bool) -> ApiError:
    if on_demand:
        return invalid(f"{subject} is lower than initial throughput for OnDemand. See: {_INITIAL}")
    name = ("ReadCapacityUnits", "WriteCapacityUnits")[at]
    return invalid(f"{subject} is lower than {name} of ProvisionedThroughput")


def raised_warm(
    before: Warm | None,
    spec: WarmThroughput,
    now: float,
    *,
    settles_at: float,
    index: str | None,
    region: str,
) -> Warm:
    """Warm throughput after a request to raise it; clients see the old values until it is done."""
    current = shown_warm(before, now)
    subject = "table" if index is None else f"index {index}"
    warm = [current.read_units, current.write_units]
    for at, (name, units) in enumerate(_warm_members(spec)):
        if units is None:
            continue
        if units < warm[at]:
            raise invalid(
                f"Requested {name} for WarmThroughput for {subject} is lower than current WarmThroughput, "
                "decreasing WarmThroughput is not supported"
            )
        if units > TABLE_CAPACITY_UNITS_MAX:
            raise _above_account(f"{name} for WarmThroughput for {subject}", at, region)
        warm[at] = units
    return changed(
        before or Warm(read_units=0, write_units=0),
        read_units=warm[0],
        write_units=warm[1],
        settles_at=settles_at,
        previous=current,
    )


def shown_warm(warm: Warm | None, now: float) -> UnitPair:
    """The warm throughput clients see."""
    if warm is None:
        return UnitPair(read_units=0, write_units=0)
    if warm.previous is not None and now < warm.settles_at:
        return warm.previous
    return UnitPair(read_units=warm.read_units, write_units=warm.write_units)


def kept_warm(warm: Warm | None, throughput: Throughput, *, on_demand: bool) -> Warm:
    """Warm throughput after a change of mode or capacity: it never goes down."""
    floor = _floor(throughput, on_demand=on_demand)
    before = warm or Warm(read_units=0, write_units=0)
    return Warm(
        read_units=max(floor[0], before.read_units),
        write_units=max(floor[1], before.write_units),
        grown_at=before.grown_at,
    )


def _above_account(subject: str, at: int, region: str) -> ApiError:
    quota = ("TableMaxReadCapacityUnits", "TableMaxWriteCapacityUnits")[at]
    return over_limit(f"Requested {subject} exceeds {quota} of the account in region {region}")
