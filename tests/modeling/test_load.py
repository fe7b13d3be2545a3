"""`hashrange model load`: a day of traffic agrees with the partition model, and says what to do about hot keys."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from string import Template

import pytest

from hashrange.cli import main
from hashrange.modeling.commands import load
from hashrange.modeling.commands.new import starter
from hashrange.modeling.load.day import machine_of
from hashrange.modeling.load.flows import flows, sharded
from hashrange.modeling.load.machine import Budget, Machine
from hashrange.modeling.load.records import Place
from hashrange.modeling.load.sharding import fewest_shards
from hashrange.modeling.load.spread import factors, item_keys, tail_keys
from hashrange.modeling.loading import loads
from hashrange.modeling.model import Curve, Rate

TABLE = Place("feed")
FEED = """\
hashrange: 1
name: feed
curves:
  evening: {peak: 4x, at: "20:00", width: 2h}
tables:
  feed:
    partition_key: PK
    $SORT
    billing: $BILLING
    indexes:
      by_day: {partition_key: day, projection: KEYS_ONLY}
entities:
  Post:
    count: $COUNT
    keys: {PK: "TOPIC#{topic}", $KEY day: "{posted_at:.10}"}
    attributes:
      post_id: uuid
      topic: {type: S, distinct: $TOPICS}
      posted_at: timestamp
      body: {type: S, size: 300}
patterns:
  - id: W1
    write: $WRITE
    rate: $RATE
"""


def feed(**words: str) -> str:
    """A model with these words in place of the names."""
    settings = {
        "SORT": "",
        "BILLING": "on-demand",
        "COUNT": "1 million",
        "KEY": "",
        "TOPICS": "1",
        "WRITE": "{update: Post, set: body = ?body}",
        "RATE": "1500/s",
        **words,
    }
    return Template(FEED).substitute(settings)


def machine(
    text: str,
    place: Place = TABLE,
    shards: int = 1,
    questions: int = 10**9,
    observations: int = 10**9,
) -> Machine:
    model = loads(text)
    parts = [sharded(flow, shards) for flow in flows(model)[place]]
    return machine_of(model, place, parts, Budget(questions, observations))


def served(machine: Machine, minutes: range) -> float:
    """Writes per second that were admitted, on average."""
    outcomes = [machine.minute(minute)[1] for minute in minutes]
    return sum(one.offered - one.throttled for one in outcomes) / len(outcomes)


# The figures are those of tests/capacity/test_published_behaviours.py.


@pytest.mark.parametrize("questions", [10**9, 0])
def test_one_hot_key_has_what_one_partition_gives(questions: int) -> None:
    """Asked second by second, or computed as a steady state."""
    hot = machine(feed(COUNT="1"), questions=questions)
    assert served(hot, range(7)) == pytest.approx(1000, rel=0.04)
    assert [split.obstacle for _, split in hot.splits] == ["item"] * len(hot.splits)
    assert hot.splits


def test_without_a_budget_partitions_alone_are_looked_at() -> None:
    hot = machine(feed(COUNT="1"), questions=0, observations=0)
    assert served(hot, range(7)) == pytest.approx(1000)
    assert (hot.splits, hot.estimated_minutes) == ([], 7)


def test_write_sharding_mends_the_hot_key() -> None:
    assert served(machine(feed(COUNT="1"), shards=20), range(7)) == pytest.approx(1500, rel=0.04)


def test_a_hot_collection_is_split_by_its_sort_keys() -> None:
    hot = machine(feed(SORT="sort_key: SK", KEY="SK: '{post_id}',", RATE="1800/s"))
    assert served(hot, range(5)) == pytest.approx(1000, rel=0.04)
    assert served(hot, range(5, 9)) == pytest.approx(1800, rel=0.04)
    assert len([split for _, split in hot.splits if split.at is not None]) == 1


def test_items_that_come_in_order_of_time_are_not_split() -> None:
    hot = machine(feed(SORT="sort_key: SK", KEY="SK: '{posted_at}',", WRITE="{put: Post}", RATE="1800/s"))
    assert served(hot, range(9)) == pytest.approx(1000, rel=0.04)
    assert {split.obstacle for _, split in hot.splits} == {"sequential"}


def test_on_demand_capacity_doubles_once_in_half_an_hour() -> None:
    even = machine(feed(TOPICS="1000000", RATE="10000/s"))
    assert served(even, range(1)) == pytest.approx(4000, rel=0.04)
    assert served(even, range(1, 31)) == pytest.approx(8000, rel=0.04)
    assert served(even, range(32, 36)) == pytest.approx(10_000, rel=0.04)


def test_provisioned_capacity_that_was_saved_is_spent_and_then_it_is_exhausted() -> None:
    """150 units that were idle carry 200 for a quarter of an hour: here without auto scaling, which has no room."""
    scaling = "{mode: provisioned, reads: {minimum: 1, maximum: 1}, writes: {minimum: 150, maximum: 150}}"
    even = machine(feed(BILLING=scaling, TOPICS="1000000", RATE="200/s"))
    assert served(even, range(14)) == pytest.approx(200, rel=0.01)
    assert 150 < served(even, range(14, 17)) < 200
    assert served(even, range(17, 20)) == pytest.approx(150, rel=0.04)


def test_auto_scaling_follows_the_curve() -> None:
    scaling = "{mode: provisioned, writes: {minimum: 10, maximum: 4000, target: 70%}}"
    text = feed(BILLING=scaling, TOPICS="1000000", RATE="{average: 200/s, curve: evening}")
    report = load.run(loads(text), argparse.Namespace(shards=[]))
    writes = next(day for day in report.places if day.index is None).writes
    assert writes.throttled_share < 0.001
    limits = [one.limit for one in writes.bins]
    assert max(limits) > 1000
    assert min(limits) < 400


@pytest.mark.slow
def test_a_day_as_the_key_is_a_rolling_hot_partition_and_shards_mend_it() -> None:
    """Every new post goes to the day's key of the index: three shards carry 2,400 writes per second."""
    text = feed(TOPICS="1000000", WRITE="{put: Post}", RATE="{average: 600/s, curve: evening}")
    report = load.run(loads(text), argparse.Namespace(shards=[]))
    table, index = report.places
    assert (table.kind, table.writes.throttled_share) == ("fine", 0.0)
    assert (index.kind, index.shards) == ("rolling hot partition", 3)
    assert index.hottest_keys[0].key == "2026-01-01"
    assert index.writes.peak == pytest.approx(2400, rel=0.01)
    assert index.writes.peak_time == "20:00"
    throttled = [one.time for one in index.writes.bins if one.throttled]
    assert "12:00" not in throttled
    assert "20:00" in throttled
    text = load.render(report)
    assert "The smallest number of shards that carries the peak: 3" in text
    # The table has room, but what its index cannot take it refuses: all above 1,000 of 2,400.
    (pressure,) = table.back_pressure
    assert (pressure.index, pressure.worst_time) == ("by_day", "20:00")
    assert pressure.worst == pytest.approx(1400, rel=0.02)
    assert pressure.refused_share > index.writes.throttled_share * 0.9
    assert index.back_pressure == ()
    assert "by_day cannot keep up: feed refuses" in text
    assert load.status(report) == 1


