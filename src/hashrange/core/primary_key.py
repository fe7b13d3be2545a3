"""Primary keys as requests send them: checked against the table, then made into key bytes."""

from typing import Any

from hashrange.core import keys
from hashrange.core.errors import EmptyKeyValue, Invalid
from hashrange.core.indexes import too_long_message
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.schema import KeyAttribute, Table
from hashrange.core.values import Item

KEY_MISMATCH = "The provided key element does not match the schema"


def of_key(table: Table, key: Item) -> bytes:
    """The key bytes of a Key member: precisely the key attributes, with the declared types."""
    if len(key) != len(table.keys):
        raise Invalid(KEY_MISMATCH)
    for attribute in table.keys:
        value = key.get(attribute.name)
        if value is None or attribute.type not in value:
            raise Invalid(KEY_MISMATCH)
    return _key_bytes(table, key)


def of_plain_key(table: Table, key: Any) -> bytes | None:
    """The key bytes of a Key member as sent, if there is surely nothing wrong with it; else None."""
    hash_key, range_key = table.hash, table.range
    if type(key) is not dict or len(key) != (1 if range_key is None else 2):
        return None
    raw = keys.plain_scalar(key.get(hash_key.name), hash_key.type, PARTITION_KEY_BYTES_MAX)
    if raw is None:
        return None
    prefix = keys.single_prefix(raw)
    if range_key is None:
        return prefix
    sort = keys.plain_scalar(key.get(range_key.name), range_key.type, SORT_KEY_BYTES_MAX)
    return None if sort is None else prefix + sort


def of_item(table: Table, item: Item) -> bytes:
    """The key bytes of a whole item."""
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


def _key_bytes(table: Table, item: Item) -> bytes:
    partition = item[table.hash.name]
    raw = keys.scalar(partition)
    if not 0 < len(raw) <= PARTITION_KEY_BYTES_MAX:
        _refuse_length(table.hash, raw, PARTITION_KEY_BYTES_MAX)
    prefix = keys.single_prefix(raw)
    if table.range is None:
        return prefix
    sort = keys.scalar(item[table.range.name])
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
