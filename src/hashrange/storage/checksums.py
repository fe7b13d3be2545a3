"""The checksum of every stored row: CRC-32 over key and value, in the first four bytes of what is stored.

Because the key is part of it, a row that was moved to another key or table does not pass either. The document of record
is docs/design/011-checksums-and-log.md.
"""

import ctypes
from collections.abc import Iterable, Sequence
from operator import add, itemgetter
from struct import Struct, pack
from struct import error as StructError  # noqa: N812

from zlib_ng import zlib_ng
from zlib_ng.zlib_ng import crc32

from hashrange.storage.errors import DamagedRow

CHECKSUM_BYTES = 4
_KNOWN = b"123456789", 0xCBF43926  # a text and its CRC-32
_checksum = Struct(">I").unpack_from
_pack = Struct(">I").pack
_sum, _value = itemgetter(slice(0, CHECKSUM_BYTES)), itemgetter(slice(CHECKSUM_BYTES, None))


def sealed(key: bytes, value: bytes) -> bytes:
    """The stored form of a value."""
    return crc32(value, crc32(key)).to_bytes(4, "big") + value


def sealed_values(keys: Iterable[bytes], values: Sequence[bytes]) -> Iterable[bytes]:
    """The stored forms of many values, without a line of Python for each of them."""
    return map(add, map(_pack, map(crc32, values, map(crc32, keys))), values)


def opened(key: bytes, stored: bytes) -> bytes:
    """The value of a stored form; raises if one of the two has changed since it was sealed."""
    value = stored[4:]
    try:
        if crc32(value, crc32(key)) == _checksum(stored)[0]:
            return value
    except StructError:
        pass  # it is shorter than a checksum
    raise DamagedRow(key)


def opened_values(keys: Sequence[bytes], stored: Sequence[bytes]) -> list[bytes] | None:
    """The values of many stored forms, for a fraction of what `opened` costs for each; None if one has changed."""
    values = list(map(_value, stored))
    sums = map(crc32, values, map(crc32, keys))
    if b"".join(map(_sum, stored)) != pack(f">{len(values)}I", *sums):
        return None
    return values


def native_crc32() -> int | None:
    """The address of the function that computes checksums, for helpers in C; None if it is not to be found."""
    try:
        function = ctypes.CDLL(zlib_ng.__file__).zng_crc32
    except (OSError, AttributeError):
        return None
    function.argtypes, function.restype = (ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint32), ctypes.c_uint32
    text, expected = _KNOWN
    return ctypes.cast(function, ctypes.c_void_p).value if function(0, text, len(text)) == expected else None


def counter_complement(key: bytes, number: int) -> int:
    """What is stored beside a counter: their sum is the CRC-32 of the key, and adding keeps it so."""
    return crc32(key) - number


def checked_counter(key: bytes, number: int, complement: int) -> int:
    """The counter; raises if it, its complement or its key has changed."""
    if number + complement != crc32(key):
        raise DamagedRow(key)
    return number
