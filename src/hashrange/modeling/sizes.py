"""Sizes of items and index entries, in bytes as DynamoDB counts them: names and values of all attributes."""

from __future__ import annotations

from dataclasses import dataclass

from hashrange.core import numbers
from hashrange.core.errors import Invalid, RequestInvalid
from hashrange.modeling.coverage import projected
from hashrange.modeling.memo import once_per_model
from hashrange.modeling.model import (
    Attribute,
    Entity,
    Field,
    Index,
    KeyAttribute,
    Literally,
    Model,
    Table,
    Template,
)
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import COUNT_MAX, entry_share, groups, grown
from hashrange.modeling.value_texts import field_text


@dataclass(frozen=True, slots=True)
class Size:
    """In bytes; `maximum` is that of the largest item that the model foresees."""

    mean: float
    maximum: float

    def __add__(self, other: Size) -> Size:
        return Size(self.mean + other.mean, self.maximum + other.maximum)


# Characters of values of a format: on average, and at most.
_TEXTS = {
    "uuid": Size(36, 36),
    "ulid": Size(26, 26),
    "email": Size(24, 64),
    "timestamp": Size(20, 20),
    "date": Size(10, 10),
    "epoch": Size(10, 10),
    "integer": Size(6, 10),
    "decimal": Size(7, 12),
    "text": Size(24, 100),
}
_NUMBERS = {"epoch": Size(6, 6), "integer": Size(4, 6), "decimal": Size(5, 8)}
_NUMBER_BYTES_MAX = 21
_CONTAINER = Size(3, 3)  # a list or a map; each element takes one byte more
_DEFAULTS = {
    "S": Size(24, 100),
    "N": Size(5, 8),
    "B": Size(32, 100),
    "BOOL": Size(1, 1),
    "NULL": Size(1, 1),
    "L": Size(103, 1003),
    "M": Size(103, 1003),
    "SS": Size(100, 1000),
    "NS": Size(50, 500),
    "BS": Size(100, 1000),
}


def value_size(attribute: Attribute) -> Size:
    """The size of an attribute's values where it has one."""
    if attribute.size is not None:
        container = _CONTAINER if attribute.type in ("L", "M") else Size(0, 0)
        maximum = attribute.size_max if attribute.size_max is not None else attribute.size
        return Size(attribute.size, max(maximum, attribute.size)) + container
    if attribute.values:
        return _listed(attribute)
    if attribute.type == "N":
        return _number_size(attribute)
    size = (
        _TEXTS[attribute.format] if attribute.format and attribute.type == "S" else _DEFAULTS[attribute.type]
    )
    return (
        size if attribute.size_max is None else Size(min(size.mean, attribute.size_max), attribute.size_max)
    )


def _listed(attribute: Attribute) -> Size:
    sizes = [_scalar_size(value, attribute) for value in attribute.values]
    return Size(sum(sizes) / len(sizes), max(sizes))


def _scalar_size(value: object, attribute: Attribute) -> int:
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int | float) and attribute.type != "S":
        return _digits_size(value)
    return len(field_text(value, Field("")).encode("utf-8", "surrogatepass"))


def _digits_size(value: float) -> int:
    try:
        return numbers.size(numbers.canonical(str(value)))
    except (Invalid, RequestInvalid):
        return _NUMBER_BYTES_MAX  # DynamoDB would refuse it; the loader says so


def _number_size(attribute: Attribute) -> Size:
    default = _NUMBERS.get(attribute.format or "", _DEFAULTS["N"])
    if attribute.minimum is None and attribute.maximum is None:
        return default
    low, high = int(attribute.minimum or 0), int(attribute.maximum or 0)
    # One less than a round number has no zeros at its end, which DynamoDB does not count.
    largest = max(_digits_size(low), _digits_size(high - 1 if high > 0 else high))
    largest += 2 if attribute.format == "decimal" else 0
    return Size(min(default.mean, largest), largest)


def text_size(attribute: Attribute | None, field: Field) -> Size:
    """The length of a value as text in a key."""
    size = _TEXTS["text"] if attribute is None else _plain_text_size(attribute)
    if field.pad:
        size = Size(max(size.mean, field.pad), max(size.maximum, field.pad))
        if attribute is not None and attribute.type == "N":
            size = Size(field.pad, max(field.pad, 1))
    return Size(min(size.mean, field.cut), min(size.maximum, field.cut)) if field.cut else size


