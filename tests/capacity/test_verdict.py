"""The verdict on heat: a pure function of what was observed, in words for people."""

from collections.abc import Iterator
from itertools import chain, count, cycle, islice, repeat
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from capacity.load import Machine, Seen, even_keys, one_key, sharded_key
from hashrange.capacity.heat import Heat
from hashrange.capacity.heat_report import HeatReport, report
from hashrange.core import partitions
from hashrange.core.keys import encoding, key_parts
from hashrange.core.schema import Index, Table, Throughput, UnitPair, Warm
from schemas import index, item_key, table

BEGIN = 1_000_000 * 60.0


def on_demand(*keys: str, **more: Any) -> Table:
    warm = Warm(read_units=12_000, write_units=4_000)
    record = table(*(keys or ("pk:S",)), on_demand=True, warm=warm, created_at=BEGIN, **more)
    return partitions.created(record)


def heat_of(record: Table, keys: Iterator[bytes], *, per_second: float, **load: Any) -> HeatReport:
    """The report after two minutes and a half of a load."""
    machine = Machine(record, now=BEGIN, follows=True)
    machine.load(keys, seconds=150, per_second=per_second, units=load.pop("units", 5), **load)
    assert machine.heat is not None
    owner = load.get("index")
    return report(machine.table, owner, machine.heat.windows(machine.table, owner, machine.now), machine.now)


def test_no_traffic_is_idle() -> None:
    found = report(on_demand(), None, [], BEGIN)
    assert found.verdict.kind == "idle"
    assert found.hottest_keys == []
    assert [row.use for row in found.partitions] == [0.0] * 4


def test_even_load_is_fine() -> None:
    found = heat_of(on_demand(), even_keys(), per_second=2_000)
    assert found.verdict.kind == "fine"
    assert found.writes.units_per_second == pytest.approx(2_000, rel=0.02)
    assert [row.share for row in found.partitions] == pytest.approx([0.25] * 4, abs=0.05)
    assert found.verdict.remedy is None


def test_a_hot_key_is_named_with_the_number_of_shards_that_it_needs() -> None:
    found = heat_of(on_demand(), one_key("celebrity"), per_second=1_500)
    assert found.verdict.kind == "hot key"
    assert "pk = celebrity" in found.verdict.text
    assert found.verdict.shards == 3
    assert "suffix from 0 to 2" in str(found.verdict.remedy)
    assert found.hottest_keys[0].key == {"pk": {"S": "celebrity"}}
    assert found.hottest_keys[0].share == 1.0
    assert found.writes.throttled_per_second == pytest.approx(500 / 5, rel=0.1)
    hot = max(found.partitions, key=lambda row: row.use)
    assert hot.share == 1.0
    assert hot.throttled_per_second > 0


def test_the_advice_works() -> None:
    found = heat_of(on_demand(), one_key("celebrity"), per_second=1_500)
    assert found.verdict.shards is not None
    after = heat_of(on_demand(), sharded_key("celebrity", 4 * found.verdict.shards), per_second=1_500)
    assert after.writes.throttled_per_second == 0


def test_a_hot_key_of_reads_wants_a_cache() -> None:
    found = heat_of(on_demand(), one_key("front-page"), per_second=4_000, units=20, write=False)
    assert found.verdict.kind == "hot key"
    assert "cache" in str(found.verdict.remedy)


def test_a_hot_key_with_many_items_is_told_that_a_split_helps_meanwhile() -> None:
    keys = [item_key({"S": "tenant"}, {"N": str(number * 7919 % 100)}) for number in range(100)]
    found = heat_of(on_demand("pk:S", "sk:N"), cycle(keys), per_second=1_200)
    assert found.verdict.kind == "hot key"
    assert "split by sort key" in str(found.verdict.remedy)
    local = index("local", "pk:S", "l:S", local=True)
    pinned = heat_of(on_demand("pk:S", "sk:N", indexes=(local,)), cycle(keys), per_second=1_200)
    assert "split" not in str(pinned.verdict.remedy)


def test_few_writes_of_one_key_are_fine_but_told() -> None:
    found = heat_of(on_demand(), one_key("counter"), per_second=100)
    assert found.verdict.kind == "fine"
    assert "pk = counter, has 100 % of the writes" in found.verdict.text


