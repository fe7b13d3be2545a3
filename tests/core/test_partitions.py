"""Partitions: how many a table needs, how they are split, and which one a key belongs to."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import partitions, schema
from hashrange.core.keys import ranges
from hashrange.core.partitions import HASH_SPACE
from hashrange.core.schema import Throughput, Warm
from schemas import index, item_key, table

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
    positions = [*(int.from_bytes(start.ljust(8, b"\x00"), "big") for start in after), HASH_SPACE]
    widths = [end - start for start, end in pairwise(positions)]
    assert max(widths) <= 2 * min(widths) + 2
    number = partitions.number_of(after, key)
    assert after[number] <= key
    assert number + 1 == len(after) or key < after[number + 1]


def test_the_beginning_of_a_key_belongs_to_the_first_partition_it_may_be_in() -> None:
    assert partitions.number_of(partitions.even(4), b"") == 0
    assert partitions.number_of(partitions.even(4), b"\x40") == 1


@pytest.mark.parametrize(
    ("size", "needed"), [(0, 1), (10 * GIGABYTE, 1), (10 * GIGABYTE + 1, 2), (100 * GIGABYTE, 10)]
)
def test_partitions_are_needed_by_size(size: int, needed: int) -> None:
    assert partitions.needed_for_size(size) == needed


@pytest.mark.parametrize(
    ("reads_per_second", "writes_per_second", "needed"),
    [(3000, 1000, 1), (3001, 1, 2), (1, 1001, 2), (9000, 4000, 4)],
)
def test_partitions_are_needed_by_throughput(
    reads_per_second: int, writes_per_second: int, needed: int
) -> None:
    throughput = Throughput(read_units=reads_per_second, write_units=writes_per_second)
    assert partitions.needed_for_throughput(table("pk:S", throughput=throughput), None) == needed


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


@pytest.mark.parametrize(
    ("writes_per_second", "count"), [(3_200, 4), (3_600, 4), (4_000, 4), (4_001, 8), (6_000, 8), (8_001, 16)]
)
def test_throughput_that_no_longer_fits_halves_every_partition(writes_per_second: int, count: int) -> None:
    # The worked case of the paper: 3,200 units are 4 x 800, 3,600 are 4 x 900, 6,000 are 8 x 750.
    before = partitions.created(table("pk:S", throughput=Throughput(read_units=1, write_units=3_200)))
    raised = Throughput(read_units=1, write_units=writes_per_second)
    after = partitions.grown(msgspec.structs.replace(before, throughput=raised))
    assert after.partitions == partitions.even(count)


def test_a_bound_inside_a_collection_divides_it_by_sort_key() -> None:
    keys = [item_key({"S": "hot"}, {"N": str(number)}) for number in range(10)]
    divided = partitions.split_at(partitions.even(4), keys[5])
    home = partitions.number_of(partitions.even(4), keys[0])
    assert [partitions.number_of(divided, key) for key in keys] == [home] * 5 + [home + 1] * 5
    assert partitions.split_at(divided, keys[5]) is divided
    assert schema.decode(schema.encode(table("pk:S", "sk:N", partitions=divided))).partitions == divided


def test_partitions_inside_one_collection_do_not_stop_the_others_from_being_split() -> None:
    keys = [item_key({"S": "hot"}, {"N": str(number)}) for number in range(1, 5)]
    divided = partitions.WHOLE
    for key in keys:
        divided = partitions.split_at(divided, key)
    after = partitions.split(divided, 12)
    assert len(after) == 12
    assert set(divided) < set(after)
    assert list(after) == sorted(after)


def test_what_cannot_be_halved_is_left_as_it_is() -> None:
    first, second = (position.to_bytes(8, "big") for position in (HASH_SPACE - 2, HASH_SPACE - 1))
    narrow = (first, second, second + b"a")
    assert partitions.split(narrow, 10) == narrow
    assert partitions.doubled(narrow, 10) == narrow


@given(st.integers(1, 20), st.binary(min_size=1, max_size=12), st.binary(min_size=1, max_size=12))
def test_the_last_partition_before_an_end_is_the_one_of_the_last_key(
    count: int, end: bytes, key: bytes
) -> None:
    bounds = partitions.even(count)
    last = partitions.last_before(bounds, end)
    assert bounds[last] < end or last == 0
    if key < end:
        assert partitions.number_of(bounds, key) <= last
