"""The parts of key bytes: where the partition key ends, and where in an index row the item's own key begins."""

from base64 import b64encode

from hashrange.core import numbers
from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.schema import Index, KeyAttribute, ScalarType, Table
from hashrange.core.values import Item, Value

_LENGTH_BYTES = 2
_TEXT_AT = HASH_BYTES + _LENGTH_BYTES  # where the partition key of an item begins
_NEGATIVE_END = 102  # see numbers.encode
_ZERO = 0x80


def collection_end(key: bytes, attributes: int = 1) -> int:
    """Where the partition key ends, which has so many attributes."""
    at = HASH_BYTES
    for _ in range(attributes):
        at += _LENGTH_BYTES + int.from_bytes(key[at : at + _LENGTH_BYTES], "big")
    return at


def own_key(index: Index | None, key: bytes) -> bytes:
    """The key of an item, or of an index row without the item's key at its end: rows with equal ones stay together."""
    if index is None:
        return key
    at = collection_end(key, len(index.hash))
    for attribute in index.range:
        at = _number_end(key, at) if attribute.type == "N" else _text_end(key, at)
    return key[:at]


def _text_end(key: bytes, at: int) -> int:
    end = key.find(b"\x00\x01", at)
    return len(key) if end < 0 else end + 2


def _number_end(key: bytes, at: int) -> int:
    if at >= len(key):
        return len(key)
    end = key.find(bytes([_NEGATIVE_END]) if key[at] < _ZERO else b"\x00", at + 1)
    return len(key) if end < 0 else end + 1


def item_attributes(table: Table, key: bytes) -> Item:
    """The key attributes of an item whose whole key this is."""
    names = table.string_key
    if names is None:
        values = attributes(table, None, key)
        if values is None:
            raise ValueError(key)
        return values
    end = _TEXT_AT + int.from_bytes(key[HASH_BYTES:_TEXT_AT], "big")
    item: Item = {names[0]: {"S": key[_TEXT_AT:end].decode()}}
    if names[1] is not None:
        item[names[1]] = {"S": key[end:].decode()}
    return item


def attributes(table: Table, index: Index | None, key: bytes) -> Item | None:
    """The attributes that a key was made of, those of an index without the item's own; None if it is cut off."""
    hash_keys = (table.hash,) if index is None else index.hash
    range_keys = table.keys[1:] if index is None else index.range
    try:
        values = _partition_values(hash_keys, key)
        at = collection_end(key, len(hash_keys))
        for attribute in range_keys:
            if index is None:
                end, raw = len(key), key[at:]
            elif attribute.type == "N":
                end = _number_end(key, at)
                raw = key[at:end].removesuffix(b"\x00")
            else:
                end = _text_end(key, at)
                raw = key[at : end - 2].replace(b"\x00\xff", b"\x00")
            values[attribute.name] = _value(attribute.type, raw)
            at = end
    except (ValueError, IndexError, ArithmeticError):
        return None
    return values


def partition_attributes(table: Table, index: Index | None, key: bytes) -> Item | None:
    """The attributes of the partition key alone."""
    try:
        return _partition_values((table.hash,) if index is None else index.hash, key)
    except (ValueError, IndexError, ArithmeticError):
        return None


def _partition_values(hash_keys: tuple[KeyAttribute, ...], key: bytes) -> Item:
    values: Item = {}
    at = HASH_BYTES
    for attribute in hash_keys:
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(key[at:start], "big")
        if at > len(key):
            raise ValueError(key)
        values[attribute.name] = _value(attribute.type, key[start:at])
    return values


def _value(kind: ScalarType, raw: bytes) -> Value:
    if not raw:
        raise ValueError(raw)
    if kind == "S":
        return {"S": raw.decode()}
    return {"N": numbers.decode(raw)} if kind == "N" else {"B": b64encode(raw).decode()}
