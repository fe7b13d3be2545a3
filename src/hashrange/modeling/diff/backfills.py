"""Backfills: the items, bytes and units that it takes to bring what is stored to the new version."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from hashrange.core.capacity import read_units, write_units
from hashrange.core.limits import READ_UNIT_BYTES
from hashrange.modeling.coverage import projected
from hashrange.modeling.diff.changes import rebuilt_tables
from hashrange.modeling.diff.likeness import is_same_index, is_same_key
from hashrange.modeling.diff.work import Work, WorkKind
from hashrange.modeling.model import Entity, Index, Model, Table
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import COUNT_MAX, entry_share, item_count
from hashrange.modeling.sizes import entry_size, item_size

_UNITS_BYTES_MAX = 1 << 100  # sizes past it are cut, so that whole numbers stay small


@dataclass(frozen=True, slots=True)
class Backfill:
    """Of one entity. `write_units` are the target's, `index_units` those of its indexes by name.

    `check_units` are the source's, which the copy of an item checks in the same transaction; `delete_units` are what
    it takes to delete the old items, none where their table is dropped.
    """

    entity: str
    kind: WorkKind
    source: str
    target: str
    reasons: tuple[str, ...]
    items: float
    bytes: float
    write_units: float
    check_units: float = 0.0
    delete_units: float = 0.0
    verify_units: float = 0.0  # beside the second scan of the source
    index_units: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """An index that DynamoDB fills from the items that have its key already: it pays writes, and no reads."""

    table: str
    index: str
    entries: float
    bytes: float
    write_units: float


@dataclass(frozen=True, slots=True)
class TableScan:
    """A table that is read twice, strongly consistent: by the backfill, and to verify it."""

    table: str
    items: float
    bytes: float
    read_units: float


def backfill(old: Model, new: Model, work: Work) -> Backfill:
    """The backfill of an entity."""
    items = min(item_count(old, work.old) * work.share, COUNT_MAX)
    before, after = _item_bytes(old, work.old), _item_bytes(new, work.new)
    copied = work.kind != "update"
    is_dropped = work.old.table not in new.tables or work.old.table in rebuilt_tables(old, new)
    entries = _new_entries(new, work) if copied else _changed_entries(old, new, work)
    return Backfill(
        work.old.name,
        work.kind,
        work.old.table,
        work.new.table,
        work.reasons,
        items,
        min(items * after, COUNT_MAX),
        items * (2 * write_units(after) if copied else write_units(max(before, after))),
        items * 2 * write_units(before) if copied else 0.0,
        items * _deletion(old, work) if copied and not is_dropped else 0.0,
        items * _verification(work, before, after),
        {name: items * units for name, units in entries.items() if units},
    )


def _bytes(size: float) -> int:
    return math.ceil(min(max(size, 0.0), _UNITS_BYTES_MAX))


def _item_bytes(model: Model, entity: Entity) -> int:
    return _bytes(item_size(model, entity).mean)


def _verification(work: Work, before: int, after: int) -> float:
    """For each item the read of its copy; in another table, that table's scan and the read of the origin as well."""
    if work.kind == "update":
        return 0.0
    copies = read_units(after, consistent=True)
    if work.kind == "rekey":
        return copies
    return copies + after / READ_UNIT_BYTES + read_units(before, consistent=True)


def _entry(model: Model, entity: Entity, index: Index) -> float:
    """The units of a row in an index, for each item on average."""
    size = entry_size(model, entity, index)
    return 0.0 if size is None else entry_share(model, entity, index) * write_units(_bytes(size.mean))


def _new_entries(new: Model, work: Work) -> dict[str, float]:
    table = new.tables[work.new.table]
    return {index.name: _entry(new, work.new, index) for index in table.indexes}


def _deletion(old: Model, work: Work) -> float:
    table = old.tables[work.old.table]
    rows = sum(_entry(old, work.old, index) for index in table.indexes)
    return write_units(_item_bytes(old, work.old)) + rows


def _changed_entries(old: Model, new: Model, work: Work) -> dict[str, float]:
    """A row whose key changes is deleted and put; one of which another attribute changes is written once."""
    before, table = old.tables[work.old.table], new.tables[work.new.table]
    units = {}
    for index in table.indexes:
        entry = _entry(new, work.new, index)
        if not _has_key(work.old, work.new, table, index):
            stored = before.index(index.name)
            same = stored is not None and is_same_index(stored, index)
            units[index.name] = entry + (_entry(old, work.old, index) if same else 0.0)
        elif (names := projected(table, index)) is None or work.attributes & names:
            units[index.name] = entry
    # `items` are only those that are touched, the entries are for each item of the entity.
    return {name: value / work.share for name, value in units.items()} if work.share else {}


def _has_key(before: Entity, after: Entity, table: Table, index: Index) -> bool:
    return all(is_same_key(before, after, key.name) for key in AccessPath(table, index).key)


def index_builds(old: Model, new: Model) -> Iterator[IndexBuild]:
    """Global indexes that tables get which stay."""
    rebuilt = rebuilt_tables(old, new)
    for name, table in new.tables.items():
        if name not in old.tables or name in rebuilt:
            continue
        for index in table.indexes:
            if not is_same_index(old.tables[name].index(index.name), index):
                yield _build(old, new, table, index)


def _build(old: Model, new: Model, table: Table, index: Index) -> IndexBuild:
    entries = size = units = 0.0
    for entity in old.entities_of(table.name):
        after = new.entities.get(entity.name)
        if after is None or after.table != table.name or not _has_key(entity, after, table, index):
            continue
        count = item_count(old, entity) * entry_share(new, after, index)
        row = entry_size(new, after, index)
        if row is not None:
            entries += count
            size += count * row.mean
            units += count * write_units(_bytes(row.mean))
    return IndexBuild(table.name, index.name, *(min(value, COUNT_MAX) for value in (entries, size, units)))


def table_scans(old: Model, backfills: tuple[Backfill, ...]) -> Iterator[TableScan]:
    """Each table that items are read from: a Scan reads all of its entities, whichever are wanted."""
    for name in dict.fromkeys(part.source for part in backfills):
        rows = [(item_count(old, entity), item_size(old, entity).mean) for entity in old.entities_of(name)]
        items = min(sum(count for count, _ in rows), COUNT_MAX)
        size = min(sum(count * mean for count, mean in rows), COUNT_MAX)
        yield TableScan(name, items, size, 2 * read_units(_bytes(size), consistent=True))
