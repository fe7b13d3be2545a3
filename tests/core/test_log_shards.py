"""Shards of a change log: their ids and the sequence numbers of their records."""

from typing import Any

from hashrange.core.log_shards import Shard, microseconds, number_in, split_number

NOW = 1_700_000_000.123


def shard(number: int = 1, **fields: Any) -> Shard:
    usual: dict[str, Any] = {
        "start": b"",
        "stream": "s",
        "created_at": NOW,
        "first": 1,
        "first_time": microseconds(NOW),
    }
    return Shard(number=number, **(usual | fields))


def test_an_id_has_the_milliseconds_of_the_creation_and_eight_hexadecimal_digits() -> None:
    assert shard(255).id == "shardId-00000001700000000123-000000ff"
    assert number_in(shard(255).id) == 255


def test_only_ids_have_numbers() -> None:
    for text in ("", "shardId-1-1", "shardId-00000001700000000123-000000FF", f"{shard().id}\n"):
        assert number_in(text) is None


def test_ids_of_one_moment_sort_as_their_numbers() -> None:
    ids = [shard(number).id for number in (1, 9, 10, 99, 100, 65536)]
    assert ids == sorted(ids)


def test_sequence_numbers_have_21_to_40_digits_and_rise_with_positions_and_times() -> None:
    time = microseconds(NOW)
    places = [(1, time), (1, time + 1), (2, time), (10**6, time), (2**63, time)]
    numbers = [shard().sequence_number(*place) for place in places]
    assert [split_number(number) for number in numbers] == places
    assert sorted(numbers, key=int) == numbers
    assert {len(number) for number in numbers} <= set(range(21, 41))


def test_records_of_different_shards_have_different_numbers() -> None:
    assert shard(1).sequence_number(5, 7) != shard(2).sequence_number(5, 7)


def test_a_shard_begins_behind_the_end_of_its_parent_even_if_that_was_empty() -> None:
    parent = shard(last=0, last_time=microseconds(NOW), closed_at=NOW)
    child = shard(2, parent_id=parent.id)
    assert parent.ending_number == parent.starting_number
    assert int(child.starting_number) > int(parent.ending_number or 0)


def test_an_open_shard_has_no_ending_number() -> None:
    assert shard().ending_number is None


def test_a_shard_is_found_for_a_day_after_its_end() -> None:
    closed = shard(closed_at=NOW)
    assert shard().readable(NOW + 10**6)
    assert closed.readable(NOW + 24 * 3600 - 1)
    assert not closed.readable(NOW + 24 * 3600)
