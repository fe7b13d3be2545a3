"""Observations: one small record of everything that happened to an item, made once and counted later.

A request for one item makes one; a batch or a transaction makes one for every item; a write makes one more for every
index row that it wrote; a page makes one for every partition that it read. Making them is all that happens while a
client waits. Every tenth of a second, or sooner where there are many, the subscribers get all that were made since:
the tallies of metrics, the heat of partitions, the sketches of keys. They are called on the event loop's thread, must
take well under a microsecond per record, and must not raise.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from hashrange.core.schema import Index, Table

BATCH_MAX = 1000  # so many are handed over at once, without waiting for the tenth of a second

Outcome = Literal["ok", "condition", "conflict", "throttle", "user error", "system error"]


class StreamPage(NamedTuple):
    """What GetRecords returned."""

    label: str
    records: int
    size_bytes: int
    age_seconds: float | None  # of the last record; None: there was none


class Observation(msgspec.Struct, gc=False):
    """What happened to one item, or to a request that did not get as far as an item."""

    time: float  # when it was over: epoch seconds of the server's Clock
    operation: str  # that was called: an item of a batch has BatchGetItem
    account_id: str
    region: str
    table: Table | None  # None: it was about no table, or about none that there is
    index: Index | None  # None: the table itself
    key: bytes  # without the layout's prefix, as partitions know keys; of a page where it began in the partition
    read_units: float
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


Subscriber = Callable[[Sequence[Observation]], None]


class Observer:
    """Where observations are collected until they are handed over. Everything here is the event loop's."""

    __slots__ = ("_call_later", "_notes", "_subscribers")

    def __init__(self, call_later: Callable[[Callable[[], None]], object]) -> None:
        """`call_later` is to call back in a moment, on the same thread."""
        self._call_later = call_later
        self._subscribers: list[Subscriber] = []
        self._notes: list[Observation] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Hand over all observations to come to this one too."""
        self._subscribers.append(subscriber)

    def observe(self, observation: Observation) -> None:
        """Take one record."""
        notes = self._notes
        notes.append(observation)
        if len(notes) == 1:
            self._call_later(self.hand_over)
        elif len(notes) >= BATCH_MAX:
            self.hand_over()

    def hand_over(self) -> None:
        """Give the subscribers what was observed since the last time."""
        notes = self._notes
        if notes:
            self._notes = []
            for subscriber in self._subscribers:
                subscriber(notes)
