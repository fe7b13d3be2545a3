"""What observations come to: the metrics, their dimensions, and how much is kept of them."""

from collections import Counter

import pytest

from hashrange.capacity import histograms
from hashrange.capacity.observation import SAMPLE_MAX, Group, Observation, Observer
from hashrange.capacity.series import Place, Statistics
from hashrange.capacity.tallies import PLACES_MAX, Tallies
from hashrange.core.schema import Index, KeyAttribute, Table

NOW = 1_699_920_030.0
KEY = KeyAttribute("p", "S")
INDEX = Index(name="by-g", local=False, slot=1, hash=(KEY,))


def table_of(name: str = "orders", number: int = 1) -> Table:
    return Table(
        account_id="0",
        region="eu",
        name=name,
        number=number,
        version=1,
        table_id="x",
        created_at=0.0,
        hash=KEY,
    )


TABLE = table_of()


def observation(outcome: str = "ok", table: Table | None = TABLE, **fields: object) -> Observation:
    made = Observation(NOW, "PutItem", "0", "eu", table, None, b"k", 0.0, 0.0, outcome)  # type: ignore[arg-type]
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def counts(tallies: Tallies, table_name: str = "orders") -> dict[str, tuple[int, float]]:
    """Samples and sum of every series."""
    return {
        name: (statistics.n, statistics.sum)
        for counted in tallies.take(PLACES_MAX)
        if counted.place.table_name == table_name
        for name, statistics in counted.series.items()
    }


def test_a_write_with_an_index_counts_for_both() -> None:
    tallies = Tallies()
    tallies.count([observation(write_units=2.0, latency=0.001), observation(write_units=3.0, index=INDEX)])
    assert counts(tallies) == {
        "ConsumedWriteCapacityUnits": (1, 2.0),
        "ConsumedWriteCapacityUnits/GlobalSecondaryIndexName=by-g": (1, 3.0),
        "SuccessfulRequestLatency/Operation=PutItem": (1, pytest.approx(1.0)),
    }


def test_a_request_that_is_throttled_on_table_and_index_is_two_events_and_one_request() -> None:
    tallies = Tallies()
    own = ("TableWriteProvisionedThroughputExceeded", "TableWriteKeyRangeThroughputExceeded")
    tallies.count(
        [
            observation("throttle", reasons=own, latency=0.1),
            observation("throttle", reasons=("IndexWriteAccountLimitExceeded",), index=INDEX),
        ]
    )
    assert counts(tallies) == {
        "WriteThrottleEvents": (1, 1.0),
        "WriteProvisionedThroughputThrottleEvents": (1, 1.0),
        "WriteKeyRangeThroughputThrottleEvents": (1, 1.0),
        "WriteThrottleEvents/GlobalSecondaryIndexName=by-g": (1, 1.0),
        "WriteAccountLimitThrottleEvents/GlobalSecondaryIndexName=by-g": (1, 1.0),
        "ThrottledRequests/Operation=PutItem": (1, 1.0),
    }


@pytest.mark.parametrize(
    ("outcome", "of_table", "user_errors"),
    [
        ("condition", {"ConditionalCheckFailedRequests": (1, 1.0)}, 0),
        ("conflict", {"TransactionConflict": (1, 1.0)}, 1),
        ("system error", {"SystemErrors/Operation=PutItem": (1, 1.0)}, 0),
        ("user error", {}, 1),
    ],
)
def test_failures(outcome: str, of_table: dict[str, tuple[int, float]], user_errors: int) -> None:
    tallies = Tallies()
    tallies.count([observation(outcome, latency=0.1)])
    assert counts(tallies) == of_table
    tallies.count([observation(outcome, latency=0.1)])
    assert counts(tallies, "") == ({"UserErrors": (1, 1.0)} if user_errors else {})


def test_observations_of_two_minutes_are_kept_apart() -> None:
    tallies = Tallies()
    tallies.count([observation(write_units=1.0, time=NOW + after) for after in (0, 40, 1, 90)])
    minutes = {
        counted.time: counted.series["ConsumedWriteCapacityUnits"].n
        for counted in tallies.take(PLACES_MAX)
        if counted.series
    }
    assert sorted(minutes.values()) == [1, 1, 2]
    assert all(time % 60 == 0 for time in minutes)


