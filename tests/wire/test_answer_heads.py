"""The heads of good answers are the same whether the compiled helper makes them or Python."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.wire import codec
from hashrange.wire.codec import formatted_ok_head, ok_head

needs_helper = pytest.mark.skipif(ok_head is formatted_ok_head, reason="there was no C compiler")

_pieces = st.binary(max_size=100)
_numbers = st.integers(0, 2**64 - 1)


def test_a_head_by_example() -> None:
    form = codec.Form()
    for made in (ok_head, formatted_ok_head):
        assert made(form.ok, b"ID", 10, 0) == (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\n"
            b"x-amzn-RequestId: ID\r\nx-amz-crc32: 10\r\nContent-Length: 0\r\n"
        )


@given(_pieces, _pieces, _numbers, _numbers)
def test_any_head_is_the_same_either_way(begin: bytes, request_id: bytes, checksum: int, length: int) -> None:
    arguments = begin, request_id, checksum, length
    assert ok_head(*arguments) == formatted_ok_head(*arguments)


@pytest.mark.parametrize("size", [0, 4095, 4096])
@pytest.mark.parametrize("number", [0, 9, 10, 2**32 - 1, 2**64 - 1])
def test_the_longest_heads(size: int, number: int) -> None:
    arguments = b"a" * size, b"b" * size, number, number
    assert ok_head(*arguments) == formatted_ok_head(*arguments)


@needs_helper
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), TypeError),
        ((b"", b"", 1), TypeError),
        (("", b"", 1, 1), TypeError),
        ((b"", bytearray(), 1, 1), TypeError),
        ((b"", b"", "1", 1), TypeError),
        ((b"", b"", 1, 1.0), TypeError),
        ((b"", b"", -1, 1), OverflowError),
        ((b"", b"", 1, 2**64), OverflowError),
        ((b"a" * 4097, b"", 1, 1), ValueError),
        ((b"", b"a" * 4097, 1, 1), ValueError),
    ],
)
def test_the_helper_takes_nothing_else(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ok_head(*arguments)
