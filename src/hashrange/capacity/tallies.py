"""Tallies: observations added up to the service's metrics, by table and minute, until they are written.

The dimensions of each metric are the service's: it never sums over one that is absent. Many observations are counted
at once, those of one kind together, because that takes a fraction of what one by one would take.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hashrange.capacity import histograms
from hashrange.capacity.observation import Group, Observation, Outcome
from hashrange.capacity.series import MINUTE, Place, Series, Statistics, series_name

_GSI = "GlobalSecondaryIndexName"
_OPERATION = "Operation"
_MILLISECONDS = 1000
PLACES_MAX = 20_000  # tables and minutes that wait to be written; of more nothing is kept

# How the metrics of throttles are called, by what their reasons end with.
_FAMILIES = {
    "ProvisionedThroughputExceeded": "ProvisionedThroughputThrottleEvents",
    "KeyRangeThroughputExceeded": "KeyRangeThroughputThrottleEvents",
    "MaxOnDemandThroughputExceeded": "MaxOnDemandThroughputThrottleEvents",
    "AccountLimitExceeded": "AccountLimitThrottleEvents",
}


class Counted(NamedTuple):
    """What was counted for one table and minute."""

    place: Place
    time: int
    series: Series
    totals: Series  # what is not a metric of the service: requests of all kinds


class Tallies:
    """Adds up observations."""

    def __init__(self) -> None:
        self._by_minute: dict[tuple[int, Place], Series] = {}
        self._totals: dict[Place, Series] = {}
        self.lost = 0  # observations for which there was no room

    def __len__(self) -> int:
        """How many tables and minutes wait."""
        return len(self._by_minute) + len(self._totals)

    def count_group(self, group: Group, now: float) -> None:
        """Add many requests of one kind."""
        table, operation = group.table, {_OPERATION: group.operation}
        region = Place(table.account_id, table.region, "")
        series = self._series(int(now // MINUTE) * MINUTE, region._replace(table_name=table.name))
        if series is None:
            self.lost += len(group.keys)
            return
        if group.latencies:
            latencies = _latencies(group.latencies)
            _statistics(series, "SuccessfulRequestLatency", operation).merge(latencies)
            if group.repeated:
                latencies = _latencies(_without(group.latencies, group.repeated))
            totals = self._totals.setdefault(region, {})
            _statistics(totals, "Requests", {**operation, "Outcome": "ok"}).merge(latencies)
        index = {} if group.index is None else {_GSI: group.index.name}
        metric = "ConsumedWriteCapacityUnits" if group.write else "ConsumedReadCapacityUnits"
        _count_events(series, metric, index, group.units)
        _count_events(series, "ReturnedItemCount", operation, group.items)

    def count(self, observations: Sequence[Observation]) -> None:
        """Add single observations."""
        groups: dict[tuple[str, int, int, Outcome], list[Observation]] = {}
        for observation in observations:
            # All of a batch are alive, so that ids tell tables apart, at a fraction of the price of their hashes.
            kind = (observation.operation, id(observation.table), id(observation.index), observation.outcome)
            group = groups.get(kind)
            if group is None:
                groups[kind] = [observation]
            else:
                group.append(observation)
        for group in groups.values():
            self._count_group(group)

    def _count_group(self, group: list[Observation]) -> None:
        """Add observations of one kind, which came one after the other."""
        while group:
            minute = int(group[0].time // MINUTE) * MINUTE
            rest: list[Observation] = []
            if not minute <= group[-1].time < minute + MINUTE:
                rest = [one for one in group if not minute <= one.time < minute + MINUTE]
                group = [one for one in group if minute <= one.time < minute + MINUTE]
            self._count_minute(minute, group)
            group = rest

    def _count_minute(self, minute: int, group: list[Observation]) -> None:
        first = group[0]
        region = Place(first.account_id, first.region, "")
        table = None if first.table is None else region._replace(table_name=first.table.name)
        series = self._series(minute, table or region)
        if series is None:
            self.lost += len(group)
            return
        self._count_requests(region, group)
        if first.outcome in ("user error", "conflict"):
            errors = [1.0] * sum(_is_request(one) for one in group)
            of_region = self._series(minute, region)
            if of_region is not None:
                _count_events(of_region, "UserErrors", {}, errors)
        if table is None:
            return
        index = {} if first.index is None else {_GSI: first.index.name}
        match first.outcome:
            case "ok":
                _count_units(series, index, group)
                _count_success(series, group)
            case "condition":
                _count_units(series, index, group)
                _count_events(series, "ConditionalCheckFailedRequests", {}, [1.0] * len(group))
            case "conflict":
                _count_events(series, "TransactionConflict", {}, [1.0] * len(group))
            case "throttle":
                _count_throttles(series, index, group)
            case "system error":
                operation = {_OPERATION: first.operation}
                _count_events(series, "SystemErrors", operation, [1.0] * len(group))
            case "user error":
                pass

    def _series(self, minute: int, place: Place) -> Series | None:
        """The series of a table, or None where there is no room for another one."""
        series = self._by_minute.get((minute, place))
        if series is None and len(self) < PLACES_MAX:
            series = self._by_minute[minute, place] = {}
        return series

    def _count_requests(self, region: Place, group: list[Observation]) -> None:
        """Requests and latencies of all tables together, which are exact however many tables there are."""
        latencies = [one.latency for one in group if one.latency is not None and not one.repeated]
        if latencies:
            totals = self._totals.setdefault(region, {})
            dimensions = {_OPERATION: group[0].operation, "Outcome": group[0].outcome}
            _count_latencies(totals, "Requests", dimensions, latencies)

    def take(self, places_max: int) -> list[Counted]:
        """Hand out what was counted, so much of it at most; it is the caller's from now on."""
        counted: list[Counted] = []
        while self._by_minute and len(counted) < places_max:
            (time, place), series = self._by_minute.popitem()
            counted.append(Counted(place, time, series, {}))
        while self._totals and len(counted) < places_max:
            place, totals = self._totals.popitem()
            counted.append(Counted(place, 0, {}, totals))
        return counted


