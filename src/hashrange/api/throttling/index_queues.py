"""Back-pressure: writes wait in a bounded queue for their global index, and a full queue refuses the table's writes.

The service keeps global indexes asynchronously. An index that cannot keep up is at first only behind; when the buffer
between table and index is full, every write of the table is refused, also one that does not touch the index. Here the
rows of an index are written with their item, so that what waits in the queue is only their bill.
"""

from collections import deque
from typing import NamedTuple, Protocol

from hashrange.capacity import limits
from hashrange.capacity.limits import Limit
from hashrange.core.schema import Index, Table

# The service's own bound is not published. Ours is what the index writes in a second, but room for one batch at least.
QUEUE_SECONDS = 1.0
QUEUE_UNITS_MIN = 25.0
ON_DEMAND_QUEUE_UNITS = 1000.0
QUEUES_MAX = 1000  # indexes that are behind at the same time, beyond which those left alone are forgotten
_FORGOTTEN_SECONDS = 300.0


class Admitting(Protocol):
    """The model of tables, indexes and partitions: see capacity/admission.py."""

    def refused(
        self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool
    ) -> tuple[Limit, ...]:
        """The limits that stand against touching this key now."""

    def charge(
        self, now: float, table: Table, index: Index | None, key: bytes, units: float, *, write: bool
    ) -> None:
        """Take units from the buckets of this key; negative ones are given back."""


class Waiting(NamedTuple):
    """The write of an index row that is not charged yet."""

    key: bytes
    units: float


class Blocked(NamedTuple):
    """The row at the head of a queue that is full, and the limits of the index that it waits for."""

    key: bytes
    limits: tuple[Limit, ...]


class _Queue:
    """What waits for one index."""

    __slots__ = ("looked_at", "units", "waiting")

    def __init__(self, now: float) -> None:
        self.waiting: deque[Waiting] = deque()
        self.units = 0.0
        self.looked_at = now


class IndexQueues:
    """The queues of all indexes that are behind; one that keeps up has none."""

    def __init__(self, model: Admitting) -> None:
        self._model = model
        self.by_index: dict[tuple[int, int], _Queue] = {}

    def __len__(self) -> int:
        return len(self.by_index)

    def add(self, now: float, table: Table, index: Index, key: bytes, units: float) -> None:
        """Charge a row's write, now or when the index has capacity for it."""
        queue = self._drained(now, table, index)
        if queue is None:
            if not self._model.refused(now, table, index, key, write=True):
                self._model.charge(now, table, index, key, units, write=True)
                return
            self._forget(now)
            queue = self.by_index[table.number, index.slot] = _Queue(now)
        queue.waiting.append(Waiting(key, units))
        queue.units += units

    def blocked(self, now: float, table: Table, index: Index) -> Blocked | None:
        """What stands against any write of the index's table; None while the queue has room."""
        if (table.number, index.slot) not in self.by_index:
            return None
        queue = self._drained(now, table, index)
        if queue is None or queue.units < _bound(table, index):
            return None
        key = queue.waiting[0].key
        reached = self._model.refused(now, table, index, key, write=True)
        return Blocked(key, reached) if reached else None

    def _drained(self, now: float, table: Table, index: Index) -> _Queue | None:
        """The queue, after all that the index has capacity for has left it; None if nothing waits."""
        queue = self.by_index.get((table.number, index.slot))
        if queue is None:
            return None
        queue.looked_at = now
        while queue.waiting:
            key, units = queue.waiting[0]
            if self._model.refused(now, table, index, key, write=True):
                return queue
            self._model.charge(now, table, index, key, units, write=True)
            queue.waiting.popleft()
            queue.units -= units
        del self.by_index[table.number, index.slot]
        return None

    def _forget(self, now: float) -> None:
        """Drop queues that nobody has looked at for long: of tables that are idle or gone."""
        if len(self.by_index) < QUEUES_MAX:
            return
        kept = {
            place: queue
            for place, queue in self.by_index.items()
            if now - queue.looked_at < _FORGOTTEN_SECONDS
        }
        self.by_index = kept if len(kept) < QUEUES_MAX else {}


def _bound(table: Table, index: Index) -> float:
    units = limits.provisioned(table, index)
    if units is None:
        return ON_DEMAND_QUEUE_UNITS
    return max(QUEUE_UNITS_MIN, QUEUE_SECONDS * units.write_units)
