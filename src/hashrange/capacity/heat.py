"""Heat: where the traffic of a table or index falls, by minute, with a bounded sample of the keys it touches.

Everything else is worked out from it: which partitions are hot and where to split them, which keys are the hottest, and
what to advise. Every process keeps its own; see storage/heat_rows.py for how they are brought together.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from hashrange.core import partitions
from hashrange.core.schema import Index, Table

MINUTE_SECONDS = 60
KEPT_MINUTES = 7  # six that are over, and the present one
SAMPLE_KEYS_MAX = 256  # per minute, for reads and for writes
KEY_BYTES_MAX = 256  # of a sampled key: its beginning is enough to split at
PLACES_MAX = 1000  # tables and indexes in one minute; those that come later are not known
# More places than these share the keys that these would have: memory is the same, the sample of each is smaller.
_PLACES_WITH_FULL_SAMPLES = 100
_SAMPLE_KEYS_MIN = 32

_KEY_RANGE = "KeyRange"  # part of the reasons of partitions
_NOISE_BITS = 16
_NOISE_MASK = (1 << _NOISE_BITS) - 1


class Traffic(msgspec.Struct):
    """The reads, or the writes, of one minute.

    A key is sampled whenever so many units have been consumed, with some noise, so that the number of times it is in
    the sample is its share of the traffic, and a rhythm in the traffic is not taken for a pattern in the keys.
    """

    units: float = 0.0
    requests: float = 0.0
    throttled: float = 0.0
    by_partition: dict[bytes, float] = {}  # units by where the partition begins
    throttled_by_partition: dict[bytes, float] = {}
    partitions: int = 0  # how many there were; if there are more now, only the sample tells who had what
    keys: list[bytes] = []  # the sample, in order of time
    step: float = 1.0  # units from one sampled key to the next
    due: float = 0.5  # units until the next one
    noise: int = 1

    def add(
        self,
        bounds: tuple[bytes, ...],
        key: bytes,
        units: float,
        requests: float = 1.0,
        keys_max: int = SAMPLE_KEYS_MAX,
    ) -> None:
        """Count what was consumed at one key."""
        self.units += units
        self.requests += requests
        self.partitions = len(bounds)
        start = bounds[bisect_right(bounds, key) - 1]
        self.by_partition[start] = self.by_partition.get(start, 0.0) + units
        self.due -= units
        if self.due <= 0:
            self._sample(key[:KEY_BYTES_MAX], keys_max)

    def throttle(self, bounds: tuple[bytes, ...], key: bytes, requests: float, *, by_partition: bool) -> None:
        """Count refusals, by the partition or by the table as a whole."""
        self.throttled += requests
        if not by_partition:
            return
        start = bounds[bisect_right(bounds, key) - 1]
        self.throttled_by_partition[start] = self.throttled_by_partition.get(start, 0.0) + requests

    def _sample(self, key: bytes, keys_max: int) -> None:
        while self.due <= 0:
            self.keys.append(key)
            while len(self.keys) > keys_max:
                self.keys = self.keys[::2]
                self.step *= 2
            # A linear congruential generator: noise that is the same in every run.
            self.noise = (self.noise * 25_173 + 13_849) & _NOISE_MASK
            self.due += self.step * (0.5 + self.noise / (1 << _NOISE_BITS))


class Window(msgspec.Struct):
    """One minute of a table or index."""

    minute: int  # since 1970
    reads: Traffic = msgspec.field(default_factory=Traffic)
    writes: Traffic = msgspec.field(default_factory=Traffic)

    def traffic(self, *, write: bool) -> Traffic:
        """The reads or the writes."""
        return self.writes if write else self.reads


class Observed(Protocol):
    """What heat wants to know of an observation."""

    @property
    def time(self) -> float: ...
    @property
    def table(self) -> Table | None: ...
    @property
    def index(self) -> Index | None: ...
    @property
    def key(self) -> bytes: ...
    @property
    def read_units(self) -> float: ...
    @property
    def write_units(self) -> float: ...
    @property
    def outcome(self) -> str: ...
    @property
    def reasons(self) -> Sequence[str]: ...
    @property
    def weight(self) -> float: ...  # how many requests it stands for; the units are those of all of them


Place = tuple[int, int]  # number of the table, slot of the global index or 0


class Heat:
    """The windows of this process, by table and index."""

    def __init__(self) -> None:
        self._windows: dict[Place, list[Window]] = {}
        self._changed: dict[tuple[Place, int], None] = {}  # by place and minute, in order
        self._keys_max = SAMPLE_KEYS_MAX

    def __len__(self) -> int:
        """How many tables and indexes are known."""
        return len(self._windows)

    def observe(self, observations: Iterable[Observed]) -> None:
        """Count what happened to items."""
        for seen in observations:
            table = seen.table
            if table is None:
                continue
            reads, writes = seen.read_units, seen.write_units
            if reads or writes:
                index = seen.index
                window = self._window(table, index, seen.time)
                if window is None:
                    continue
                bounds = partitions.of(table, index)
                if reads:
                    window.reads.add(bounds, seen.key, reads, seen.weight, self._keys_max)
                if writes:
                    window.writes.add(bounds, seen.key, writes, seen.weight, self._keys_max)
            elif seen.outcome == "throttle":
                self._throttled(table, seen)

    def _throttled(self, table: Table, seen: Observed) -> None:
        is_write = any("Write" in reason for reason in seen.reasons)
        window = self._window(table, seen.index, seen.time)
        if window is None:
            return
        by_partition = any(_KEY_RANGE in reason for reason in seen.reasons)
        window.traffic(write=is_write).throttle(
            partitions.of(table, seen.index), seen.key, seen.weight, by_partition=by_partition
        )

    def _window(self, table: Table, index: Index | None, time: float) -> Window | None:
        """The window that this counts in; None: there are too many tables with traffic."""
        place = (table.number, 0 if index is None or index.local else index.slot)
        minute = int(time // MINUTE_SECONDS)
        windows = self._windows.get(place)
        # A clock that is corrected by a little at the end of a minute may show the last one again.
        if windows is None or not 0 <= windows[-1].minute - minute <= 1:
            windows = self._next_window(place, minute)
        if windows is None:
            return None
        window = windows[-1]
        self._changed[place, window.minute] = None
        return window

    def _next_window(self, place: Place, minute: int) -> list[Window] | None:
        if place not in self._windows and not self._has_room(minute):
            return None
        windows = self._windows.pop(place, [])
        self._windows[place] = windows  # behind all others: the first are those without traffic
        # None of the future either: a clock that was set back comes to these minutes again.
        windows[:] = [window for window in windows if minute - KEPT_MINUTES < window.minute < minute]
        windows.append(Window(minute))
        self._keys_max = max(
            _SAMPLE_KEYS_MIN,
            min(SAMPLE_KEYS_MAX, SAMPLE_KEYS_MAX * _PLACES_WITH_FULL_SAMPLES // len(self._windows)),
        )
        while len(self._changed) > PLACES_MAX * KEPT_MINUTES:  # nobody takes them
            del self._changed[next(iter(self._changed))]
        return windows

    def _has_room(self, minute: int) -> bool:
        """Make room for another place: that of one without traffic in this minute, never that of one that has some."""
        if len(self._windows) < PLACES_MAX:
            return True
        oldest = next(iter(self._windows))
        if self._windows[oldest][-1].minute == minute:
            return False
        del self._windows[oldest]
        return True

    def windows(self, table: Table, index: Index | None, now: float) -> list[Window]:
        """What is known of the last minutes of a table or index."""
        place = (table.number, 0 if index is None or index.local else index.slot)
        present = int(now // MINUTE_SECONDS)
        kept = range(present - KEPT_MINUTES + 1, present + 1)
        return [window for window in self._windows.get(place, ()) if window.minute in kept]

    def take_changed(self, most: int) -> list[tuple[Place, Window]]:
        """Some windows that changed since they were last taken, those of the longest ago first."""
        taken: list[tuple[Place, Window]] = []
        while self._changed and len(taken) < most:
            place, minute = next(iter(self._changed))
            del self._changed[place, minute]
            taken += [(place, window) for window in self._windows.get(place, ()) if window.minute == minute]
        return taken
