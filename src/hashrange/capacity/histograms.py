"""Histograms of latencies: counts by bucket, with the same buckets everywhere, so that they can be added up.

The bounds are those of the E24 series, in milliseconds: 24 to a decade, each a tenth above the one before. Two of its
values are moved (2.4 to 2.5 and 5.1 to 5), for then the usual bounds of monitoring are among them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

_DECADE = (
    *(1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.5, 2.7, 3.0),
    *(3.3, 3.6, 3.9, 4.3, 4.7, 5.0, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1),
)
_DECADES = range(-2, 5)  # from ten microseconds to a hundred seconds

BOUNDS = tuple(round(value * 10**decade, 3) for decade in _DECADES for value in _DECADE)
"""The upper bounds of the buckets, which belong to them; one more bucket takes what is above the last."""


def bucket_of(value: float) -> int:
    """The number of the bucket that a value belongs to."""
    return bisect_left(BOUNDS, value)


_SECONDS = tuple(bound / 1000 for bound in BOUNDS)


def counted(seconds: Sequence[float]) -> dict[int, int]:
    """The counts of many latencies, which are sorted, and in seconds."""
    counts: dict[int, int] = {}
    at = 0
    while at < len(seconds):
        bucket = bisect_left(_SECONDS, seconds[at])
        end = len(seconds) if bucket == len(_SECONDS) else bisect_right(seconds, _SECONDS[bucket], at)
        counts[bucket] = end - at
        at = end
    return counts


def percentile(counts: Mapping[int, int], percent: float, smallest: float, largest: float) -> float:
    """The value that so many percent do not pass, taken evenly within its bucket."""
    wanted = sum(counts.values()) * percent / 100
    passed = 0
    for bucket in sorted(counts):
        count = counts[bucket]
        if passed + count >= wanted:
            low = BOUNDS[bucket - 1] if bucket else 0.0
            high = BOUNDS[bucket] if bucket < len(BOUNDS) else largest
            low, high = max(low, smallest), min(high, largest)
            return low + (high - low) * max(wanted - passed, 0) / count
        passed += count
    return largest
