"""Partitions: how many a table needs, how they are split, and which one a key belongs to."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import partitions
from hashrange.core.keys import ranges
from hashrange.core.partitions import HASH_SPACE
from hashrange.core.schema import Throughput, Warm
from schemas import index, table

GIGABYTE = 1024**3


@given(st.binary(min_size=8, max_size=9), st.integers(1, 50))
def test_even_partitions_are_equal_shares_of_the_hash_space(key: bytes, count: int) -> None:
    bounds = partitions.even(count)
    number = partitions.number_of(bounds, key)
    assert 0 <= number < count
    assert ranges.within(ranges.segment_range(number, count), key) or count == 1


@given(st.integers(1, 20), st.integers(1, 60), st.binary(min_size=8, max_size=8))
def test_a_split_keeps_all_bounds_and_makes_no_narrow_partition(before: int, count: int, key: bytes) -> None:
    bounds = partitions.even(before)
    after = partitions.split(bounds, count)
    assert len(after) == max(before, count)
    assert set(bounds) <= set(after)
    assert list(after) == sorted(set(after))
    widths = [end - start for start, end in zip(after, (*after[1:], HASH_SPACE), strict=True)]
    assert max(widths) <= 2 * min(widths) + 2
    number = partitions.number_of(after, key)
    assert partitions.start_of(after, number) <= key
    assert number + 1 == len(after) or key < partitions.start_of(after, number + 1)


def test_the_beginning_of_a_key_belongs_to_the_first_partition_it_may_be_in() -> None:
    assert partitions.number_of(partitions.even(4), b"") == 0
    assert partitions.number_of(partitions.even(4), b"\x40") == 1


@pytest.mark.parametrize(
    ("size", "needed"), [(0, 1), (10 * GIGABYTE, 1), (10 * GIGABYTE + 1, 2), (100 * GIGABYTE, 10)]
)
def test_partitions_are_needed_by_size(size: int, needed: int) -> None:
    assert partitions.needed(table("pk:S"), None, size) == needed


@pytest.mark.parametrize(
    ("reads_per_second", "writes_per_second", "needed"),
    [(3000, 1000, 1), (3001, 1, 2), (1, 1001, 2), (9000, 4000, 4)],
)
def test_partitions_are_needed_by_throughput(
    reads_per_second: int, writes_per_second: int, needed: int
) -> None:
    throughput = Throughput(read_units=reads_per_second, write_units=writes_per_second)
    assert partitions.needed(table("pk:S", throughput=throughput), None, 0) == needed


def test_on_demand_tables_begin_with_four() -> None:
    made = partitions.created(table("pk:S", on_demand=True, indexes=(index("g", "g:S"),)))
    assert made.partitions == made.indexes[0].partitions == partitions.even(4)


def test_partitions_grow_and_never_go() -> None:
    before = partitions.created(table("pk:S", warm=Warm(read_units=12_000, write_units=4_000)))
    lower = msgspec.structs.replace(before, warm=Warm(read_units=1, write_units=1))
    assert partitions.grown(lower) is lower
    higher = msgspec.structs.replace(before, warm=Warm(read_units=24_000, write_units=4_000))
    assert len(partitions.grown(higher).partitions) == 8


def test_each_global_index_grows_by_its_own_size() -> None:
    before = partitions.created(table("pk:S", indexes=(index("g", "g:S"), index("h", "h:S"))))
    after = partitions.grown(before, 25 * GIGABYTE, {"h": 11 * GIGABYTE})
    assert [len(after.partitions), *(len(index.partitions) for index in after.indexes)] == [3, 1, 2]
