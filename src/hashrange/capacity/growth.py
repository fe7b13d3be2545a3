"""Growth of on-demand capacity: twice the highest traffic so far, at most doubled within half an hour."""

from math import ceil

from hashrange.capacity import limits, shares
from hashrange.capacity.heat import Window
from hashrange.core.limits import TABLE_CAPACITY_UNITS_MAX
from hashrange.core.schema import Index, Table, UnitPair, Warm, changed

GROWTH_SECONDS = 1800  # developer guide: more than twice the previous peak within 30 minutes may be throttled
_MINUTES = 5
# A peak is stored when it is so much higher than the one before: every time is a change of the table's record.
_NOTED_FACTOR = 1.1


def grown(table: Table, index: Index | None, windows: list[Window], now: float) -> Warm | None:
    """What an on-demand table or index serves at once after the traffic of the last minutes; None: as before.

    A peak that cannot be followed yet is kept, so that it counts when the half hour is over.
    """
    owner = table if index is None else index
    warm = owner.warm
    if not table.on_demand or warm is None or warm.previous is not None:
        return None
    before = [limits.instant_units(owner, write=write) for write in (False, True)]
    kept = (0, 0) if warm.peak is None else (warm.peak.read_units, warm.peak.write_units)
    peaks = [max(kept[at], _peak(windows, now, write=bool(at))) for at in (0, 1)]
    if all(2 * peak <= units for peak, units in zip(peaks, before, strict=True)):
        return None
    if now - max(warm.grown_at, table.created_at, table.on_demand_since or 0.0) >= GROWTH_SECONDS:
        after = [
            round(min(max(units, 2 * peak), 2 * units, max(units, TABLE_CAPACITY_UNITS_MAX)))
            for peak, units in zip(peaks, before, strict=True)
        ]
        return changed(warm, read_units=after[0], write_units=after[1], peak=None, grown_at=now)
    if any(peak > kept[at] * _NOTED_FACTOR for at, peak in enumerate(peaks)):
        return changed(warm, peak=UnitPair(read_units=peaks[0], write_units=peaks[1]))
    return None


def _peak(windows: list[Window], now: float, *, write: bool) -> int:
    """The highest traffic of the last minutes, in units per second."""
    return max(
        ceil(shares.per_second(sum(one.units for one in shares.of_minute(windows, minute, write=write)), 1))
        for minute in shares.complete_minutes(now, _MINUTES)
    )
