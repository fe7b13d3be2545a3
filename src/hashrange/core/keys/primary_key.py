"""Primary keys: those that requests send, checked and made into key bytes, and those of items."""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, cast

from hashrange.core.errors import EmptyKeyValue, Invalid
from hashrange.core.indexes import too_long_message
from hashrange.core.keys import encoding
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.schema import Index, KeyAttribute, Table
from hashrange.core.values import Item

Helper = Callable[[Any, str, str | None, bool], bytes | None]

helper: Helper | None
try:
    from hashrange.core._keys import string_key as helper
except ImportError:
    helper = None  # it was not built, and Python does all of it

KEY_MISMATCH = "The provided key element does not match the schema"


def of_key(table: Table, key: Item) -> bytes:
    """The key bytes of a Key member: exactly the key attributes, with the declared types."""
    if len(key) != len(table.keys):
        raise Invalid(KEY_MISMATCH)
    for attribute in table.keys:
        value = key.get(attribute.name)
        if value is None or attribute.type not in value:
            raise Invalid(KEY_MISMATCH)
    return _key_bytes(table, key)


def of_key_or_none(table: Table, key: Any) -> bytes | None:
    """The key bytes of a Key member as sent, if nothing is wrong with it; None: `of_key` has to judge."""
    names = table.string_key
    if names is not None and helper is not None:
        return helper(key, names[0], names[1], True)
    hash_key, range_key = table.hash, table.range
    if type(key) is not dict or len(key) != (1 if range_key is None else 2):
        return None
    raw = encoding.scalar_or_none(key.get(hash_key.name), hash_key.type, PARTITION_KEY_BYTES_MAX)
    if raw is None:
        return None
    prefix = encoding.single_prefix(raw)
    if range_key is None:
        return prefix
    sort = encoding.scalar_or_none(key.get(range_key.name), range_key.type, SORT_KEY_BYTES_MAX)
    return None if sort is None else prefix + sort


def of_keys_or_none(table: Table, keys: Sequence[Any]) -> list[bytes] | None:
    """The same of many; None if something is wrong with one of them."""
    names = table.string_key
    found: list[bytes | None]
    if names is not None and helper is not None:
        found = list(map(helper, keys, repeat(names[0]), repeat(names[1]), repeat(True)))
    else:
        found = [of_key_or_none(table, key) for key in keys]
    return None if None in found else cast("list[bytes]", found)


def of_batch_item(table: Table, item: Item) -> bytes:
    """The key bytes of an item in a batch, where a put's key is held to the words of a key, not to those of an item."""
    string_key = _string_key(table, item)
    if string_key is not None:
        return string_key
    for attribute in table.keys:
        value = item.get(attribute.name)
        if value is None or attribute.type not in value:
            raise Invalid(KEY_MISMATCH)
    return _key_bytes(table, item)


def of_item(table: Table, item: Item) -> bytes:
    """The key bytes of a whole item."""
    string_key = _string_key(table, item)
    if string_key is not None:
        return string_key
    for attribute in table.keys:
        value = item.get(attribute.name)
        if value is None:
            raise Invalid(
                f"One or more parameter values were invalid: Missing the key {attribute.name} in the item"
            )
        if attribute.type not in value:
            raise Invalid(
                f"One or more parameter values were invalid: Type mismatch for key {attribute.name} "
                f"expected: {attribute.type} actual: {next(iter(value))}"
            )
    return _key_bytes(table, item)


def _string_key(table: Table, item: Item) -> bytes | None:
    """The key bytes of an item, if its key is strings with which nothing is wrong."""
    names = table.string_key
    return None if names is None or helper is None else helper(item, names[0], names[1], False)


def _key_bytes(table: Table, item: Item) -> bytes:
    partition = item[table.hash.name]
    raw = encoding.scalar(partition)
    if not 0 < len(raw) <= PARTITION_KEY_BYTES_MAX:
        _refuse_length(table.hash, raw, PARTITION_KEY_BYTES_MAX)
    prefix = encoding.single_prefix(raw)
    if table.range is None:
        return prefix
    sort = encoding.scalar(item[table.range.name])
    if not 0 < len(sort) <= SORT_KEY_BYTES_MAX:
        _refuse_length(table.range, sort, SORT_KEY_BYTES_MAX)
    return prefix + sort


def _refuse_length(attribute: KeyAttribute, raw: bytes, bytes_max: int) -> None:
    if raw:
        raise Invalid(too_long_message(bytes_max))
    raise empty_key(attribute)


def empty_key(attribute: KeyAttribute) -> EmptyKeyValue:
    """The refusal of an empty value for an attribute of the primary key."""
    kind = "string" if attribute.type == "S" else "binary"
    return EmptyKeyValue(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        f"an empty {kind} value. Key: {attribute.name}"
    )


def key_of(table: Table, item: Item) -> Item:
    """The primary key attributes of an item."""
    return {attribute.name: item[attribute.name] for attribute in table.keys}


def last_evaluated_key(table: Table, index: Index | None, item: Item) -> Item:
    """What the client sends back to get the next page: the table's key and, in an index, the index's too."""
    names = [key.name for key in table.keys]
    if index is not None:
        names += [key.name for key in index.keys if key.name not in table.key_names]
    return {name: item[name] for name in names}
