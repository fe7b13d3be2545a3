"""Secondary indexes: which entry an item has in each, and what a write changes there."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from hashrange.core import capacity
from hashrange.core.errors import EmptyKeyValue, Invalid
from hashrange.core.items import StoredItem, item_size
from hashrange.core.keys import encoding
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.numbers import encode as encode_number
from hashrange.core.schema import Index, KeyAttribute, Table
from hashrange.core.values import Item, Value

helper: Callable[[Any, str, str | bytes | None, bytes], bytes | None] | None
try:
    from hashrange.core._keys import entry_key as helper
except ImportError:
    helper = None  # it was not built, and Python does all of it

_NO_VALUE: Value = {}
# A text of so many characters fits into every key whatever they are: UTF-8 has at most four bytes for one.
_SAFE_CHARS = SORT_KEY_BYTES_MAX // 4


class Entry(NamedTuple):
    """An item as it stands in an index."""

    key: bytes
    item: Item
    size: int


class IndexDiff(msgspec.Struct, frozen=True):
    """What one write does to one index, and what that costs in write units."""

    index: Index
    before: Entry | None
    after: Entry | None
    units: int


def entry(table: Table, index: Index, item: Item, base_key: bytes, size: int | None = None) -> Entry | None:
    """The item's entry, or none: an index is sparse where a key attribute is missing or cannot be a key.

    `size` is that of the item, where it is known: an entry that carries all of the item has the same.
    """
    key = entry_key(index, item, base_key)
    if key is None:
        return None
    if index.projection == "ALL":
        return Entry(key, item, item_size(item) if size is None else size)
    projected = project(table, index, item)
    return Entry(key, projected, item_size(projected))


def entry_key(index: Index, item: Item, base_key: bytes) -> bytes | None:
    """The key of an item's entry; None if it has none."""
    names = index.string_hash
    if names is not None and helper is not None:
        hash_name, range_key = names
        sort: str | bytes | None
        if range_key is None or range_key.type == "S":
            sort = None if range_key is None else range_key.name
            key = helper(item, hash_name, sort, base_key)
        elif range_key.type == "N" and "N" in (number := item.get(range_key.name, _NO_VALUE)):
            sort = encoding.escape_and_terminate(encode_number(number["N"]), "N")
            key = helper(item, hash_name, sort, base_key)
        else:
            key = None
        if key is not None:
            return key
    return _entry_key(index, item, base_key)


def _entry_key(index: Index, item: Item, base_key: bytes) -> bytes | None:
    """The same of any index and any item."""
    partition = _key_parts(index.hash, item, PARTITION_KEY_BYTES_MAX)
    if partition is None:
        return None
    sort = _key_parts(index.range, item, SORT_KEY_BYTES_MAX)
    if sort is None:
        return None
    key = encoding.joined_prefix(partition)
    for attribute, part in zip(index.range, sort, strict=True):
        key += encoding.escape_and_terminate(part, attribute.type)
    return key + base_key


def _key_parts(attributes: tuple[KeyAttribute, ...], item: Item, bytes_max: int) -> list[bytes] | None:
    parts = []
    for attribute in attributes:
        value = item.get(attribute.name)
        if value is None or attribute.type not in value:
            return None
        part = encoding.scalar(value)
        if not 0 < len(part) <= bytes_max:
            return None
        parts.append(part)
    return parts


def project(table: Table, index: Index, item: Item) -> Item:
    """The part of an item that the index carries."""
    names = projected_names(table, index)
    if names is None:
        return item
    return {name: value for name, value in item.items() if name in names}


def projected_names(table: Table, index: Index) -> frozenset[str] | None:
    """The attributes an index carries; None means all of them."""
    if index.projection == "ALL":
        return None
    return table.key_names | index.key_names | frozenset(index.non_key_attributes)


def diffs(
    table: Table,
    base_key: bytes,
    before: StoredItem | None,
    after: Item | None,
    after_size: int | None = None,
) -> list[IndexDiff]:
    """What replacing one image of an item by another does to each index that writes keep up with."""
    if before is None and after is None:
        return []
    old_item, old_size = (None, None) if before is None else (before.item, before.size)
    changed = []
    for index in table.live_indexes:
        old = None if old_item is None else entry(table, index, old_item, base_key, old_size)
        new = None if after is None else entry(table, index, after, base_key, after_size)
        if old != new:
            changed.append(IndexDiff(index, old, new, _units(old, new)))
    return changed


def _units(old: Entry | None, new: Entry | None) -> int:
    if old is None or new is None:
        only = new or old
        return 0 if only is None else capacity.write_units(only.size)
    if old.key != new.key:
        # An index key that changes is a delete and an insert, each rounded by itself.
        return capacity.write_units(old.size) + capacity.write_units(new.size)
    return capacity.write_units(max(old.size, new.size))


def check_index_keys(table: Table, item: Item, *, update: bool = False) -> None:
    """Refuse a value that an index key attribute cannot have, named by the alphabetically first such index."""
    for index, attribute, is_hash in table.index_key_checks:
        value = item.get(attribute.name)
        if value is not None:
            text = value.get(attribute.type)
            if not text or attribute.type == "B" or len(text) > _SAFE_CHARS:
                bytes_max = PARTITION_KEY_BYTES_MAX if is_hash else SORT_KEY_BYTES_MAX
                _check_index_key(index, attribute, value, bytes_max, update=update)
    if not update:
        check_key_totals(table, item)


def check_key_totals(table: Table, item: Item) -> None:
    """Refuse an item where several attributes of one index key are longer together than the key may be."""
    for index in table.composite_indexes:
        _check_total(index.hash, item, PARTITION_KEY_BYTES_MAX)
        _check_total(index.range, item, SORT_KEY_BYTES_MAX)


def _check_total(attributes: tuple[KeyAttribute, ...], item: Item, bytes_max: int) -> None:
    # An item that is older than the index may have another type there: it is just not in the index.
    values = [
        item[attribute.name] for attribute in attributes if attribute.type in item.get(attribute.name, ())
    ]
    if len(values) > 1 and sum(len(encoding.scalar(value)) for value in values) > bytes_max:
        raise Invalid(too_long_message(bytes_max))


def _check_index_key(
    index: Index, attribute: KeyAttribute, value: Value, bytes_max: int, *, update: bool
) -> None:
    if attribute.type not in value:
        raise Invalid(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{attribute.name} Expected: {attribute.type} Actual: {next(iter(value))} IndexName: {index.name}"
        )
    length = len(encoding.scalar(value)) if attribute.type != "N" else 1
    if length == 0:
        raise empty_key(index, attribute, update=update)
    if length > bytes_max:
        raise Invalid(too_long_message(bytes_max))


def empty_key(index: Index, attribute: KeyAttribute, *, update: bool = False) -> EmptyKeyValue:
    """The refusal of an empty value for an attribute of an index's key."""
    kind = "string" if attribute.type == "S" else "binary"
    rule = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
    if update:
        return EmptyKeyValue(
            "One or more parameter values are not valid. The update expression attempted to update a secondary "
            f"index key to a value that is not supported. {rule}"
        )
    return EmptyKeyValue(
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        f"{rule} IndexName: {index.name}, IndexKey: {attribute.name}"
    )


def too_long_message(bytes_max: int) -> str:
    """A key value over its limit: the two limits are worded differently."""
    if bytes_max == PARTITION_KEY_BYTES_MAX:
        # The missing space is the service's own.
        return (
            "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
            f"of{bytes_max} bytes"
        )
    return (
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit "
        f"of {bytes_max} bytes"
    )
