"""What requests for several items, and writes with index rows, have touched: added to lists until it is counted."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TypeGuard

import msgspec

from hashrange.api.results import ItemRead, ItemsRead, ItemsWritten, ItemWritten, PlainWritten, Result
from hashrange.capacity.observation import Group
from hashrange.core.limits import READ_UNIT_BYTES
from hashrange.core.schema import Index, Table

_table, _key, _stored = attrgetter("table"), attrgetter("key"), attrgetter("stored")
_consistent, _factor = attrgetter("consistent"), attrgetter("factor")


def _like_one(items: Sequence[ItemRead]) -> float | None:
    """The units of each, if all are of one table and count for as little as an item can: most batches are such."""
    if not items:
        return None
    first, count = items[0], len(items)
    stored = list(filter(None, map(_stored, items)))
    if stored and max(map(len, stored)) > READ_UNIT_BYTES:  # JSON is never shorter than the item's size
        return None
    for same in (_table, _consistent, _factor):
        if list(map(same, items)).count(same(first)) < count:
            return None
    return first.factor * (1.0 if first.consistent else 0.5)


class _Lists(Group):
    """A group that is still growing."""

    keys: list[bytes] = msgspec.field(default_factory=list)
    units: list[float] = msgspec.field(default_factory=list)
    latencies: list[float] = msgspec.field(default_factory=list)
    repeated: list[float] = msgspec.field(default_factory=list)


class Touched:
    """The items of one operation's requests, by table and index."""

    __slots__ = ("_groups", "_operation")

    def __init__(self, operation: str) -> None:
        self._operation = operation
        # A group keeps its table and index, so that their ids tell them apart.
        self._groups: dict[tuple[int, int, bool], _Lists] = {}

    @staticmethod
    def takes(result: Result | None) -> TypeGuard[ItemWritten | ItemsRead | ItemsWritten]:
        """Whether a result is of this kind. Those with items that were refused are not: these are told one by one."""
        return isinstance(result, ItemWritten | ItemsRead | ItemsWritten) and not getattr(
            result, "refusals", ()
        )

    def add(self, result: ItemWritten | ItemsRead | ItemsWritten, latency: float) -> None:
        """Add everything that a request has touched; each of its tables has the latency."""
        if isinstance(result, ItemsRead):
            self._add_read(result.items, latency)
        else:
            self._add_written((result,) if isinstance(result, ItemWritten) else result.items, latency)

    def _add_read(self, items: Sequence[ItemRead], latency: float) -> None:
        units = _like_one(items)
        if units is not None:
            group = self._timed_group(items[0].table, set(), latency, write=False)
            group.keys.extend(map(_key, items))
            group.units.extend([units] * len(items))
            return
        timed: set[int] = set()  # the tables that have the latency
        for item in items:
            group = self._timed_group(item.table, timed, latency, write=False)
            group.keys.append(item.key)
            group.units.append(item.units)

    def _add_written(self, items: Sequence[ItemWritten | PlainWritten], latency: float) -> None:
        timed: set[int] = set()
        group: _Lists | None = None
        for item in items:
            if group is None or group.table is not item.table:
                group = self._timed_group(item.table, timed, latency, write=True)
            if isinstance(item, PlainWritten):
                group.keys.extend(item.keys)
                group.units.extend(item.units)
                continue
            outcome = item.outcome
            group.keys.append(outcome.key)
            group.units.append(float(item.factor * outcome.units))
            if outcome.index_diffs:
                self._add_index_rows(item)

    def _timed_group(self, table: Table, timed: set[int], latency: float, *, write: bool) -> _Lists:
        """The group of a table, which has the latency from now on."""
        group = self._group(table, None, write=write)
        if id(table) not in timed:
            group.latencies.append(latency)
            if timed:
                group.repeated.append(latency)
            timed.add(id(table))
        return group

    def _add_index_rows(self, item: ItemWritten) -> None:
        for diff in item.outcome.index_diffs:
            if not diff.units:
                continue
            row = diff.after or diff.before
            # A local index lies in its table's partitions, and has no capacity of its own.
            group = self._group(item.table, None if diff.index.local else diff.index, write=True)
            group.keys.append(b"" if row is None else row.key)
            group.units.append(float(diff.units))

    def _group(self, table: Table, index: Index | None, *, write: bool) -> _Lists:
        place = (id(table), id(index), write)  # ExecuteTransaction may do either
        group = self._groups.get(place)
        if group is None:
            group = self._groups[place] = _Lists(self._operation, table, index, write)
        return group

    def take(self) -> Iterator[Group]:
        """Hand out what was added since the last time."""
        if self._groups:
            groups, self._groups = self._groups, {}
            yield from groups.values()
