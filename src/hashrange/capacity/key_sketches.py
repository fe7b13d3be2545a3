"""Key sketches: which keys of the tables with Contributor Insights are accessed and throttled most, by the minute."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from hashrange.capacity.heavy_hitters import Summary
from hashrange.capacity.observation import Observation
from hashrange.capacity.series import MINUTE
from hashrange.core.keys import key_parts
from hashrange.core.schema import Index, Insights, Table

# Partition keys and whole keys, by capacity consumed (C) and by throttles (T): as the service's rules are called.
Rule = Literal["PKC", "SKC", "PKT", "SKT"]
RULES: tuple[Rule, ...] = ("PKC", "SKC", "PKT", "SKT")
WRITE_WEIGHT = 3  # developer guide: ConsumedThroughputUnits count a write unit three times
SKETCHES_MAX = 1000  # of one minute; the service has a quota of 100 rules
_LATE_MINUTES = 3

_WHOLE_KEYS = frozenset(
    {
        *("BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        *("TransactGetItems", "TransactWriteItems"),
    }
)
_PARTITION_KEYS = frozenset({"Query"})


class Sketched(NamedTuple):
    """What a sketch is about."""

    table_number: int
    slot: int
    rule: Rule
    minute: int


class KeySketches:
    """Counts the keys of observations. Statements of PartiQL are not counted, as by the service."""

    def __init__(self) -> None:
        self._sketches: dict[Sketched, Summary] = {}
        self._changed: set[Sketched] = set()
        self._latest = 0
        self.lost = 0  # keys for which there was no room

    def count(self, observations: Sequence[Observation]) -> None:
        """Add observations: the subscriber."""
        for observation in observations:
            table = observation.table
            if table is None:
                continue
            index = observation.index
            insights = table.insights if index is None else index.insights
            if insights is not None and insights.throttled_since is not None:
                self._count(table, index, insights, observation)

    def _count(self, table: Table, index: Index | None, insights: Insights, observation: Observation) -> None:
        whole = observation.operation in _WHOLE_KEYS
        if not whole and observation.operation not in _PARTITION_KEYS:
            return
        key = observation.key
        end = key_parts.collection_end(key, 1 if index is None else len(index.hash))
        if end > len(key):
            return  # the page began at the beginning of a partition
        minute = int(observation.time // MINUTE) * MINUTE
        self._latest = max(self._latest, minute)
        if observation.outcome == "throttle":
            # A base table's write that an index has no capacity for counts for neither (developer guide).
            if index is not None and observation.operation not in _PARTITION_KEYS:
                return
            kinds: tuple[Rule, Rule] = ("PKT", "SKT")
            weight = observation.weight
        else:
            if insights.accessed_since is None:
                return
            kinds = ("PKC", "SKC")
            weight = observation.read_units + WRITE_WEIGHT * observation.write_units
        if not weight:
            return
        slot = 0 if index is None else index.slot
        self._add(Sketched(table.number, slot, kinds[0], minute), key[:end], weight, observation.weight)
        if whole and (table.range is not None if index is None else index.range):
            pair = _pair(table, index, key, end)
            self._add(Sketched(table.number, slot, kinds[1], minute), pair, weight, observation.weight)

    def _add(self, sketched: Sketched, key: bytes, weight: float, events: float) -> None:
        summary = self._sketches.get(sketched)
        if summary is None:
            if len(self._sketches) >= SKETCHES_MAX:
                self._forget()
            if len(self._sketches) >= SKETCHES_MAX:
                self.lost += 1
                return
            summary = self._sketches[sketched] = Summary(counts={}, hashes=[])
        summary.add(key, weight, events)
        self._changed.add(sketched)

    def _forget(self) -> None:
        """Make room: what is some minutes old and written does not change any more."""
        oldest = self._latest - _LATE_MINUTES * MINUTE
        for sketched in [one for one in self._sketches if one.minute < oldest and one not in self._changed]:
            del self._sketches[sketched]

    def take(self, most: int, kept: Callable[[Summary], bytes]) -> list[tuple[Sketched, bytes]]:
        """Hand out what has changed, packed; all of a minute again, for it replaces what was written before."""
        taken = []
        for _ in range(min(most, len(self._changed))):
            sketched = self._changed.pop()
            taken.append((sketched, kept(self._sketches[sketched])))
        self._forget()
        return taken

    def put_back(self, sketches: Sequence[Sketched]) -> None:
        """Have those written again that could not be."""
        self._changed.update(sketched for sketched in sketches if sketched in self._sketches)


def _pair(table: Table, index: Index | None, key: bytes, end: int) -> bytes:
    """Partition key and sort key. Of a local index's row, in which the item's own key follows: those of the item."""
    if index is None and table.local_indexes:
        item = key.find(key[:end], end)
        if item > 0:
            return key[item:]
    return key_parts.own_key(index, key)
