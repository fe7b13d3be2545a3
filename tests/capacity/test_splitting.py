"""Splitting for heat and growing with traffic, on simulated time: load over time, and the splits that follow."""

from collections.abc import Iterator
from itertools import count, cycle, islice
from random import Random
from typing import Any

import msgspec
import pytest

from capacity.load import Machine, Seen, even_keys, one_key
from hashrange.capacity import heat, splitting
from hashrange.capacity.following import followed
from hashrange.capacity.heat import Heat, Traffic
from hashrange.capacity.splitting import Split
from hashrange.core import partitions
from hashrange.core.keys import encoding, key_parts
from hashrange.core.schema import Index, Table, Warm
from schemas import index, item_key, table

MINUTE = 60
BEGIN = 1_000_000 * 60.0


def on_demand(*keys: str, **more: Any) -> Table:
    warm = Warm(read_units=12_000, write_units=4_000)
    more = {"created_at": BEGIN, **more}
    return partitions.created(table(*(keys or ("pk:S",)), on_demand=True, warm=warm, **more))


def machine(record: Table) -> Machine:
    return Machine(record, now=BEGIN, follows=True)


def sorted_items(pk: str, items: int = 400) -> Iterator[bytes]:
    """Items of one collection, in random order."""
    keys = [item_key({"S": pk}, {"N": str(number)}) for number in range(items)]
    Random(1).shuffle(keys)
    return cycle(keys)


def rising_items(pk: str) -> Iterator[bytes]:
    return (item_key({"S": pk}, {"N": str(number)}) for number in count())


def test_even_load_below_the_threshold_splits_nothing() -> None:
    simulated = machine(on_demand())
    simulated.load(even_keys(), seconds=8 * MINUTE, per_second=2_400, units=8)
    assert simulated.splits == []


def test_a_collection_that_stays_hot_is_split_by_sort_key_until_all_of_its_load_fits() -> None:
    simulated = machine(on_demand("pk:S", "sk:N"))
    accepted = [
        simulated.load(sorted_items("hot"), seconds=2 * MINUTE, per_second=1_800, units=6).accepted
        for _ in range(5)
    ]
    assert accepted[0] == pytest.approx(120 * 1_000, rel=0.05)
    assert accepted[-1] == pytest.approx(120 * 1_800, rel=0.02)
    (split,) = [split for split in simulated.splits if split.at is not None][:1]
    assert split.at is not None
    left = sum(key < split.at for key in islice(sorted_items("hot"), 400))
    assert left == pytest.approx(200, abs=40)


def test_heat_must_last() -> None:
    simulated = machine(on_demand("pk:S", "sk:N"))
    for _ in range(3):
        simulated.load(sorted_items("hot"), seconds=3 * MINUTE, per_second=1_800, units=6)
        simulated.load(sorted_items("hot"), seconds=2 * MINUTE, per_second=60, units=6)
    assert simulated.splits == []


def test_several_hot_keys_of_one_partition_are_separated() -> None:
    keys = [item_key({"S": f"key-{number}"}) for number in range(40)]
    shared = [key for key in keys if partitions.number_of(partitions.even(4), key) == 0][:2]
    simulated = machine(on_demand())
    simulated.load(cycle(shared), seconds=8 * MINUTE, per_second=1_600, units=8)
    assert [split.at is not None for split in simulated.splits][:1] == [True]
    bounds = simulated.table.partitions
    assert partitions.number_of(bounds, shared[0]) != partitions.number_of(bounds, shared[1])
    assert simulated.load(cycle(shared), seconds=MINUTE, per_second=1_600, units=8).throttled == 0


@pytest.mark.parametrize(
    ("record", "keys", "obstacle"),
    [
        (on_demand(), one_key(), "item"),
        (on_demand("pk:S", "sk:N"), cycle([item_key({"S": "hot"}, {"N": "1"})]), "item"),
        (on_demand("pk:S", "sk:N"), rising_items("2026-11-16"), "sequential"),
        (
            on_demand("pk:S", "sk:N", indexes=(index("local", "pk:S", "l:S", local=True),)),
            sorted_items("hot"),
            "collection",
        ),
    ],
)
def test_a_split_that_would_not_help_is_not_made(record: Table, keys: Iterator[bytes], obstacle: str) -> None:
    simulated = machine(record)
    simulated.load(keys, seconds=8 * MINUTE, per_second=1_500, units=6)
    assert {split.obstacle for split in simulated.splits} == {obstacle}
    assert simulated.table.partitions == record.partitions
    late = simulated.load(keys, seconds=MINUTE, per_second=1_500, units=6)
    assert late.accepted == pytest.approx(60_000, rel=0.05)