def test_a_million_tables_do_not_grow_the_memory() -> None:
    tallies = Tallies()
    for number in range(PLACES_MAX + 500):
        tallies.count([observation(table=table_of(f"table-{number}", number), write_units=1.0)])
    assert len(tallies) <= PLACES_MAX
    assert tallies.lost >= 500
    while tallies.take(1000):
        pass
    assert len(tallies) == 0


class Everything:
    """Takes what is handed over."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.observations: list[Observation] = []

    def count(self, observations: object) -> None:
        """Single ones."""

    def count_group(self, group: Group, now: float) -> None:
        assert now == NOW
        self.groups.append(group)


def test_a_sample_stands_for_all() -> None:
    counter = Everything()
    observer = Observer(lambda: NOW, counter)
    seen: list[Observation] = []
    observer.subscribe(seen.extend)
    sources: list[Group] = []
    observer.add_source(lambda: sources)
    for count in (1, 10, SAMPLE_MAX, SAMPLE_MAX + 1, 5000):
        keys = [b"%d" % number for number in range(count)]
        group = Group("GetItem", TABLE, None, False, keys, [0.5] * count, [0.001] * count)
        sources[:] = [group]
        seen.clear()
        observer.hand_over()
        last = list(seen)
        assert len(last) <= SAMPLE_MAX
        assert sum(one.weight for one in last) == pytest.approx(count)
        assert sum(one.read_units for one in last) == pytest.approx(count / 2)
        if count <= SAMPLE_MAX:
            assert [one.key for one in last] == keys


@pytest.mark.parametrize("turns", [2, 8, 25])
def test_a_sample_of_keys_that_take_turns_has_all_of_them(turns: int) -> None:
    """Clients go round their shards, and batches have the same keys: with every eighth key it would be one of eight."""
    for count in (turns * SAMPLE_MAX, turns * SAMPLE_MAX * 10):
        keys = [b"%d" % (number % turns) for number in range(count)]
        group = Group("PutItem", TABLE, None, True, keys, [1.0] * count)
        seen = Counter(one.key for tenth in range(20) for one in group.sample(NOW + tenth / 10))
        assert len(seen) == turns
        assert max(seen.values()) < 3 * 20 * SAMPLE_MAX / turns


def test_the_units_of_a_sample_add_up_to_those_of_all() -> None:
    """A large item that is not in it, or that is, would change what heat says a table has consumed."""
    units = [400.0 if number % 100 == 7 else 1.0 for number in range(1_000)]
    group = Group("PutItem", TABLE, None, True, [b"k"] * 1_000, units)
    for tenth in range(20):
        sample = list(group.sample(NOW + tenth / 10))
        assert sum(one.write_units for one in sample) == pytest.approx(sum(units))


def test_groups_and_single_observations_come_to_the_same() -> None:
    latencies = [0.0005, 0.004, 0.2]
    one, other = Tallies(), Tallies()
    one.count_group(Group("PutItem", TABLE, None, True, [b"k"] * 3, [1.0, 2.0, 1.0], latencies), NOW)
    other.count(
        [
            observation(write_units=units, latency=latency)
            for units, latency in zip((1.0, 2.0, 1.0), latencies, strict=True)
        ]
    )
    assert one.take(10) == other.take(10)


def test_histograms_give_percentiles_within_their_buckets() -> None:
    values = [number / 1000 for number in range(1, 1001)]  # up to a second, in milliseconds below
    statistics = Statistics(1000, 500.5, 1.0, 1000.0, histograms.counted(values))
    for percent in (1, 10, 50, 90, 99, 99.9):
        found = statistics.percentile(percent)
        assert found == pytest.approx(percent * 10, rel=0.1)
    assert statistics.percentile(100) == 1000.0
    assert sum(statistics.histogram.values()) == 1000


def test_places_of_a_region_have_no_table_name() -> None:
    tallies = Tallies()
    tallies.count([observation("user error", table=None, latency=0.1)])
    assert {counted.place for counted in tallies.take(10)} == {Place("0", "eu", "")}
