"""Key bytes: they sort as the values do, and no key gets into another's range."""

import base64
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import value_strategies
from hashrange.core import values
from hashrange.core.keys import encoding
from schemas import item_key

Value = dict[str, Any]
short_strings = st.text(st.sampled_from("\0\x01ab\x7fé\uffff😀"), min_size=1, max_size=4).map(
    lambda text: {"S": text}
)
short_binaries = st.binary(min_size=1, max_size=4).map(lambda raw: {"B": base64.b64encode(raw).decode()})
plain_numbers = value_strategies.numbers.map(values.canonical)
of_one_type = st.one_of(
    st.tuples(short_strings, short_strings),
    st.tuples(short_binaries, short_binaries),
    st.tuples(plain_numbers, plain_numbers),
)


def rank(value: Value) -> Any:
    """What the service orders a key value by."""
    ((kind, content),) = value.items()
    if kind == "N":
        return Decimal(content)
    return content.encode() if kind == "S" else base64.b64decode(content)


@given(of_one_type)
def test_scalars_sort_as_their_values(pair: tuple[Value, Value]) -> None:
    left, right = pair
    assert (encoding.scalar(left) < encoding.scalar(right)) == (rank(left) < rank(right))
    assert (encoding.scalar(left) == encoding.scalar(right)) == (rank(left) == rank(right))


@given(of_one_type, st.binary(max_size=3), st.binary(max_size=3))
def test_what_follows_a_terminated_value_does_not_disturb_the_order(
    pair: tuple[Value, Value], first: bytes, second: bytes
) -> None:
    left, right = pair
    if rank(left) == rank(right):
        assert encoding.terminated_scalar(left) == encoding.terminated_scalar(right)
    else:
        before = encoding.terminated_scalar(left) + first < encoding.terminated_scalar(right) + second
        assert before == (rank(left) < rank(right))


@given(of_one_type)
def test_no_terminated_value_is_the_beginning_of_another(pair: tuple[Value, Value]) -> None:
    left, right = pair
    if rank(left) != rank(right):
        assert not encoding.terminated_scalar(left).startswith(encoding.terminated_scalar(right))


@given(st.lists(short_strings, min_size=2, max_size=3), st.lists(short_strings, min_size=2, max_size=3))
def test_partitions_of_several_attributes_are_told_apart(left: list[Value], right: list[Value]) -> None:
    first, second = encoding.partition_prefix(left), encoding.partition_prefix(right)
    assert (first == second) == (left == right)
    if len(left) == len(right) and left != right:
        assert not first.startswith(second)


@given(short_strings, short_strings, short_strings)
def test_items_of_a_partition_lie_behind_its_prefix_and_nobody_else(
    partition: Value, other: Value, sort: Value
) -> None:
    prefix = encoding.partition_prefix([partition])
    assert prefix <= item_key(partition, sort) < encoding.prefix_end(prefix)
    if other != partition:
        assert not prefix <= item_key(other, sort) < encoding.prefix_end(prefix)


@given(st.binary(min_size=1, max_size=5), st.binary(max_size=5))
def test_after_is_the_first_key_behind_all_with_a_prefix(prefix: bytes, rest: bytes) -> None:
    if prefix.rstrip(b"\xff"):
        assert prefix + rest < encoding.prefix_end(prefix)
        assert not encoding.prefix_end(prefix).startswith(prefix)


def test_nothing_comes_after_the_highest_prefix() -> None:
    with pytest.raises(ValueError, match="xff"):
        encoding.prefix_end(b"\xff\xff")


def test_the_hash_spreads_partitions_evenly() -> None:
    counts = [0] * 16
    for number in range(4096):
        counts[encoding.partition_hash(str(number).encode())[0] >> 4] += 1
    assert all(180 < count < 340 for count in counts)