def _is_request(observation: Observation) -> bool:
    return observation.latency is not None and not observation.repeated


def _statistics(series: Series, metric: str, dimensions: dict[str, str]) -> Statistics:
    return series.setdefault(series_name(metric, dimensions), Statistics())


def _count_events(series: Series, metric: str, dimensions: dict[str, str], values: Sequence[float]) -> None:
    if values:
        summary = Statistics(len(values), sum(values), min(values), max(values))
        _statistics(series, metric, dimensions).merge(summary)


def _without(values: Sequence[float], left_out: Sequence[float]) -> list[float]:
    rest = Counter(values)
    rest.subtract(left_out)
    return list(rest.elements())


def _latencies(seconds: Sequence[float]) -> Statistics:
    if not seconds:
        return Statistics()
    values = sorted(seconds)
    total, least, most = (value * _MILLISECONDS for value in (sum(values), values[0], values[-1]))
    return Statistics(len(values), total, least, most, histograms.counted(values))


def _count_latencies(series: Series, metric: str, dimensions: dict[str, str], latencies: list[float]) -> None:
    if latencies:
        _statistics(series, metric, dimensions).merge(_latencies(latencies))


def _count_units(series: Series, index: dict[str, str], group: list[Observation]) -> None:
    reads = [one.read_units for one in group if one.read_units]
    _count_events(series, "ConsumedReadCapacityUnits", index, reads)
    if len(reads) < len(group):
        writes = [one.write_units for one in group if one.write_units]
        _count_events(series, "ConsumedWriteCapacityUnits", index, writes)


def _count_success(series: Series, group: list[Observation]) -> None:
    first = group[0]
    if first.stream is not None:
        _count_stream(series, group)
        return
    operation = {_OPERATION: first.operation}
    latencies = [one.latency for one in group if one.latency is not None]
    _count_latencies(series, "SuccessfulRequestLatency", operation, latencies)
    items = [float(one.items) for one in group if one.items is not None]
    _count_events(series, "ReturnedItemCount", operation, items)


def _count_stream(series: Series, group: list[Observation]) -> None:
    for one in group:
        stream = one.stream
        if stream is None:
            continue
        label = {"StreamLabel": stream.label}
        operation = {_OPERATION: one.operation, **label}
        _count_latencies(series, "SuccessfulRequestLatency", operation, [one.latency or 0.0])
        _count_events(series, "ReturnedBytes", operation, [float(stream.size_bytes)])
        _count_events(series, "ReturnedRecordsCount", operation, [float(stream.records)])
        age = stream.age_seconds or 0.0
        _count_events(series, "IteratorAge", label, [age * _MILLISECONDS])


def _count_throttles(series: Series, index: dict[str, str], group: list[Observation]) -> None:
    for one in group:
        # Of an event with several reasons all families are told, and the sum of all causes once.
        kinds = {"Read" if "Read" in reason else "Write" for reason in one.reasons}
        for kind in kinds:
            _count_events(series, f"{kind}ThrottleEvents", index, [1.0])
        for reason in one.reasons:
            kind = "Read" if "Read" in reason else "Write"
            family = _FAMILIES.get(reason.partition(kind)[2])
            if family is not None:
                _count_events(series, kind + family, index, [1.0])
        if one.latency is not None:
            _count_events(series, "ThrottledRequests", {_OPERATION: one.operation}, [1.0])
