"""How a table's record looks once what was under way is over: passing statuses end by time."""

from hashrange.core.schema import Index, KeyAttribute, Table, Throughput, changed


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
    return table


def _completed(throughput: Throughput, moment: float) -> Throughput:
    """Capacity whose change is complete: its dates move to this moment (measured)."""
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
    if index.status == "ACTIVE" or index.status_at(now) != "ACTIVE":
        return index
    return changed(index, status="ACTIVE", throughput=_completed(index.throughput, index.settles_at))


def used_definitions(table: Table, indexes: tuple[Index, ...]) -> tuple[KeyAttribute, ...]:
    """The attribute definitions that a key of the table or of one of these indexes still uses."""
    used = table.key_names.union(*(index.key_names for index in indexes))
    return tuple(definition for definition in table.attribute_definitions if definition.name in used)


def next_moment(table: Table, now: float) -> float | None:
    """When the next passing status of this table is over, if one is under way."""
    moments = [index.settles_at for index in table.indexes if index.status != "ACTIVE"]
    if table.status != "ACTIVE":
        moments.append(table.settles_at)
    return min((moment for moment in moments if moment > now), default=None)