def _plain_text_size(attribute: Attribute) -> Size:
    if attribute.values:
        lengths = [
            len(field_text(value, Field("")).encode("utf-8", "surrogatepass")) for value in attribute.values
        ]
        return Size(sum(lengths) / len(lengths), max(lengths))
    if attribute.type == "N":
        return _TEXTS.get(attribute.format or "integer", _TEXTS["integer"])
    return value_size(attribute)


def key_size(entity: Entity, template: Template, key: KeyAttribute) -> Size:
    """The size of the value that a template makes."""
    match template.pieces:
        case (Field(pad=0, cut=0) as only,) if only.attribute in entity.attributes:
            attribute = entity.attributes[only.attribute]
            return value_size(attribute) if key.type != "S" else _plain_text_size(attribute)
    total = Size(0, 0)
    for piece in template.pieces:
        match piece:
            case Literally():
                length = len(piece.text.encode("utf-8", "surrogatepass"))
                total += Size(length, length)
            case Field():
                total += text_size(entity.attributes.get(piece.attribute), piece)
            case _:
                digits = len(str(max(piece.shards - 1, 0)))
                total += Size(digits, digits)
    return total


@once_per_model
def item_size(model: Model, entity: Entity, months: float = 0) -> Size:
    """The size of an item in its table."""
    size = _whole_size(model, entity)
    growth = entity.item_growth
    return Size(
        min(grown(size.mean, growth, months), COUNT_MAX), min(grown(size.maximum, growth, months), COUNT_MAX)
    )


@once_per_model
def entry_size(model: Model, entity: Entity, index: Index) -> Size | None:
    """The size of an item's row in an index; None if it never has one."""
    if entry_share(model, entity, index) <= 0:
        return None
    table = model.tables[entity.table]
    names = projected(table, index)
    return (
        _whole_size(model, entity)
        if names is None
        else _attributes_size(model, entity, table_keys(table), names)
    )


@once_per_model
def _whole_size(model: Model, entity: Entity) -> Size:
    """Of all attributes: an item's, and that of its row in each index that projects them all."""
    return _attributes_size(model, entity, table_keys(model.tables[entity.table]), None)


def table_keys(table: Table) -> dict[str, KeyAttribute]:
    """The key attributes of a table and all of its indexes: an item has them all, wherever it is stored."""
    paths = (AccessPath(table), *(AccessPath(table, index) for index in table.indexes))
    return {key.name: key for path in paths for key in path.key}


def _attributes_size(
    model: Model, entity: Entity, keys: dict[str, KeyAttribute], names: frozenset[str] | None
) -> Size:
    total = Size(0, 0)
    shares = _key_shares(model, entity) if names is None else {}
    for name, attribute in entity.attributes.items():
        if names is None or name in names:
            size = _named(name, value_size(attribute))
            total += Size(size.mean * (1 - attribute.optional), size.maximum)
    for name, template in entity.keys.items():
        if name not in entity.attributes and (names is None or name in names):
            size = _named(name, key_size(entity, template, keys.get(name, KeyAttribute(name))))
            total += Size(size.mean * shares.get(name, 1.0), size.maximum)
    return total


def _key_shares(model: Model, entity: Entity) -> dict[str, float]:
    """The share of items that have each key attribute, which for those of sparse indexes is not all."""
    table = model.tables[entity.table]
    shares = {}
    for index in reversed(table.indexes):
        share = entry_share(model, entity, index)
        shares.update(dict.fromkeys((key.name for key in AccessPath(table, index).key), share))
    return shares | dict.fromkeys((key.name for key in AccessPath(table).key), 1.0)


def _named(name: str, size: Size) -> Size:
    length = len(name.encode("utf-8", "surrogatepass"))
    return Size(size.mean + length, size.maximum + length)


def collection_bytes(model: Model, table: Table, index: Index | None, months: float = 0) -> Size:
    """The item collection of one partition key, of all entities together: the largest on average, and at most."""
    means: dict[str, float] = {}
    maxima: dict[str, float] = {}
    for group in groups(model, table, index, months):
        size = (
            item_size(model, group.entity, months)
            if index is None
            else entry_size(model, group.entity, index)
        )
        if size is not None:
            means[group.partition] = means.get(group.partition, 0.0) + group.mean * size.mean
            maxima[group.partition] = maxima.get(group.partition, 0.0) + group.maximum * size.mean
    return Size(
        min(max(means.values(), default=0.0), COUNT_MAX), min(max(maxima.values(), default=0.0), COUNT_MAX)
    )


__all__ = [
    "Size",
    "collection_bytes",
    "entry_share",
    "entry_size",
    "item_size",
    "key_size",
    "table_keys",
    "text_size",
    "value_size",
]