def test_the_fewest_shards_are_the_fewest() -> None:
    """One key with 3,500 writes per second: four shards carry it, three do not."""
    text = feed(COUNT="1", RATE="3500/s")
    model, hot = loads(text), machine(text)
    parts = flows(model)[Place("feed")]
    assert fewest_shards(model, hot, parts, 10**6) == 4


def test_shards_do_not_help_where_capacity_is_missing() -> None:
    scaling = "{mode: provisioned, writes: {minimum: 5, maximum: 500}}"
    text = feed(COUNT="1", BILLING=scaling, RATE="1500/s")
    assert fewest_shards(loads(text), machine(text), flows(loads(text))[Place("feed")], 10**5) is None


@pytest.mark.slow
def test_a_what_if_compares_shards_with_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(feed(COUNT="1", RATE="{average: 400/s, curve: evening}"), "utf-8")
    assert main(["model", "load", str(path)]) == 1
    assert "HOT KEY: One key, PK = TOPIC#<topic 1>" in capsys.readouterr().out
    assert main(["model", "load", str(path), "--shards", "feed=4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (change,) = report["what_if"]
    assert change["shards"] == 4
    assert change["throttled_before"] > change["throttled_after"] == 0


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("feed=0", "a number from 1 to 200"),
        ("feed=201", "a number from 1 to 200"),
        ("feed=x", "a number from 1 to 200"),
        ("other=2", "there is traffic on feed"),
    ],
)
def test_shards_that_cannot_be(
    word: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(feed(), "utf-8")
    assert main(["model", "load", str(path), "--shards", word]) == 2
    assert complaint in capsys.readouterr().err


def test_the_starter_has_a_quiet_day() -> None:
    report = load.run(loads(starter()), argparse.Namespace(shards=[]))
    assert [(day.title, day.kind) for day in report.places] == [("shop", "fine"), ("shop.GSI1", "fine")]
    assert load.status(report) == 0
    assert "nothing is throttled" in load.render(report)
    assert len(report.places[0].reads.bins) == 288


def test_a_size_of_many_gigabytes_has_partitions_for_it() -> None:
    assert len(machine(feed(COUNT="200 million")).bounds) >= 7


def test_the_rate_of_a_minute_lies_between_those_of_the_hours() -> None:
    curve = Curve("step", (0.5, 1.5) * 12)
    minutes = factors(Rate(10.0, curve))
    assert minutes[:61:30] == (0.5, 1.0, 1.5)
    assert minutes[-1] == pytest.approx(0.5 + 1 / 60)


def test_keys_that_stand_for_the_tail_are_spread_evenly() -> None:
    keys = tail_keys(256)
    assert len(set(keys)) == 256
    assert [sum(key[0] // 64 == quarter for key in keys[:16]) for quarter in range(4)] == [4] * 4


def test_the_key_of_a_day_is_another_one_tomorrow() -> None:
    index = machine(feed(TOPICS="1000000", WRITE="{put: Post}"), Place("feed", "by_day"))
    (hot,) = index.sides[1].hot
    today, tomorrow = (item_keys(hot, index.table, index.index, minute) for minute in (0, 1440))
    assert today != tomorrow
    assert replace(hot).text(1440) == "2026-01-02"