@pytest.mark.parametrize(
    "keys",
    [
        # a date as partition key
        cycle([item_key({"S": "2026-11-16"}, {"S": f"{number * 7919 % 100:03}"}) for number in range(100)]),
        # a rising sort key
        (item_key({"S": "log"}, {"N": str(number)}) for number in count()),
        # another key in every minute
        chain.from_iterable(repeat(item_key({"S": f"batch-{at}"}, {"N": "1"}), 12_000) for at in count()),
    ],
)
def test_traffic_that_moves_through_the_keys_is_a_rolling_hot_partition(keys: Iterator[bytes]) -> None:
    sort_type = "sk:N"
    found = heat_of(on_demand("pk:S", sort_type), keys, per_second=1_000)
    assert found.verdict.kind == "rolling hot partition"
    assert found.verdict.shards == 2


def test_many_keys_in_one_partition_are_uneven_keys() -> None:
    record = on_demand()
    keys = [item_key({"S": str(number)}) for number in range(2_000)]
    crowded = [key for key in keys if partitions.number_of(record.partitions, key) == 2]
    Random(1).shuffle(crowded)
    found = heat_of(record, cycle(crowded), per_second=900)
    assert found.verdict.kind == "uneven keys"
    assert "Partition 2 of 4" in found.verdict.text


@pytest.mark.parametrize(
    ("record", "remedy"),
    [
        (table("pk:S", throughput=Throughput(read_units=5, write_units=5)), "auto scaling"),
        (on_demand(on_demand_limits=UnitPair(read_units=-1, write_units=5)), "maximum"),
    ],
)
def test_even_load_that_is_throttled_wants_more_capacity(record: Table, remedy: str) -> None:
    found = heat_of(record, even_keys(), per_second=200)
    assert found.verdict.kind == "too little capacity"
    assert "the limit of 5 units per second" in found.verdict.text
    assert remedy in str(found.verdict.remedy)
    assert found.writes.limit_per_second == 5


def test_an_index_has_a_verdict_of_its_own() -> None:
    by_status: Index = index("by-status", "status:S", "n:N", slot=2, partitions=partitions.even(4))
    record = on_demand("pk:S", indexes=(by_status,))
    rows = [
        encoding.index_key([{"S": "open"}], [{"N": str(n * 7919 % 100)}], item_key({"S": str(n)}))
        for n in range(100)
    ]
    found = heat_of(record, cycle(rows), per_second=1_500, index=by_status)
    assert found.index == "by-status"
    assert found.verdict.kind == "hot key"
    assert found.hottest_keys[0].key == {"status": {"S": "open"}}


@pytest.mark.parametrize("value", [{"S": "é" * 3}, {"N": "-12.5"}, {"N": "0"}, {"B": "AAECAw=="}])
@pytest.mark.parametrize("sort", [{"S": "\0x"}, {"N": "-0.001"}, {"N": "1000"}, {"B": "AP8A"}])
def test_keys_are_shown_as_the_attributes_that_they_were_made_of(value: Any, sort: Any) -> None:
    (kind,), (sort_kind,) = value, sort
    plain = table(f"pk:{kind}", f"sk:{sort_kind}")
    by = index("by", f"g:{kind} h:S", f"a:{sort_kind} b:N")
    key = item_key(value, sort)
    assert key_parts.attributes(plain, None, key) == {"pk": value, "sk": sort}
    row = encoding.index_key([value, {"S": "h"}], [sort, {"N": "3"}], key)
    assert key_parts.attributes(plain, by, row) == {"g": value, "h": {"S": "h"}, "a": sort, "b": {"N": "3"}}
    assert key_parts.partition_attributes(plain, None, key[:9]) is None


def test_traffic_of_which_nothing_was_admitted_has_a_verdict_too() -> None:
    record = on_demand()
    refused = Seen(
        BEGIN,
        record,
        None,
        item_key({"S": "hot"}),
        outcome="throttle",
        reasons=("TableWriteKeyRangeThroughputExceeded",),
        weight=50_000.0,
    )
    kept = Heat()
    kept.observe([refused])
    found = report(record, None, kept.windows(record, None, BEGIN), BEGIN + 30)
    assert found.verdict.kind == "uneven keys"
    assert found.writes.throttled_per_second > 1_000


def test_a_report_names_only_the_keys_that_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made while clients wait: taking thousands of sampled keys apart took most of its time."""
    record = on_demand()
    kept = Heat()
    kept.observe([Seen(BEGIN, record, None, key, write_units=2.0) for key in islice(even_keys(), 900)])
    named = Mock(wraps=key_parts.partition_attributes)
    monkeypatch.setattr(key_parts, "partition_attributes", named)
    found = report(record, None, kept.windows(record, None, BEGIN), BEGIN + 30)
    assert len(found.hottest_keys) == 10
    assert named.call_count <= 20
