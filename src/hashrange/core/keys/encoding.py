"""Keys as bytes that sort: hash, partition key, sort key. The document of record is docs/design/002-key-bytes.md."""

from base64 import b64decode
from typing import Any

from hashrange.core import numbers
from hashrange.core.errors import Invalid
from hashrange.core.values import Malformed, Value, canonical_base64

try:
    from _md5 import md5  # type: ignore[import-not-found]  # takes half as long as OpenSSL's for so few bytes
except ImportError:
    from hashlib import md5

HASH_BYTES = 8
_ZERO = numbers.encode("0")[0]  # a negative number begins with a smaller byte
# The service salts its MD5 with this word, and the same salt gives the same scan order (discovered for dynalite).
_SALT = b"Outliers"


def scalar(value: Value) -> bytes:
    """The bytes of a key attribute: they sort as DynamoDB sorts its values."""
    text = value.get("S")
    if text is not None:
        return text.encode()  # type: ignore[no-any-return]
    text = value.get("N")
    return b64decode(value["B"]) if text is None else numbers.encode(text)


def scalar_or_none(value: Any, kind: str, bytes_max: int) -> bytes | None:
    """The bytes of a value as sent, if it is a legal key attribute of this type; None: a slower path has to judge."""
    if type(value) is not dict or len(value) != 1:
        return None
    content = value.get(kind)
    if type(content) is not str:
        return None
    if kind == "S":
        raw = content.encode("utf-8")
    else:
        try:
            raw = (
                numbers.encode(numbers.canonical(content))
                if kind == "N"
                else b64decode(canonical_base64(content))
            )
        except (Invalid, Malformed):
            return None
    return raw if 0 < len(raw) <= bytes_max else None


def terminated_scalar(value: Value) -> bytes:
    """Like `scalar`, with an end: whatever follows it, such keys sort by the value first."""
    (kind,) = value
    return escape_and_terminate(scalar(value), kind)


def escape_and_terminate(raw: bytes, kind: str) -> bytes:
    """Give the bytes of a scalar an end that sorts before every continuation of them."""
    if kind == "N":
        # A negative number ends with its own terminator, which sorts after every digit.
        return raw if raw[0] < _ZERO else raw + b"\x00"
    return escape(raw) + b"\x00\x01"


def escape(raw: bytes) -> bytes:
    """Keep a zero byte of a string or binary apart from the terminator."""
    return raw.replace(b"\x00", b"\x00\xff")


def partition_hash(partition: bytes) -> bytes:
    """The hash that decides scan order, segments and partitions."""
    digest: bytes = md5(_SALT + partition, usedforsecurity=False).digest()
    return digest[:HASH_BYTES]


def partition_prefix(values: list[Value]) -> bytes:
    """What all keys of one partition key value begin with: the hash, then each attribute behind its length."""
    return joined_prefix([scalar(value) for value in values])


def joined_prefix(parts: list[bytes]) -> bytes:
    """`partition_prefix` for attributes that are bytes already."""
    if len(parts) == 1:
        return single_prefix(parts[0])
    sized = b"".join(len(part).to_bytes(2, "big") + part for part in parts)
    return partition_hash(b"".join(parts)) + sized


def single_prefix(part: bytes) -> bytes:
    """`joined_prefix` of one attribute: every item read or written needs it, so it calls nobody else."""
    digest: bytes = md5(_SALT + part, usedforsecurity=False).digest()
    return digest[:HASH_BYTES] + len(part).to_bytes(2, "big") + part


def index_key(partition: list[Value], sort: list[Value], base_key: bytes) -> bytes:
    """The key of an index row: its own key attributes, then the item's key, which breaks ties."""
    return partition_prefix(partition) + b"".join(map(terminated_scalar, sort)) + base_key


def prefix_end(prefix: bytes) -> bytes:
    """The first key behind every key that starts with this prefix."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        raise ValueError(prefix)
    return stripped[:-1] + bytes([stripped[-1] + 1])
