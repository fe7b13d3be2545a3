"""The rows of metrics that clients put themselves: a row for every series and minute.

A series is found by a digest of its name and dimensions. Old rows are added up as those of DynamoDB's own
metrics are, by five minutes and by the hour: see jobs/custom_metrics.py.
"""

import hashlib
import math
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from hashrange.core import effort
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.metric_rows import RESOLUTIONS, SEEN_SECONDS

MINUTE = RESOLUTIONS[0]
_DIGEST_BYTES = 16
_TIME_BYTES = 8
_GROWTH = math.log(1.1)  # each bucket of a histogram ends a tenth above where it begins
_BUCKETS_MAX = 5000  # beyond the smallest and largest double that the service takes
_MIDDLE = 1.1**0.5
_BUCKETS_KEPT = 256  # of a histogram: ten decades; a row has no more than twice as many


class CustomStatistics(msgspec.Struct, array_like=True):
    """What samples come to; clients may count a sample as a part of one, so their number has fractions."""

    n: float = 0.0
    sum: float = 0.0
    min: float = math.inf
    max: float = -math.inf
    histogram: dict[int, float] = {}  # number of a bucket -> samples in it
    time: int = 0
    unit: str = "None"

    def add(self, value: float, count: float) -> None:
        """Add so many samples of one value."""
        self.n += count
        self.sum += value * count
        self.min, self.max = min(self.min, value), max(self.max, value)
        bucket = _bucket(value)
        self.histogram[bucket] = self.histogram.get(bucket, 0.0) + count
        self._collapse()

    def merge(self, other: "CustomStatistics") -> None:
        """Add all samples of another one."""
        self.n += other.n
        self.sum += other.sum
        self.min, self.max = min(self.min, other.min), max(self.max, other.max)
        for bucket, count in other.histogram.items():
            self.histogram[bucket] = self.histogram.get(bucket, 0.0) + count
        self._collapse()

    def _collapse(self) -> None:
        """Put the samples of the lowest buckets together where there are too many: high percentiles stay right."""
        if len(self.histogram) <= 2 * _BUCKETS_KEPT:
            return
        buckets = sorted(self.histogram)
        first, rest = buckets[-_BUCKETS_KEPT], buckets[:-_BUCKETS_KEPT]
        self.histogram[first] += sum(self.histogram.pop(bucket) for bucket in rest)

    def samples(self) -> list[tuple[float, float]]:
        """Values with their numbers, by value, as exactly as the histogram knows; empty if samples came added up."""
        if not math.isclose(sum(self.histogram.values()), self.n):
            return []
        return [
            (min(max(_middle(bucket), self.min), self.max), self.histogram[bucket])
            for bucket in sorted(self.histogram)
        ]


def _bucket(value: float) -> int:
    """Zero has the bucket 0, what is above it positive ones, what is below it negative ones."""
    if value == 0:
        return 0
    number = math.floor(math.log(abs(value)) / _GROWTH) + _BUCKETS_MAX
    number = min(max(number, 1), 2 * _BUCKETS_MAX)
    return number if value > 0 else -number


def _middle(bucket: int) -> float:
    if bucket == 0:
        return 0.0
    return math.copysign(math.exp((abs(bucket) - _BUCKETS_MAX) * _GROWTH) * _MIDDLE, bucket)


class CustomSeries(msgspec.Struct, frozen=True):
    """What a series is."""

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]  # by name

    def digest(self) -> bytes:
        """What the rows of the series have in their keys."""
        parts = (self.namespace, self.metric, *(part for pair in self.dimensions for part in pair))
        framed = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hashlib.sha256(framed).digest()[:_DIGEST_BYTES]


class SeriesRow(msgspec.Struct, array_like=True, frozen=True):
    """A series, and when it had its last sample, a few hours more or less."""

    series: CustomSeries
    seen: int


_statistics = msgspec.msgpack.Decoder(CustomStatistics)
_row = msgspec.msgpack.Decoder(SeriesRow)
_encode = msgspec.msgpack.Encoder().encode


def add(tx: Transaction, account_id: str, region: str, series: CustomSeries, new: CustomStatistics) -> None:
    """Add samples of one minute, which begins at `new.time`."""
    digest = series.digest()
    key = _key(MINUTE, account_id, region, digest, new.time)
    stored = tx.get(key)
    if stored is not None:
        new.merge(_statistics.decode(stored))
    tx.put(key, _encode(new))
    series_key = _series_prefix(account_id, region) + digest
    known = tx.get(series_key)
    if known is None or _row.decode(known).seen <= new.time - SEEN_SECONDS:
        tx.put(series_key, _encode(SeriesRow(series, new.time)))


