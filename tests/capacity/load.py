"""Load on simulated time: requests in even steps against an admission, and what became of them."""

from collections.abc import Iterator
from itertools import cycle

import msgspec

from hashrange.capacity import growth, splitting
from hashrange.capacity.admission import Admission
from hashrange.capacity.following import followed
from hashrange.capacity.heat import Heat
from hashrange.capacity.limits import Limit
from hashrange.capacity.splitting import Split
from hashrange.core.schema import Index, Table
from schemas import item_key

STEPS_PER_SECOND = 10


class Tally(msgspec.Struct):
    """What became of a load."""

    accepted: float = 0.0
    throttled: float = 0.0
    limits: set[Limit] = msgspec.field(default_factory=set)


class Seen(msgspec.Struct):
    """What an observation tells heat."""

    time: float
    table: Table
    index: Index | None
    key: bytes
    read_units: float = 0.0
    write_units: float = 0.0
    outcome: str = "ok"
    reasons: tuple[str, ...] = ()
    weight: float = 1.0


class Machine:
    """A table, its buckets and a clock that moves with the load; with `follows` also its heat, minute by minute."""

    def __init__(self, table: Table, *, now: float = 0.0, follows: bool = False) -> None:
        self.table = table
        self.now = now
        self.admission = Admission()
        self.heat = Heat() if follows else None
        self.splits: list[Split] = []

    def follow(self) -> None:
        """What the job does: split what stays hot, and let capacity grow."""
        assert self.heat is not None
        for index in (None, *self.table.global_indexes):
            windows = self.heat.windows(self.table, index, self.now)
            splits = splitting.splits(self.table, index, windows, self.now)
            warm = growth.grown(self.table, index, windows, self.now)
            after = followed(self.table, index, splits, warm)
            if after is not self.table:
                self.table = msgspec.structs.replace(after, version=self.table.version + 1)
            self.splits += splits

    def _see(
        self, index: Index | None, key: bytes, units: float, *, write: bool, reached: tuple[Limit, ...]
    ) -> None:
        if self.heat is not None:
            seen = Seen(self.now, self.table, index, key)
            if reached:
                seen.outcome, seen.reasons = (
                    "throttle",
                    tuple(f"Table{'Write' if write else 'Read'}{limit}" for limit in reached),
                )
            elif write:
                seen.write_units = units
            else:
                seen.read_units = units
            self.heat.observe([seen])

    def change(self, **settings: object) -> None:
        self.table = msgspec.structs.replace(self.table, version=self.table.version + 1, **settings)

    def load(
        self,
        keys: Iterator[bytes],
        *,
        seconds: float,
        per_second: float,
        units: float = 1.0,
        write: bool = True,
        index: Index | None = None,
    ) -> Tally:
        """So many units per second, evenly; each request is tried once."""
        tally = Tally()
        begin = self.now
        for step in range(round(seconds * STEPS_PER_SECOND)):
            minute = self.now // 60
            self.now = begin + step / STEPS_PER_SECOND
            if self.heat is not None and self.now // 60 != minute:
                self.follow()
            for _ in range(round(per_second / units / STEPS_PER_SECOND)):
                key = next(keys)
                reached = self.admission.refused(self.now, self.table, index, key, write=write)
                self._see(index, key, units, write=write, reached=reached)
                if reached:
                    tally.throttled += units
                    tally.limits.update(reached)
                else:
                    self.admission.charge(self.now, self.table, index, key, units, write=write)
                    tally.accepted += units
        self.now = begin + seconds
        return tally


def even_keys(count: int = 997) -> Iterator[bytes]:
    """Keys that are spread over all partitions, each as often as the others."""
    return cycle([item_key({"S": f"key-{number}"}) for number in range(count)])


def one_key(name: str = "hot") -> Iterator[bytes]:
    """The same key again and again."""
    return cycle([item_key({"S": name})])


def sharded_key(name: str, shards: int) -> Iterator[bytes]:
    """A hot key with a suffix, by turns: write sharding."""
    return cycle([item_key({"S": f"{name}#{number}"}) for number in range(shards)])
