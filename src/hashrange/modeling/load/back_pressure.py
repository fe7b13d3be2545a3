"""Back-pressure: a table refuses writes while an index of it has no room for them.

Indexes are written behind the table, from one queue each. While it is full every write of the table is refused, also
one that does not touch the index (as in `api/throttling/index_queues.py`). So the table's writes settle at the rate at
which the hottest partition of the index, and the index as a whole, keep up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hashrange.modeling.load.day import BackPressure, Bin, PlaceDay, SideDay


def with_back_pressure(days: Sequence[PlaceDay]) -> list[PlaceDay]:
    """The days, with what the indexes of each table do to its writes."""
    behind: dict[str, list[PlaceDay]] = {}
    for day in days:
        if day.index is not None and day.writes.throttled_share:
            behind.setdefault(day.table, []).append(day)
    return [
        day
        if day.index is not None
        else replace(day, back_pressure=_pressures(day, behind.get(day.table, ())))
        for day in days
    ]


def _pressures(table: PlaceDay, indexes: Sequence[PlaceDay]) -> tuple[BackPressure, ...]:
    pressures = (_pressure(table.writes, day) for day in indexes)
    return tuple(sorted(pressures, key=lambda pressure: -pressure.refused_share))


def _pressure(table: SideDay, day: PlaceDay) -> BackPressure:
    refused = [
        _offered(own) * _refused_part(bin_) for own, bin_ in zip(table.bins, day.writes.bins, strict=True)
    ]
    offered = sum(map(_offered, table.bins))
    worst = max(range(len(refused)), key=lambda at: refused[at])
    share = sum(refused) / offered if offered else 0.0
    return BackPressure(day.index or "", share, refused[worst], table.bins[worst].time)


def _offered(bin_: Bin) -> float:
    return bin_.consumed + bin_.throttled


def _refused_part(bin_: Bin) -> float:
    """The part of all writes that must not come for the index to keep up."""
    if not bin_.throttled:
        return 0.0
    kept = min(1.0, 1 / bin_.hottest if bin_.hottest else 1.0, bin_.limit / _offered(bin_))
    return 1 - kept
