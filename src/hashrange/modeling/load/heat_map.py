"""How hot each partition is over the day: what a picture of partitions and times is made of."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from hashrange.core.partitions import Partitions

SLOT_MINUTES = 30
SLOTS = 48
ROWS_MAX = 24


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A partition as it is at the end of the day: its number, and how much of its ceiling each half hour asked for.

    Before a split the parts show the heat of the partition that they were.
    """

    partition: int
    uses: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The hottest partitions, in the order of their keys; `cooler` are not shown."""

    rows: tuple[HeatRow, ...] = ()
    cooler: int = 0


NO_HEAT = HeatMap()


class HeatRecord:
    """Notes the demand on every partition while a day passes; of a half hour, the hottest minute."""

    def __init__(self) -> None:
        self._slots: dict[int, dict[bytes, float]] = {}

    def note(self, minute: int, bounds: Partitions, uses: list[float]) -> None:
        """`uses` are shares of a partition's ceiling."""
        slot = self._slots.setdefault(minute // SLOT_MINUTES, {})
        for start, use in zip(bounds, uses, strict=True):
            if use > slot.get(start, -1.0):
                slot[start] = use

    def map(self, bounds: Partitions) -> HeatMap:
        """The picture, by the partitions that there are in the end."""
        columns = [sorted(self._slots.get(slot, {}).items()) for slot in range(SLOTS)]
        starts = [[start for start, _ in column] for column in columns]
        rows = [
            HeatRow(
                number + 1,
                tuple(_use(column, starts[at], start) for at, column in enumerate(columns)),
            )
            for number, start in enumerate(bounds)
        ]
        hottest = sorted(rows, key=lambda row: -max(row.uses))[:ROWS_MAX]
        shown = sorted(hottest, key=lambda row: row.partition)
        return HeatMap(tuple(shown), len(rows) - len(shown))


def _use(column: list[tuple[bytes, float]], starts: list[bytes], start: bytes) -> float:
    """The use of the partition that had this key: the last one that begins at it, or before."""
    at = bisect_right(starts, start)
    return round(column[at - 1][1], 4) if at else 0.0
