"""Partitions: how many a table has, and which of them a key belongs to."""

from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import partitioning
from hashrange.core.keys import ranges
from schemas import table


@given(st.binary(min_size=8, max_size=9), st.integers(1, 50))
def test_partitions_are_equal_shares_of_the_hash_space(key: bytes, count: int) -> None:
    partition = partitioning.partition_of(key, count)
    assert 0 <= partition < count
    assert ranges.within(ranges.segment_range(partition, count), key) or count == 1


def test_partitions_grow_with_throughput_and_size() -> None:
    gigabyte = 1024**3
    assert partitioning.partition_count(table("pk:S"), None, 0) == 1
    assert partitioning.partition_count(table("pk:S", on_demand=True), None, 0) == 4
    assert partitioning.partition_count(table("pk:S"), None, 10 * gigabyte) == 1
    assert partitioning.partition_count(table("pk:S"), None, 10 * gigabyte + 1) == 2


@given(st.integers(1, 50), st.data())
def test_a_partition_starts_with_the_first_key_that_belongs_to_it(count: int, data: st.DataObject) -> None:
    partition = data.draw(st.integers(1, count - 1)) if count > 1 else 0
    start = partitioning.partition_start(partition, count)
    assert partitioning.partition_of(start, count) == partition
    if partition:
        before = (int.from_bytes(start, "big") - 1).to_bytes(8, "big")
        assert partitioning.partition_of(before, count) == partition - 1
