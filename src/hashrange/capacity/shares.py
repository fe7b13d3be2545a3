"""Shares of traffic: the windows of all processes together, by partition and by key."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from hashrange.capacity.heat import MINUTE_SECONDS, Traffic, Window
from hashrange.core.keys import key_parts
from hashrange.core.partitions import Partitions, number_of
from hashrange.core.schema import Index


class Sampled(msgspec.Struct, frozen=True):
    """A key of a sample, and the units it stands for."""

    key: bytes
    units: float


def of_minute(windows: Iterable[Window], minute: int, *, write: bool) -> list[Traffic]:
    """The reads or the writes of one minute, of every process that had any."""
    return [window.traffic(write=write) for window in windows if window.minute == minute]


def by_partition(traffics: Iterable[Traffic], bounds: Partitions) -> list[float]:
    """Units by partition."""
    units = [0.0] * len(bounds)
    for traffic in traffics:
        if traffic.partitions == len(bounds):
            for start, amount in traffic.by_partition.items():
                units[number_of(bounds, start)] += amount
        else:  # it was counted before a split
            for sampled in samples([traffic]):
                units[number_of(bounds, sampled.key)] += sampled.units
    return units


def throttled_by_partition(traffics: Iterable[Traffic], bounds: Partitions) -> list[float]:
    """Refusals by partition; those from before a split count for the first part."""
    counts = [0.0] * len(bounds)
    for traffic in traffics:
        for start, count in traffic.throttled_by_partition.items():
            counts[number_of(bounds, start)] += count
    return counts


def samples(traffics: Iterable[Traffic]) -> list[Sampled]:
    """All sampled keys; together they stand for all units."""
    return [Sampled(key, traffic.units / len(traffic.keys)) for traffic in traffics for key in traffic.keys]


def by_key(sampled: Iterable[Sampled]) -> Counter[bytes]:
    """Units by key, as far as the sample tells."""
    units: Counter[bytes] = Counter()
    for one in sampled:
        units[one.key] += one.units  # type: ignore[assignment]  # a counter counts fractions as well
    return units


def per_second(units: float, minutes: int) -> float:
    """The average rate of so many minutes."""
    return units / (minutes * MINUTE_SECONDS) if minutes else 0.0


def complete_minutes(now: float, count: int) -> range:
    """The last minutes that are over."""
    present = int(now // MINUTE_SECONDS)
    return range(present - count, present)


def by_collection(index: Index | None, sampled: Iterable[Sampled]) -> dict[bytes, float]:
    """Units by partition key value, the most first."""
    attributes = 1 if index is None else len(index.hash)
    units: dict[bytes, float] = {}
    for one in sampled:
        key = one.key[: key_parts.collection_end(one.key, attributes)]
        units[key] = units.get(key, 0.0) + one.units
    return dict(sorted(units.items(), key=lambda pair: pair[1], reverse=True))
