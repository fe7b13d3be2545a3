"""Load on simulated time: requests in even steps against an admission, and what became of them."""

from collections.abc import Callable, Iterator
from itertools import cycle

import msgspec

from hashrange.capacity.admission import Admission
from hashrange.capacity.limits import Limit
from hashrange.core.schema import Index, Table
from schemas import item_key

STEPS_PER_SECOND = 10


class Tally(msgspec.Struct):
    """What became of a load."""

    accepted: float = 0.0
    throttled: float = 0.0
    limits: set[Limit] = msgspec.field(default_factory=set)


Observe = Callable[[float, bytes, float, tuple[Limit, ...]], None]


class Machine:
    """A table, its buckets and a clock that moves with the load."""

    def __init__(self, table: Table, *, now: float = 0.0) -> None:
        self.table = table
        self.now = now
        self.admission = Admission()

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
        observe: Observe | None = None,
    ) -> Tally:
        """So many requests per second, evenly; each is tried once."""
        tally = Tally()
        begin = self.now
        for step in range(round(seconds * STEPS_PER_SECOND)):
            self.now = begin + step / STEPS_PER_SECOND
            for _ in range(round(per_second / STEPS_PER_SECOND)):
                key = next(keys)
                reached = self.admission.refused(self.now, self.table, index, key, write=write)
                if observe is not None:
                    observe(self.now, key, 0.0 if reached else units, reached)
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
