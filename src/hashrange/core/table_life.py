"""How a table's record looks once what was under way is over: passing statuses end by time."""

from collections.abc import Iterator

from hashrange.core.schema import Index, KeyAttribute, Table, Throughput, Warm, changed


def gone(table: Table, now: float) -> bool:
    """Whether a table's deletion is complete, even if its record has not been removed yet."""
    return table.status == "DELETING" and now >= table.settles_at


def settled(table: Table, now: float) -> Table:
    """The record with all passing statuses that are over taken out; the same one if there are none."""
    indexes = tuple(_settled_index(index, now) for index in table.indexes if not _index_gone(index, now))
    if len(indexes) != len(table.indexes):
        table = changed(table, attribute_definitions=used_definitions(table, indexes))
    if indexes != table.indexes:
        table = changed(table, indexes=indexes)
    if table.status in ("CREATING", "UPDATING") and now >= table.settles_at:
        table = changed(
            table,
            status="ACTIVE",
            updating=None,
            table_class_before=None,
            throughput=_completed(table.throughput, table.settles_at),
        )
    if _is_over(table.sse_settles_at, now):
        table = changed(table, sse_settles_at=0.0, sse_key_before=None)
    warm = _settled_warm(table.warm, now)
    return table if warm is table.warm else changed(table, warm=warm)


def is_settled(table: Table) -> bool:
    """Whether nothing about a table passes by time any more."""
    return not any(True for _ in _moments(table))


def _is_over(settles_at: float, now: float) -> bool:
    """Whether a change was under way that is done by now; 0 stands for none."""
    return 0 < settles_at <= now


def _settled_warm(warm: Warm | None, now: float) -> Warm | None:
    if warm is None or not _is_over(warm.settles_at, now):
        return warm
    return changed(warm, settles_at=0.0, previous=None)


def _completed(throughput: Throughput, moment: float) -> Throughput:
    """Capacity whose change is complete: its dates move to this moment (measured)."""
    if throughput.delivered is not None:
        throughput = changed(throughput, delivered=None)
    before = throughput.previous
    if before is None:
        return throughput
    if throughput.read_units > before.read_units or throughput.write_units > before.write_units:
        throughput = changed(throughput, last_increase=moment)
    if throughput.read_units < before.read_units or throughput.write_units < before.write_units:
        throughput = changed(throughput, last_decrease=moment)
    return changed(throughput, previous=None)


def _index_gone(index: Index, now: float) -> bool:
    return index.status == "DELETING" and now >= index.settles_at


def _settled_index(index: Index, now: float) -> Index:
    warm = _settled_warm(index.warm, now)
    if warm is not index.warm:
        index = changed(index, warm=warm)
    if index.status == "ACTIVE" or index.status_at(now) != "ACTIVE":
        return index
    return changed(index, status="ACTIVE", throughput=_completed(index.throughput, index.settles_at))


def used_definitions(table: Table, indexes: tuple[Index, ...]) -> tuple[KeyAttribute, ...]:
    """The attribute definitions that a key of the table or of one of these indexes still uses."""
    used = table.key_names.union(*(index.key_names for index in indexes))
    return tuple(definition for definition in table.attribute_definitions if definition.name in used)


def next_moment(table: Table, now: float) -> float | None:
    """When the next of what is under way with this table is over, if anything is."""
    return min((moment for moment in _moments(table) if moment > now), default=None)


def _moments(table: Table) -> Iterator[float]:
    """When what is under way is over, by what the record says."""
    if table.status != "ACTIVE":
        yield table.settles_at
    if table.sse_settles_at:
        yield table.sse_settles_at
    for index in table.indexes:
        if index.status != "ACTIVE":
            yield index.settles_at
    for warm in (table.warm, *(index.warm for index in table.indexes)):
        if warm is not None and warm.settles_at:
            yield warm.settles_at
