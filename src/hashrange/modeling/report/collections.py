"""Item collections as a table or an index has them: a few made-up items of every kind, in the order of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hashrange.modeling.coverage import projected
from hashrange.modeling.data.generation import make_data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.model import Index, Model, Table
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.report.markup import cut

ITEMS = 300  # that are made up: enough for a few of every kind
VIEWS_MAX = 16
COLLECTIONS_MAX = 8  # of one table or index
ITEMS_OF_A_KIND = 2
ATTRIBUTES_MAX = 14
KEY_CHARS_MAX = 34
VALUE_CHARS_MAX = 24


@dataclass(frozen=True, slots=True)
class ShownAttribute:
    """An attribute beside the key; `key_of` names the index of whose key it is a part."""

    name: str
    value: str
    key_of: str = ""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item in a collection."""

    entity: str
    sort: tuple[str, ...]
    attributes: tuple[ShownAttribute, ...]
    more_attributes: int = 0


@dataclass(frozen=True, slots=True)
class Collection:
    """The items of one partition key; `more` are in it besides."""

    partition: tuple[str, ...]
    items: tuple[ShownItem, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """A table, or the same items as one of its indexes sees them."""

    table: str
    index: str | None
    partition_names: tuple[str, ...]
    sort_names: tuple[str, ...]
    projection: str
    collections: tuple[Collection, ...]
    absent: tuple[str, ...] = ()  # entities that are never in it


def views(model: Model, *, seed: int = 1) -> tuple[View, ...]:
    """The tables of a model with their indexes, up to a number that a reader can take in."""
    data = make_data(model, seed=seed, items=ITEMS)
    by_table: dict[str, list[Sample]] = {}
    for sample in data.all():
        by_table.setdefault(sample.entity.table, []).append(sample)
    places = [(table, index) for table in model.tables.values() for index in (None, *table.indexes)]
    return tuple(
        _view(model, AccessPath(table, index), by_table.get(table.name, []))
        for table, index in places[:VIEWS_MAX]
    )


def view_count(model: Model) -> int:
    """How many there are in all."""
    return sum(1 + len(table.indexes) for table in model.tables.values())


def _view(model: Model, path: AccessPath, samples: list[Sample]) -> View:
    present = {sample.entity.name for sample in samples if _has_key(sample, path)}
    absent = [entity.name for entity in model.entities_of(path.table.name) if entity.name not in present]
    chosen = few_collections(samples, path.table, path.index)[:COLLECTIONS_MAX]
    return View(
        path.table.name,
        None if path.index is None else path.index.name,
        tuple(key.name for key in path.partition),
        tuple(key.name for key in path.sort),
        _projection(path.index),
        tuple(_collection(members, path) for members in chosen),
        tuple(absent),
    )


def _projection(index: Index | None) -> str:
    if index is None:
        return ""
    return ", ".join(index.included) if index.projection == "INCLUDE" else index.projection


def _has_key(sample: Sample, path: AccessPath) -> bool:
    return all(key.name in sample.stored for key in path.key)


def few_collections(samples: Sequence[Sample], table: Table, index: Index | None) -> list[list[Sample]]:
    """Two collections of each mixture of entities, in the order of their keys, each whole."""
    path = AccessPath(table, index)
    collections: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        if _has_key(sample, path):
            collections.setdefault(partition_of(sample, path), []).append(sample)
    chosen: list[list[Sample]] = []
    counts: dict[frozenset[str], int] = {}
    for members in sorted(collections.values(), key=len, reverse=True):
        kinds = frozenset(sample.entity.name for sample in members)
        if any(kinds <= other and count >= 1 + (kinds == other) for other, count in counts.items()):
            continue
        counts[kinds] = counts.get(kinds, 0) + 1
        chosen.append(sorted(members, key=lambda sample: _order(sample, path)))
    return sorted(chosen, key=lambda members: partition_of(members[0], path))


def few_items(members: Sequence[Sample]) -> list[Sample]:
    """No more than two items of a kind, as a Query has them."""
    counts: dict[str, int] = {}
    items = []
    for sample in members:
        count = counts[sample.entity.name] = counts.get(sample.entity.name, 0) + 1
        if count <= ITEMS_OF_A_KIND:
            items.append(sample)
    return items


def partition_of(sample: Sample, path: AccessPath) -> tuple[str, ...]:
    """The partition key of an item, as texts."""
    return tuple(str(sample.stored[key.name]) for key in path.partition)


def _order(sample: Sample, path: AccessPath) -> list[tuple[float, str]]:
    """Numbers by their value, texts by their characters."""
    values = (sample.stored[key.name] for key in path.sort)
    return [(0.0, value) if isinstance(value, str) else (_number(value), "") for value in values]


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _collection(members: list[Sample], path: AccessPath) -> Collection:
    items = few_items(members)
    return Collection(
        tuple(map(_short_key, partition_of(members[0], path))),
        tuple(_item(sample, path) for sample in items),
        len(members) - len(items),
    )


def _item(sample: Sample, path: AccessPath) -> ShownItem:
    own = {key.name for key in path.key}
    names = projected(path.table, path.index)
    keys = {key.name: index.name for index in path.table.indexes for key in AccessPath(path.table, index).key}
    attributes = [
        ShownAttribute(name, cut(str(value), VALUE_CHARS_MAX), keys.get(name, ""))
        for name, value in sample.stored.items()
        if name not in own and (names is None or name in names)
    ]
    attributes.sort(key=lambda attribute: attribute.key_of != "")
    return ShownItem(
        sample.entity.name,
        tuple(_short_key(str(sample.stored[key.name])) for key in path.sort),
        tuple(attributes[:ATTRIBUTES_MAX]),
        max(len(attributes) - ATTRIBUTES_MAX, 0),
    )


def _short_key(text: str) -> str:
    return cut(text, KEY_CHARS_MAX)
