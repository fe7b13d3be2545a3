"""What requests for several items, and writes with index rows, have touched: added to lists until it is counted."""

from collections.abc import Iterator
from typing import TypeGuard

import msgspec

from hashrange.api.results import ItemsRead, ItemsWritten, ItemWritten, Result
from hashrange.capacity.observation import Group
from hashrange.core.schema import Index, Table


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
        timed: set[int] = set()  # the tables that have the latency
        items = (result,) if isinstance(result, ItemWritten) else result.items
        is_write = not isinstance(result, ItemsRead)
        group: _Lists | None = None
        for item in items:
            if group is None or group.table is not item.table:
                group = self._group(item.table, None, write=is_write)
                if id(group.table) not in timed:
                    group.latencies.append(latency)
                    if timed:
                        group.repeated.append(latency)
                    timed.add(id(group.table))
            if isinstance(item, ItemWritten):
                outcome = item.outcome
                group.keys.append(outcome.key)
                if outcome.index_diffs:
                    self._add_index_rows(item)
            else:
                group.keys.append(item.key)
            group.units.append(item.units)

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
