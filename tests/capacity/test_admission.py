"""Admission on simulated time: which load is accepted, which is throttled, and why."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.load import Machine, even_keys, one_key, sharded_key
from hashrange.capacity.admission import Admission
from hashrange.capacity.bucket import Bucket
from hashrange.capacity.limits import LENT_SECONDS
from hashrange.core import partitions
from hashrange.core.schema import Table, Throughput, UnitPair, Warm
from schemas import index, item_key
from schemas import table as record

PROVISIONED = {"ProvisionedThroughputExceeded"}
KEY_RANGE = {"KeyRangeThroughputExceeded"}
DAY = 86_400.0


def provisioned(reads: int, writes: int, **more: Any) -> Table:
    throughput = Throughput(read_units=reads, write_units=writes)
    warm = Warm(read_units=reads, write_units=writes)
    return partitions.created(record("pk:S", throughput=throughput, warm=warm, **more))


def on_demand(reads: int = 12_000, writes: int = 4_000, **more: Any) -> Table:
    return partitions.created(
        record("pk:S", on_demand=True, warm=Warm(read_units=reads, write_units=writes), **more)
    )


def test_even_load_within_the_provisioned_rate_is_never_throttled() -> None:
    machine = Machine(provisioned(100, 4_000))
    assert machine.load(even_keys(), seconds=60, per_second=3_500).throttled == 0


@pytest.mark.parametrize("table", [provisioned(100, 4_000), on_demand()])
def test_one_hot_key_gets_what_one_partition_gives(table: Table) -> None:
    machine = Machine(table)
    tally = machine.load(one_key(), seconds=60, per_second=1_500)
    assert tally.accepted == pytest.approx(1_000 * 61, abs=200)  # and a second's worth at the start
    assert tally.limits == KEY_RANGE


def test_one_hot_key_is_read_at_3000_units() -> None:
    machine = Machine(on_demand())
    tally = machine.load(one_key(), seconds=30, per_second=5_000, units=5, write=False)  # 20 KB, consistent
    assert tally.accepted / 5 == pytest.approx(600 * 31, abs=100)


def test_write_sharding_lets_the_same_load_through() -> None:
    machine = Machine(on_demand())
    assert machine.load(sharded_key("hot", 10), seconds=60, per_second=1_500).throttled == 0


def test_a_date_as_partition_key_throttles_at_one_partition_however_much_is_provisioned() -> None:
    machine = Machine(provisioned(100, 8_000))
    accepted = [
        machine.load(one_key(f"2026-11-{day}"), seconds=20, per_second=2_000).accepted for day in (16, 17, 18)
    ]
    assert accepted == pytest.approx([20_500] * 3, abs=600)


def test_unused_capacity_is_saved_for_300_seconds_and_then_spent() -> None:
    machine = Machine(provisioned(150, 1), now=DAY)
    # The service's example: 150 units that were idle for five minutes carry 200 per second for 900 seconds.
    first = machine.load(even_keys(), seconds=890, per_second=200, write=False)
    assert first.throttled == 0
    after = machine.load(even_keys(), seconds=60, per_second=200, write=False)
    assert after.accepted == pytest.approx(150 * 60 + 500, abs=100)
    assert after.limits == PROVISIONED


def test_a_new_table_can_burst_a_little() -> None:
    machine = Machine(provisioned(1, 5))
    assert machine.load(even_keys(), seconds=1, per_second=1_000).accepted == pytest.approx(300, abs=10)


def test_saved_capacity_does_not_lift_a_partition_above_its_ceiling() -> None:
    machine = Machine(provisioned(1, 1_000), now=DAY)
    tally = machine.load(one_key(), seconds=10, per_second=3_000)
    assert tally.accepted == pytest.approx(11_000, abs=300)
    assert tally.limits == KEY_RANGE


def test_a_hot_partition_borrows_what_the_others_leave() -> None:
    # The developer guide's example: 400 units over four partitions, one of which needs 150.
    table = msgspec.structs.replace(provisioned(1, 400), partitions=partitions.even(4))
    machine = Machine(table)
    keys = [item_key({"S": f"key-{number}"}) for number in range(200)]
    by_partition = [
        [key for key in keys if partitions.number_of(table.partitions, key) == at] for at in range(4)
    ]
    mixed = [key for at, count in ((0, 15), (1, 5), (2, 5), (3, 5)) for key in by_partition[at][:1] * count]
    assert machine.load(iter(mixed * 2000), seconds=120, per_second=300).throttled == 0
    machine.load(iter(mixed * 4000), seconds=120, per_second=900)
    drained = machine.load(iter(mixed * 4000), seconds=120, per_second=900)
    assert drained.accepted == pytest.approx(400 * 120, abs=100)
    assert drained.limits == PROVISIONED


def test_on_demand_serves_twice_the_previous_peak_and_no_more() -> None:
    machine = Machine(on_demand(12_000, 8_000))
    assert machine.load(even_keys(), seconds=20, per_second=6_500).throttled == 0
    tally = machine.load(even_keys(), seconds=20, per_second=16_000)
    assert tally.accepted == pytest.approx(8_000 * 20, abs=9_000)
    assert tally.limits == KEY_RANGE


def test_the_maximum_of_on_demand_throughput_is_kept_in_the_long_run() -> None:
    machine = Machine(on_demand(on_demand_limits=UnitPair(read_units=-1, write_units=50)))
    machine.load(even_keys(), seconds=60, per_second=200)
    tally = machine.load(even_keys(), seconds=60, per_second=200)
    assert tally.accepted == pytest.approx(50 * 60, abs=20)
    assert tally.limits == {"MaxOnDemandThroughputExceeded"}
    assert machine.load(even_keys(), seconds=10, per_second=2_000, write=False).throttled == 0


def test_no_table_passes_the_quota_of_the_account() -> None:
    table = on_demand(12_000, 40_000)
    admission = Admission()
    admission.charge(0.0, table, None, item_key({"S": "a"}), 40_001, write=True)
    assert admission.refused(0.0, table, None, item_key({"S": "a"}), write=True) == (
        "AccountLimitExceeded",
        "KeyRangeThroughputExceeded",
    )
    assert admission.refused(0.0, table, None, item_key({"S": "a"}), write=False) == ()


def test_all_limits_that_are_reached_are_told() -> None:
    table, key = provisioned(1, 2), item_key({"S": "a"})
    admission = Admission()
    admission.charge(0.0, table, None, key, 5_000, write=True)
    assert admission.refused(0.0, table, None, key, write=True) == (
        "ProvisionedThroughputExceeded",
        "KeyRangeThroughputExceeded",
    )


def test_more_capacity_counts_once_the_table_has_it_and_less_keeps_no_more_than_fits() -> None:
    machine = Machine(provisioned(1, 10))
    machine.load(even_keys(), seconds=120, per_second=100)
    raised = Throughput(read_units=1, write_units=100, previous=UnitPair(read_units=1, write_units=10))
    machine.change(throughput=raised, status="UPDATING")
    during = machine.load(even_keys(), seconds=60, per_second=100)
    assert during.accepted == pytest.approx(600, abs=20)
    machine.change(throughput=msgspec.structs.replace(raised, previous=None), status="ACTIVE")
    assert machine.load(even_keys(), seconds=60, per_second=100).throttled <= 20
    machine.now += DAY
    machine.load(even_keys(), seconds=1, per_second=10)
    machine.change(throughput=Throughput(read_units=1, write_units=10))
    lowered = machine.load(even_keys(), seconds=10, per_second=1_000)
    assert lowered.accepted == pytest.approx(3_000 + 100, abs=50)


def test_a_table_that_was_provisioned_higher_serves_that_on_demand() -> None:
    table = msgspec.structs.replace(provisioned(10_000, 10_000), on_demand=True)
    machine = Machine(table)
    assert machine.load(even_keys(), seconds=10, per_second=8_000).throttled == 0


def test_each_global_index_has_buckets_of_its_own() -> None:
    table = provisioned(
        100, 100, indexes=(index("by-g", "g:S", throughput=Throughput(read_units=1, write_units=2), slot=3),)
    )
    machine = Machine(table)
    by_g = table.indexes[0]
    tally = machine.load(even_keys(), seconds=60, per_second=100, index=by_g)
    assert tally.accepted == pytest.approx(120 + 120, abs=10)
    assert machine.load(even_keys(), seconds=60, per_second=90).throttled == 0


def test_reads_and_writes_have_buckets_of_their_own() -> None:
    machine = Machine(provisioned(50, 1))
    machine.load(even_keys(), seconds=120, per_second=100)
    assert machine.load(even_keys(), seconds=60, per_second=50, write=False).throttled == 0


def test_a_partition_that_was_split_serves_twice_as_much() -> None:
    keys = [item_key({"S": "hot"}, {"N": str(number)}) for number in range(100)]
    table = record("pk:S", "sk:N", on_demand=True, warm=Warm(read_units=12_000, write_units=4_000))
    machine = Machine(table)
    before = machine.load(iter(keys * 1_000), seconds=20, per_second=1_800)
    machine.change(partitions=partitions.split_at(table.partitions, keys[50]))
    after = machine.load(iter(keys * 1_000), seconds=20, per_second=1_800)
    assert before.throttled > 14_000
    assert after.throttled == pytest.approx(0, abs=1_000)  # the old half still has a debt of one second


def test_one_large_request_passes_and_its_followers_wait() -> None:
    table, key = provisioned(1, 1), item_key({"S": "a"})
    admission = Admission()
    admission.charge(0.0, table, None, key, 59.0, write=True)
    assert admission.refused(0.0, table, None, key, write=True) == ()
    admission.charge(0.0, table, None, key, 400.0, write=True)
    assert admission.refused(398.0, table, None, key, write=True) != ()
    assert admission.refused(400.0, table, None, key, write=True) == ()


def test_what_is_given_back_can_be_used_again() -> None:
    table, key = provisioned(1, 1), item_key({"S": "a"})
    admission = Admission()
    admission.charge(0.0, table, None, key, 100.0, write=True)
    admission.charge(0.0, table, None, key, -100.0, write=True)
    assert admission.refused(0.0, table, None, key, write=True) == ()
    admission.charge(0.0, table, None, key, -1_000.0, write=True)
    admission.charge(0.0, table, None, key, 300.0, write=True)  # no more than the depth comes back
    assert admission.refused(0.0, table, None, key, write=True) != ()


def test_processes_that_exchange_their_charges_share_the_buckets() -> None:
    table, key = provisioned(1, 100), item_key({"S": "a"})
    first, second = Admission(shared=True), Admission(shared=True)
    first.charge(0.0, table, None, key, 4_000.0, write=True)
    first.charge(0.0, table, None, key, 2_000.5, write=True)
    (charged,) = first.take_charges()
    assert charged.units == 6_000.5
    second.absorb(0.0, table, None, charged)
    assert second.refused(0.0, table, None, key, write=True) != ()
    assert first.take_charges() == second.take_charges() == []


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(10, 100, 50.0, 0.0)
    assert bucket.level(40.0) == 0.0
    bucket.take(30.0, 5.0)
    assert bucket.level(30.0) == -5.0


def test_a_clock_that_was_set_back_by_an_hour_shuts_no_bucket() -> None:
    admission, table, key = Admission(), provisioned(10, 10), item_key({"S": "k"})
    now = 10_000.0
    admission.charge(now, table, None, key, 10_000.0, write=True)
    assert admission.refused(now, table, None, key, write=True)
    now -= 3_600
    assert admission.refused(now, table, None, key, write=True)
    assert admission.refused(now + 10_000 / 10 + 1, table, None, key, write=True) == ()


def test_idle_tables_and_partitions_are_forgotten() -> None:
    admission = Admission()
    table = on_demand()
    for number in range(20_000):
        other = msgspec.structs.replace(table, number=number)
        admission.charge(number * 1.0, other, None, item_key({"S": str(number)}), 5.0, write=True)
    assert len(admission) <= 2_100
    admission.forget_idle(30_000.0)
    assert len(admission) == 0


Requests = st.lists(
    st.tuples(st.floats(0, 30), st.integers(0, 5), st.floats(0.5, 400), st.booleans()), max_size=80
)


@given(Requests, st.integers(1, 500), st.booleans())
def test_what_is_admitted_never_exceeds_what_the_buckets_allow(
    requests: list[tuple[float, int, float, bool]], rate: int, is_on_demand: bool
) -> None:
    table = (
        on_demand(on_demand_limits=UnitPair(read_units=rate, write_units=rate))
        if is_on_demand
        else provisioned(rate, rate)
    )
    admission, now = Admission(), 0.0
    admitted: dict[tuple[bool, int | None], list[tuple[float, float]]] = {}
    for wait, name, units, write in requests:
        now += wait
        key = item_key({"S": str(name)})
        if admission.refused(now, table, None, key, write=write):
            continue
        admission.charge(now, table, None, key, units, write=write)
        for place in (None, partitions.number_of(table.partitions, key)):
            admitted.setdefault((write, place), []).append((now, units))
    for (write, place), charges in admitted.items():
        ceiling = 1_000 if write else 3_000
        per_second, depth = (rate, 300 * rate) if place is None else (ceiling, ceiling)
        for first, (begin, _) in enumerate(charges):
            total = 0.0
            for moment, units in charges[first:]:
                # All but the last one fit into what was there and what came since.
                assert total <= depth + per_second * (moment - begin) + 1e-6
                total += units


@given(
    st.lists(st.tuples(st.sampled_from([b"a", b"\x80"]), st.sampled_from([0.5, 1.0, 40.0]))), st.floats(0, 5)
)
def test_what_is_lent_is_charged_and_is_little(requests: list[tuple[bytes, float]], pause: float) -> None:
    table = provisioned(100, 100)
    admission = Admission(shared=True)
    now, spent = 0.0, 0.0
    for key, units in requests:
        allowance = admission.read_allowance(table, None, key)
        if allowance is not None:
            assert allowance.left <= 100 * LENT_SECONDS
            allowance.left -= units
            spent += units
        elif not admission.refused(now, table, None, key, write=False):
            admission.charge(now, table, None, key, units, write=False)
            admission.lend(now, table, None, key, write=False)
            spent += units
        now += pause
    admission.settle(now)
    assert sum(charged.units for charged in admission.take_charges()) == pytest.approx(spent)


def test_what_a_late_request_spends_of_an_allowance_is_charged_the_next_time() -> None:
    table = provisioned(1_000, 1_000)
    admission = Admission(shared=True)
    admission.lend(0.0, table, None, b"k", write=True)
    allowance = admission.write_allowance(table, b"k")
    assert allowance is not None
    admission.settle(1.0)
    assert admission.take_charges() == []
    allowance.left -= 3.0
    assert admission.write_allowance(table, b"k") is None
    changed = msgspec.structs.replace(table, version=table.version + 1)
    assert not admission.refused(2.0, changed, None, b"k", write=True)
    assert [(charged.write, charged.units) for charged in admission.take_charges()] == [(True, 3.0)]


def test_a_table_of_little_capacity_is_lent_nothing() -> None:
    table = provisioned(9, 9)
    admission = Admission()
    for write in (False, True):
        admission.lend(0.0, table, None, b"k", write=write)
    assert admission.read_allowance(table, None, b"k") is None
    assert admission.write_allowance(table, b"k") is None


def test_what_was_lent_to_reads_is_not_for_writes() -> None:
    table = provisioned(100, 100)
    admission = Admission()
    admission.lend(0.0, table, None, b"k", write=False)
    assert admission.read_allowance(table, None, b"k") is not None
    assert admission.write_allowance(table, b"k") is None
