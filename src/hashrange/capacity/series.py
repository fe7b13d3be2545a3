"""Time series: what a metric was in each minute, and adding such statistics up.

A series is a metric of one account and region with one set of dimensions, as CloudWatch names them. Its data points
hold the number of samples, their sum, the smallest and the largest: enough to be added up without loss over workers,
servers and longer periods. Those of latencies have a histogram too, for percentiles.

Series are read with `read_series` of storage/metric_rows.py (this room knows no storage):

    read_series(reader, account_id, region, metric, dimensions, start, end, period) -> list[Point]

Any process can answer for all of them, some seconds after the fact.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from hashrange.capacity import histograms

MINUTE = 60

Dimensions = Mapping[str, str]  # TableName, GlobalSecondaryIndexName, Operation, StreamLabel, Source


class Statistics(msgspec.Struct, array_like=True):
    """What samples come to."""

    n: int = 0
    sum: float = 0.0
    min: float = 0.0  # both are meaningless without samples
    max: float = 0.0
    histogram: dict[
        int, int
    ] = {}  # number of a bucket -> samples in it: see histograms.py; empty for most metrics

    def add(self, value: float) -> None:
        """Add one sample."""
        self.min = value if not self.n or value < self.min else self.min
        self.max = value if not self.n or value > self.max else self.max
        self.n += 1
        self.sum += value

    def merge(self, other: "Statistics") -> None:
        """Add all samples of another one."""
        if not other.n:
            return
        self.min = min(self.min, other.min) if self.n else other.min
        self.max = max(self.max, other.max) if self.n else other.max
        self.n += other.n
        self.sum += other.sum
        for bucket, count in other.histogram.items():
            self.histogram[bucket] = self.histogram.get(bucket, 0) + count

    @property
    def average(self) -> float:
        """The mean of the samples."""
        return self.sum / self.n if self.n else 0.0

    def percentile(self, percent: float) -> float | None:
        """The value that so many percent of the samples do not pass; None without a histogram.

        It is right within the width of a bucket, 5 percent.
        """
        if not self.histogram:
            return None
        return histograms.percentile(self.histogram, percent, self.min, self.max)


class Point(Statistics, array_like=True):
    """The samples of one period, which begins at `time` (epoch seconds)."""

    time: int = 0


def merged(values: Iterable[Statistics]) -> Statistics:
    """All samples together."""
    total = Statistics()
    for value in values:
        total.merge(value)
    return total


Series = dict[str, Statistics]  # by the names that `series_name` gives


class Place(NamedTuple):
    """The table that series belong to; its name is empty for those of the whole account and region."""

    account_id: str
    region: str
    table_name: str


def series_name(metric: str, dimensions: Dimensions) -> str:
    """What a series is called in the rows of its table, which is the one dimension left out."""
    others = sorted((name, value) for name, value in dimensions.items() if name != "TableName")
    return "/".join([metric, *(f"{name}={value}" for name, value in others)])


def parse_series(name: str, table_name: str) -> tuple[str, dict[str, str]]:
    """The metric and the dimensions of a series."""
    metric, *others = name.split("/")
    dimensions = {"TableName": table_name} if table_name else {}
    for other in others:
        dimension, _, value = other.partition("=")
        dimensions[dimension] = value
    return metric, dimensions
