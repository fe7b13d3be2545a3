"""Lines that arrive in pieces, and those that are too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.formats.errors import Garbage
from hashrange.formats.lines import lines


@given(st.lists(st.text("ab\n", max_size=8).map(str.encode)))
def test_lines_do_not_depend_on_the_pieces(chunks: list[bytes]) -> None:
    assert list(lines(chunks, 1000)) == b"".join(chunks).splitlines(keepends=True)


def test_a_line_may_be_so_long_and_no_longer() -> None:
    assert list(lines([b"1234567890"], 10)) == [b"1234567890"]
    assert list(lines([b"123456789\n"], 10)) == [b"123456789\n"]
    for chunks in ([b"12345678901"], [b"12345", b"678901"], [b"1234567890\n"], [b"1"] * 11):
        with pytest.raises(Garbage):
            list(lines(chunks, 10))


def test_the_lines_before_one_that_is_too_long_are_given() -> None:
    reading = lines([b"a\nb\n", b"x" * 100], 10)
    assert [next(reading), next(reading)] == [b"a\n", b"b\n"]
    with pytest.raises(Garbage):
        next(reading)


def test_endless_blank_lines_are_garbage() -> None:
    assert len(list(lines([b"\n" * 10, b"x\n", b" \r\n" * 3], 10))) == 14
    with pytest.raises(Garbage):
        list(lines([b"\n" * 11], 10))