def test_collections_of_a_table_with_a_local_index_are_still_separated() -> None:
    record = on_demand("pk:S", "sk:N", indexes=(index("local", "pk:S", "l:S", local=True),))
    names = [f"key-{number}" for number in range(40)]
    home = [
        name
        for name in names
        if partitions.number_of(record.partitions, item_key({"S": name}, {"N": "1"})) == 0
    ]
    keys = [item_key({"S": name}, {"N": str(number)}) for number in range(50) for name in home[:4]]
    simulated = machine(record)
    simulated.load(cycle(keys), seconds=7 * MINUTE, per_second=1_000, units=5)
    ats = [split.at for split in simulated.splits if split.at is not None]
    assert ats
    assert all(len(at) <= encoding.HASH_BYTES for at in ats)


def test_heat_of_reads_splits_too() -> None:
    simulated = machine(on_demand("pk:S", "sk:N"))
    simulated.load(sorted_items("hot"), seconds=7 * MINUTE, per_second=4_000, units=20, write=False)
    assert any(split.at is not None and not split.write for split in simulated.splits)


def test_a_global_index_is_split_by_its_own_heat_and_not_inside_one_key() -> None:
    by_status = index("by-status", "status:S", "day:N", slot=4, partitions=partitions.even(4))
    record = on_demand("pk:S", indexes=(by_status,))

    def rows(days: int) -> list[bytes]:
        bases = [item_key({"S": str(number)}) for number in range(100)]
        return [
            encoding.index_key([{"S": "open"}], [{"N": str(number % days)}], base)
            for number, base in enumerate(bases)
        ]

    one_day = machine(record)
    one_day.load(cycle(rows(1)), seconds=7 * MINUTE, per_second=1_500, units=6, index=by_status)
    assert {split.obstacle for split in one_day.splits} == {"item"}
    ten_days = machine(record)
    keys = rows(10)
    Random(2).shuffle(keys)
    ten_days.load(cycle(keys), seconds=7 * MINUTE, per_second=1_500, units=6, index=by_status)
    assert len(ten_days.table.indexes[0].partitions) == 5
    assert ten_days.table.partitions == record.partitions


@pytest.mark.parametrize("numbers", [("-5", "-4.5", "0"), ("0", "7", "1000000"), ("-100", "-0.01", "12.5")])
@pytest.mark.parametrize("kind", ["N", "S", "B"])
def test_the_key_of_an_index_row_ends_where_the_items_key_begins(numbers: tuple[str, ...], kind: str) -> None:
    for number in numbers:
        value = {"N": {"N": number}, "S": {"S": f"\0{number}\0"}, "B": {"B": "AAEA/w=="}}[kind]
        by = index("by", "g:S h:N", f"a:{kind} b:S")
        own = encoding.index_key([{"S": "g"}, {"N": number}], [value, {"S": "x"}], b"")
        assert key_parts.own_key(by, own + b"\x00\x01base") == own


def test_on_demand_follows_a_load_that_doubles_every_half_hour() -> None:
    simulated = machine(on_demand())
    throttled = [
        simulated.load(even_keys(), seconds=33 * MINUTE, per_second=rate, units=100).throttled
        for rate in (3_000, 6_000, 9_000)
    ]
    assert throttled[0] == 0
    # The step to 6,000 comes when the half hour is over, and its capacity is there; so is the next one.
    assert throttled[1:] == pytest.approx([0, 0], abs=0.03 * 33 * MINUTE * 9_000)
    assert simulated.table.warm is not None
    assert simulated.table.warm.write_units > 8_000
    assert len(simulated.table.partitions) >= 8


def test_on_demand_throttles_what_doubles_faster() -> None:
    simulated = machine(on_demand())
    simulated.load(even_keys(), seconds=32 * MINUTE, per_second=3_000, units=100)
    grown = simulated.table.warm
    assert grown is not None
    assert grown.write_units == pytest.approx(6_000, rel=0.02)
    late = simulated.load(even_keys(), seconds=10 * MINUTE, per_second=12_000, units=100)
    assert late.accepted == pytest.approx(600 * 6_000, rel=0.05)
    # The peak is remembered although the load is gone by then.
    simulated.load(even_keys(), seconds=20 * MINUTE, per_second=10)
    assert simulated.table.warm is not None
    assert simulated.table.warm.write_units == pytest.approx(12_000, rel=0.1)


def test_many_tables_at_once_are_all_counted() -> None:
    kept = Heat()
    record = on_demand()
    tables = [msgspec.structs.replace(record, number=number) for number in range(1, 301)]
    for _ in range(50):
        for one in tables:
            kept.observe([Seen(BEGIN, one, None, item_key({"S": "k"}), write_units=2.0)])
    assert {kept.windows(one, None, BEGIN)[0].writes.units for one in tables} == {100.0}


