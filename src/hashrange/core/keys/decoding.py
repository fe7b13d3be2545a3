"""From key bytes back to the values of key attributes, for people who want to see which keys are hot."""

from base64 import b64encode
from collections.abc import Sequence

from hashrange.core import numbers
from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.schema import Index, KeyAttribute, Table

_SIZE_BYTES = 2
_END = b"\x00\x01"


def partition_end(key: bytes, attributes: int) -> int:
    """Where the partition key of a table's or index's row ends; 0 if this is no whole partition key."""
    end = HASH_BYTES
    for _ in range(attributes):
        size = int.from_bytes(key[end : end + _SIZE_BYTES], "big")
        end += _SIZE_BYTES + size
        if not size or end > len(key):
            return 0
    return end


def contributor_end(index: Index | None, key: bytes, start: int) -> int:
    """Where the sort key behind a partition key ends: behind that of an index's row the item's key follows."""
    if index is None:
        return len(key)
    end = start
    for attribute in index.range:
        end = _terminated_end(key, end, attribute.type)
    return end


def _terminated_end(key: bytes, start: int, kind: str) -> int:
    if kind != "N":
        return key.index(_END, start) + len(_END)
    # The first byte of a number is neither of its terminators: see core/numbers.py.
    terminator = b"\x66" if key[start] < numbers.encode("0")[0] else b"\x00"
    return key.index(terminator, start + 1) + 1


def key_texts(table: Table, index: Index | None, key: bytes) -> list[str]:
    """The values of a contributor's key attributes as text: binary ones in base64."""
    owner_hash = (table.hash,) if index is None else index.hash
    texts, at = [], HASH_BYTES
    for attribute in owner_hash:
        size = int.from_bytes(key[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        texts.append(_text(key[at : at + size], attribute.type))
        at += size
    if at == len(key):
        return texts
    if index is None:
        sort = () if table.range is None else (table.range,)
        return texts + [_text(key[at:], attribute.type) for attribute in sort]
    return texts + _terminated_texts(key, at, index.range)


def _terminated_texts(key: bytes, at: int, attributes: Sequence[KeyAttribute]) -> list[str]:
    texts = []
    for attribute in attributes:
        end = _terminated_end(key, at, attribute.type)
        raw = key[at:end]
        if attribute.type == "N":
            texts.append(_text(raw.removesuffix(b"\x00"), "N"))
        else:
            texts.append(_text(raw.removesuffix(_END).replace(b"\x00\xff", b"\x00"), attribute.type))
        at = end
    return texts


def _text(raw: bytes, kind: str) -> str:
    if kind == "S":
        return raw.decode("utf-8", "replace")
    return numbers.decode(raw) if kind == "N" else b64encode(raw).decode("ascii")
