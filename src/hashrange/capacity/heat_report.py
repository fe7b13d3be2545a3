"""The heat of a table or index for people and programs: docs/capacity.md says what each member means."""

from collections.abc import Sequence
from itertools import islice
from operator import itemgetter

import msgspec

from hashrange.capacity import limits, shares
from hashrange.capacity.heat import MINUTE_SECONDS, Traffic, Window
from hashrange.capacity.verdict import Findings, Verdict, judge
from hashrange.core import partitions
from hashrange.core.keys import key_parts
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item

_HOTTEST_KEYS = 10
_REPORT_MINUTES = 5  # the ones before the present one


class SideReport(msgspec.Struct, frozen=True):
    """Reads or writes as a whole."""

    units_per_second: float
    throttled_per_second: float
    limit_per_second: float  # what the table or index as a whole may consume


class PartitionReport(msgspec.Struct, frozen=True):
    """One partition."""

    number: int
    start: str  # hexadecimal: the lower bound, the first bytes of its keys
    read_units_per_second: float
    write_units_per_second: float
    throttled_per_second: float
    share: float  # of the traffic of the table, 0 to 1, by what it takes of the partitions' ceilings
    use: float  # of its own ceiling; 1: no more fits


class KeyReport(msgspec.Struct, frozen=True):
    """One partition key value among the hottest."""

    key: Item | None  # None: too long to be kept whole
    write: bool
    units_per_second: float
    share: float  # of all reads, or of all writes


class HeatReport(msgspec.Struct, frozen=True):
    """Everything."""

    table: str
    index: str | None
    epoch_seconds: float
    seconds: float  # that the figures are averages of
    reads: SideReport
    writes: SideReport
    partitions: list[PartitionReport]
    hottest_keys: list[KeyReport]
    verdict: Verdict


def report(table: Table, index: Index | None, windows: Sequence[Window], now: float) -> HeatReport:
    """The heat of the last minutes, of all processes together."""
    present = int(now // MINUTE_SECONDS)
    recent = [window for window in windows if window.minute >= present - _REPORT_MINUTES]
    first = min((window.minute for window in recent), default=present)
    seconds = max(1.0, now - first * MINUTE_SECONDS)
    sides = [[window.traffic(write=write) for window in recent] for write in (False, True)]
    rows = _partitions(table, index, sides, seconds)
    findings = Findings(table, index, recent, now)
    return HeatReport(
        table.name,
        None if index is None else index.name,
        now,
        seconds,
        _side(table, index, sides[0], seconds, write=False),
        _side(table, index, sides[1], seconds, write=True),
        rows,
        _hottest(table, index, sides, seconds),
        judge(findings),
    )


def _side(
    table: Table, index: Index | None, traffics: list[Traffic], seconds: float, *, write: bool
) -> SideReport:
    return SideReport(
        sum(traffic.units for traffic in traffics) / seconds,
        sum(traffic.throttled for traffic in traffics) / seconds,
        min(rate.units_per_second for rate in limits.rates(table, index, write=write)),
    )


def _partitions(
    table: Table, index: Index | None, sides: list[list[Traffic]], seconds: float
) -> list[PartitionReport]:
    bounds = partitions.of(table, index)
    reads, writes = (shares.by_partition(traffics, bounds) for traffics in sides)
    throttled = [
        sum(counts)
        for counts in zip(*(shares.throttled_by_partition(side, bounds) for side in sides), strict=True)
    ]
    weights = [
        read / limits.partition_units(write=False) + write / limits.partition_units(write=True)
        for read, write in zip(reads, writes, strict=True)
    ]
    total = sum(weights) or 1.0
    return [
        PartitionReport(
            number,
            start.hex(),
            reads[number] / seconds,
            writes[number] / seconds,
            throttled[number] / seconds,
            weights[number] / total,
            max(
                reads[number] / limits.partition_units(write=False),
                writes[number] / limits.partition_units(write=True),
            )
            / seconds,
        )
        for number, start in enumerate(bounds)
    ]


def _hottest(
    table: Table, index: Index | None, sides: list[list[Traffic]], seconds: float
) -> list[KeyReport]:
    keys: list[tuple[float, float, bool, bytes]] = []  # units, share, whether writes, key
    for write, traffics in enumerate(sides):
        units = shares.by_collection(index, shares.samples(traffics))
        total = sum(units.values())
        keys += [
            (amount, amount / total, bool(write), key)
            for key, amount in islice(units.items(), _HOTTEST_KEYS)  # the most first
        ]
    keys.sort(key=itemgetter(0), reverse=True)
    return [
        KeyReport(key_parts.partition_attributes(table, index, key), write, amount / seconds, share)
        for amount, share, write, key in keys[:_HOTTEST_KEYS]
    ]
