"""Observations: one small record of everything that happened to an item, made once and counted later.

A request for one item makes one; a batch or a transaction makes one for every item; a write makes one more for every
index row that it wrote; a page makes one for every partition that it read.

While a client waits nothing is done but to note the result. Every tenth of a second the notes are looked at, those of
one kind together (`Group`): the metrics are made of these, and are exact. Subscribers (the heat of partitions, the
sketches of keys) get records. Of a group with many requests they get a sample, each of which stands for as many
requests as its `weight` says, and for all their units: in all these are exact, by key and partition they are right on
average, and what they cost is bounded. They are called on the event loop's thread, at most some thousand times a
second, and must not raise.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from hashrange.core.schema import Index, Table

BATCH_MAX = 1000  # so many records are handed over at once, without waiting for the tenth of a second
SAMPLE_MAX = 64  # records of one group
_NOISES = 1 << 16
_NOISE_MASK = _NOISES - 1

Outcome = Literal["ok", "condition", "conflict", "throttle", "user error", "system error"]


class StreamPage(NamedTuple):
    """What GetRecords returned."""

    label: str
    records: int
    size_bytes: int
    age_seconds: float | None  # of the last record; None: there was none


class Observation(msgspec.Struct, gc=False):
    """What happened to one item, or to a request that did not get as far as an item."""

    time: float  # when it was counted, at most a tenth of a second later: epoch seconds of the server's Clock
    operation: str  # that was called: an item of a batch has BatchGetItem
    account_id: str
    region: str
    table: Table | None  # None: it was about no table, or about none that there is
    index: Index | None  # None: the table itself
    key: bytes  # without the layout's prefix, as partitions know keys; of a page where it began in the partition
    read_units: float  # of all requests that the record stands for
    write_units: float
    outcome: Outcome
    # Of the whole request, in seconds, and only in the first record about each table: so that it is counted once.
    # A throttle has it only if the whole request failed.
    latency: float | None = None
    items: int | None = None  # that a page returned; likewise only in its first record
    reasons: tuple[
        str, ...
    ] = ()  # of a throttle, as ThrottlingReasons has them: TableReadKeyRangeThroughputExceeded
    repeated: bool = False  # a record of the same request, about another table, has the latency already
    stream: StreamPage | None = None  # of GetRecords
    weight: float = 1.0  # how many requests the record stands for


class Group(msgspec.Struct):
    """Items or pages of the same table or index that requests of one operation read or wrote."""

    operation: str
    table: Table
    index: Index | None
    write: bool
    keys: Sequence[bytes] = ()
    units: Sequence[float] = ()  # of each of the keys
    latencies: Sequence[
        float
    ] = ()  # of the requests: fewer than keys where one has many items, none of an index
    items: Sequence[int] = ()  # that pages returned
    repeated: Sequence[float] = ()  # those of `latencies` that the group of another table has as well

    def sample(self, now: float) -> Iterator[Observation]:
        """Some of the keys, or all of them if they are not many.

        Each is from anywhere in its part of the group: clients go round their keys in turn, and whoever took every
        eighth of them would see one and the same.
        """
        count = len(self.keys)
        chosen = range(count) if count <= SAMPLE_MAX else _spread(count, now)
        weight = count / len(chosen)
        table, sampled = self.table, [self.units[at] for at in chosen]
        # So that the units add up to those of all, whichever are in the sample.
        scale = 1.0 if count <= SAMPLE_MAX else sum(self.units) / (sum(sampled) or 1.0)
        for at, units in zip(chosen, sampled, strict=True):
            scaled = units * scale
            yield Observation(
                now,
                self.operation,
                table.account_id,
                table.region,
                table,
                self.index,
                self.keys[at],
                0.0 if self.write else scaled,
                scaled if self.write else 0.0,
                "ok",
                weight=weight,
            )


def _spread(count: int, now: float) -> list[int]:
    """As many places as a sample has, one somewhere in each of so many equal parts."""
    noise = int(now * 1000)  # another one every time
    chosen = []
    for number in range(SAMPLE_MAX):
        # A linear congruential generator, as for the sample of heat: nothing here throws dice.
        noise = (noise * 25_173 + 13_849) & _NOISE_MASK
        chosen.append((number * _NOISES + noise) * count // (SAMPLE_MAX * _NOISES))
    return chosen


Subscriber = Callable[[Sequence[Observation]], None]


class Counter(Protocol):
    """What takes everything that is observed."""

    def count(self, observations: Sequence[Observation]) -> None:
        """Take single records."""

    def count_group(self, group: Group, now: float) -> None:
        """Take many requests of one kind."""


class Observer:
    """Where everything that is observed comes together. All of it is the event loop's."""

    __slots__ = ("_clock", "_counter", "_observations", "_sources", "_subscribers")

    def __init__(self, now: Callable[[], float], counter: Counter) -> None:
        """The owner calls `hand_over` every tenth of a second."""
        self._clock = now
        self._counter = counter
        self._sources: list[Callable[[], Iterable[Group]]] = []
        self._subscribers: list[Subscriber] = []
        self._observations: list[Observation] = []

    def add_source(self, source: Callable[[], Iterable[Group]]) -> None:
        """Ask this one for groups whenever things are handed over."""
        self._sources.append(source)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Hand over all records to come to this one too."""
        self._subscribers.append(subscriber)

    def observe(self, observation: Observation) -> None:
        """Take one record."""
        self._observations.append(observation)
        if len(self._observations) >= BATCH_MAX:
            self.hand_over()

    def hand_over(self) -> None:
        """Count what was observed since the last time, and tell the subscribers."""
        now = self._clock()
        observations, self._observations = self._observations, []
        if observations:
            self._counter.count(observations)
        for source in self._sources:
            for group in source():
                self._counter.count_group(group, now)
                if self._subscribers:
                    observations += group.sample(now)
        if observations:
            for subscriber in self._subscribers:
                subscriber(observations)