def test_tables_beyond_what_is_kept_do_not_drive_out_those_that_have_traffic() -> None:
    kept = Heat()
    record = on_demand()
    tables = [msgspec.structs.replace(record, number=number) for number in range(heat.PLACES_MAX + 50)]
    for minute in (0, MINUTE):
        for _ in range(3):
            for one in tables:
                kept.observe([Seen(BEGIN + minute, one, None, b"a" * 8, write_units=1.0)])
        assert len(kept) == heat.PLACES_MAX
        assert kept.windows(tables[0], None, BEGIN + minute)[-1].writes.units == 3.0


def test_a_clock_that_was_set_back_leaves_no_future_behind() -> None:
    kept = Heat()
    record = on_demand()
    for moment in (BEGIN, BEGIN - 2 * MINUTE, BEGIN):
        kept.observe([Seen(moment, record, None, b"a" * 8, write_units=1.0)])
        now = kept.windows(record, None, moment)
        assert [window.minute for window in now] == sorted({window.minute for window in now})
        assert now[-1].minute == moment // MINUTE
        assert now[-1].writes.units == 1.0


def test_a_clock_that_is_corrected_by_a_little_loses_nothing() -> None:
    kept = Heat()
    record = on_demand()
    for moment in (BEGIN - 1, BEGIN, BEGIN - 0.001, BEGIN):
        kept.observe([Seen(moment, record, None, b"a" * 8, write_units=1.0)])
    assert sum(window.writes.units for window in kept.windows(record, None, BEGIN)) == 4.0


def test_memory_is_bounded_however_many_tables_and_keys_there_are() -> None:
    kept = Heat()
    record = on_demand()
    keys = [item_key({"S": str(number) * 100}) for number in range(1_500)]
    for minute in range(20):
        for number in range(1_500):
            other = msgspec.structs.replace(record, number=number)
            kept.observe([Seen(minute * 60.0, other, None, keys[number], write_units=1.0)])
    assert len(kept) <= heat.PLACES_MAX
    assert len(kept.take_changed(1_000_000)) <= heat.PLACES_MAX * heat.KEPT_MINUTES
    for number in range(20_000):
        busy = msgspec.structs.replace(record, number=1)
        kept.observe([Seen(19 * 60.0, busy, None, keys[number % 1_000], write_units=1.0)])
    assert len(kept.windows(busy, None, 19 * 60.0)[-1].writes.keys) <= heat.SAMPLE_KEYS_MAX / 8
    traffic = Traffic()
    for number in range(50_000):
        traffic.add(record.partitions, keys[number % 1_000], 3.0)
    assert len(traffic.keys) <= heat.SAMPLE_KEYS_MAX
    assert max(map(len, traffic.keys)) <= heat.KEY_BYTES_MAX
    assert traffic.units == pytest.approx(sum(traffic.by_partition.values())) == 150_000


def test_the_sample_is_proportional_to_the_units_of_each_key() -> None:
    traffic, random = Traffic(), Random(3)
    for _ in range(20_000):
        hot = random.random() < 0.5
        traffic.add(partitions.WHOLE, b"hot" if hot else b"cold-%d" % random.randrange(1_000), 4.0)
    assert traffic.keys.count(b"hot") / len(traffic.keys) == pytest.approx(0.5, abs=0.1)


def test_a_rhythm_is_not_taken_for_a_pattern() -> None:
    traffic = Traffic()
    for number in range(40_000):
        traffic.add(partitions.WHOLE, (b"a", b"b", b"c", b"d")[number % 4], 1.0)
    assert [traffic.keys.count(key) / len(traffic.keys) for key in (b"a", b"b", b"c", b"d")] == pytest.approx(
        [0.25] * 4, abs=0.1
    )


def test_no_table_has_more_partitions_than_it_can_use() -> None:
    record = on_demand()
    full = msgspec.structs.replace(record, partitions=partitions.even(splitting.PARTITIONS_MAX))
    split = Split(0, write=True, at=b"\x00\x01")
    assert followed(full, None, [split], None) is full
    assert len(followed(record, None, [split], None).partitions) == 5


def test_windows_that_changed_are_taken_once() -> None:
    kept = Heat()
    record = on_demand()
    kept.observe([Seen(BEGIN, record, None, b"a" * 8, read_units=1.0)])
    assert [place for place, _ in kept.take_changed(10)] == [(record.number, 0)]
    assert kept.take_changed(10) == []
    kept.observe([Seen(BEGIN + MINUTE, record, None, b"a" * 8, read_units=1.0)])
    assert len(kept.take_changed(10)) == 1


def test_a_local_index_is_the_tables_own() -> None:
    local: Index = index("local", "pk:S", "l:S", local=True)
    record = on_demand("pk:S", "sk:N", indexes=(local,))
    kept = Heat()
    kept.observe([Seen(BEGIN, record, local, b"a" * 8, read_units=1.0)])
    assert kept.windows(record, None, BEGIN)[0].reads.units == 1.0