def read(
    reader: Reader, account_id: str, region: str, series: CustomSeries, start: float, end: float
) -> Iterator[CustomStatistics]:
    """The rows of a series from `start` to before `end`, of all resolutions."""
    digest = series.digest()
    for resolution in RESOLUTIONS:
        first = _key(resolution, account_id, region, digest, int(start))
        last = _key(resolution, account_id, region, digest, math.ceil(end))
        for _, stored in effort.counted(reader.scan(first, last)):
            yield _statistics.decode(stored)


def known_series(
    reader: Reader, account_id: str, region: str, *, since: float = 0, after: bytes = b""
) -> Iterator[tuple[bytes, CustomSeries]]:
    """The series of a region that had a sample since a time, by digest."""
    prefix = _series_prefix(account_id, region)
    for key, stored in effort.counted(reader.scan(prefix + after, encoding.prefix_end(prefix))):
        row = _row.decode(stored)
        digest = key[len(prefix) :]
        if row.seen + SEEN_SECONDS >= since and digest != after:
            yield digest, row.series


def check(key: bytes, value: bytes) -> None:
    """Raise what reading a damaged row raises."""
    (_row if key.startswith(layout.CUSTOM_SERIES) else _statistics).decode(value)


def compact(
    tx: Transaction, key: bytes, *, moments: tuple[float, float], kept_since: float, limit: int
) -> int:
    """Add up the old rows of one series, and forget what is too old; give how many rows that was, `limit` at most.

    `key` is that of the series' row, which goes when nothing is left of it; `moments` are those before which rows are
    kept by five minutes and by the hour.
    """
    place = key[len(layout.CUSTOM_SERIES) : -_DIGEST_BYTES]
    digest = key[-_DIGEST_BYTES:]
    left = limit
    for (fine, coarse), moment in zip(pairwise(RESOLUTIONS), moments, strict=True):
        rows = _rows_prefix(fine, place, digest), _rows_prefix(coarse, place, digest)
        left -= _coarsen(tx, *rows, coarse, moment, left)
    coarsest = _rows_prefix(RESOLUTIONS[-1], place, digest)
    if left:
        left -= tx.clear(coarsest, coarsest + _time(kept_since), limit=left)
    if left:  # nothing old is there any more
        stored = tx.get(key)
        if stored is not None and _row.decode(stored).seen + SEEN_SECONDS < kept_since:
            tx.delete(key)
    return limit - left


def _coarsen(tx: Transaction, fine: bytes, coarse: bytes, period: int, moment: float, limit: int) -> int:
    """Move rows before a moment into those of a longer period; whole periods only, so that each is moved at once."""
    end = fine + _time(moment - moment % period)
    if not limit:
        return 0
    rows = list(tx.scan(fine, end, limit=limit))
    for key, stored in rows:
        statistics = _statistics.decode(stored)
        statistics.time -= statistics.time % period
        target = coarse + _time(statistics.time)
        older = tx.get(target)
        if older is not None:
            statistics.merge(_statistics.decode(older))
        tx.put(target, _encode(statistics))
        tx.delete(key)
    return len(rows)


def all_series(reader: Reader, after: bytes, limit: int) -> list[bytes]:
    """The keys of the rows of series behind a key, of all regions."""
    start = after + b"\0" if after else layout.CUSTOM_SERIES
    end = encoding.prefix_end(layout.CUSTOM_SERIES)
    return [key for key, _ in reader.scan(start, end, limit=limit)]


def _series_prefix(account_id: str, region: str) -> bytes:
    return layout.CUSTOM_SERIES + f"{account_id}\0{region}\0".encode()


def _key(resolution: int, account_id: str, region: str, digest: bytes, time: int) -> bytes:
    return _rows_prefix(resolution, f"{account_id}\0{region}\0".encode(), digest) + _time(time)


def _rows_prefix(resolution: int, place: bytes, digest: bytes) -> bytes:
    return layout.CUSTOM_METRIC + bytes([RESOLUTIONS.index(resolution)]) + place + digest


def _time(moment: float) -> bytes:
    return max(int(moment), 0).to_bytes(_TIME_BYTES, "big")
