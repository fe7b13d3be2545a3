"""Key sketches: which observations count, for which rules, and how they come back from their rows."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.insights.report import ReportRequest, report
from hashrange.api.insights.rules import rules_in
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.capacity.key_sketches import KeySketches
from hashrange.capacity.observation import Observation, Observer
from hashrange.capacity.tallies import Tallies
from hashrange.chain.charge import Lanes
from hashrange.chain.executor import Call
from hashrange.core.keys import encoding
from hashrange.core.schema import Table
from hashrange.jobs.insights import ForgetInsights
from hashrange.storage import insight_rows, layout
from hashrange.storage.insight_flush import InsightFlusher
from item_tables import index
from new_tables import request as new_table


class Watched(Clocked):
    """A service whose requests are observed, and whose hot keys are looked for."""

    def __init__(self) -> None:
        super().__init__()
        self.observer = Observer(self.clock.now, Tallies())
        self.sketches = KeySketches()
        self.observer.subscribe(self.sketches.count)
        self.flusher = InsightFlusher(self.engine, self.sketches)
        self._lanes = Lanes(self.observer, self.clock)

    def run(self, operation: str, /, **request: Any) -> tuple[Call, Result]:
        call, result = super().run(operation, **request)
        lane = self._lanes.lane(DYNAMODB, call.operation)
        assert lane is not None
        lane.note(call, result, None, 0.0)
        self.observer.hand_over()  # before the clock is moved
        return call, result

    def flush(self) -> None:
        self.observer.hand_over()
        self.flusher.finish()

    def table(self) -> Table:
        table = self.catalogue.find("000000000000", "us-east-1", "tab")
        assert table is not None
        return table

    def report(self, rule: str, **more: Any) -> Any:
        """The keys and values of a rule of the table, or of its index."""
        self.flush()
        now = self.clock.now()
        rules = rules_in(self.catalogue.tables(), "000000000000", "us-east-1", now)
        (own,) = [
            one
            for one in rules
            if one.rule == rule and (one.observed.index is not None) is more.get("of_index", False)
        ]
        request = ReportRequest(start=now - 3600, end=now + 60, contributors_max=more.get("most", 25))
        return self.engine.read(lambda reader: report(reader, own, request))


def contributors(shown: Any) -> list[tuple[list[str], float]]:
    return [(one.keys, one.value) for one in shown.contributors]


@pytest.fixture
def service() -> Watched:
    service = Watched()
    options: dict[str, Any] = {
        "types": {"g": "S", "n": "N", "l": "S"},
        "GlobalSecondaryIndexes": [index("glo", "g", "n")],
        "LocalSecondaryIndexes": [index("loc", "pk", "l")],
    }
    service.call("CreateTable", **new_table("pk", "sk", TableName="tab", **options))
    service.settle()
    for more in ({}, {"IndexName": "glo"}):
        service.call("UpdateContributorInsights", TableName="tab", ContributorInsightsAction="ENABLE", **more)
    service.settle()
    return service


def item(pk: str, sk: str, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}, **more}


def test_units_are_added_up_by_partition_key_and_by_whole_key(service: Watched) -> None:
    for number in range(3):
        service.call("PutItem", TableName="tab", Item=item("a", str(number)))
    service.call("PutItem", TableName="tab", Item=item("b", "x"))
    for _ in range(4):
        service.call("GetItem", TableName="tab", Key=item("b", "x"), ConsistentRead=True)
    shown = service.report("PKC")
    assert shown.key_labels == ["pk"]
    assert contributors(shown) == [(["a"], 9.0), (["b"], 7.0)]  # a write counts three times
    assert (shown.aggregate_value, shown.approximate_unique_count, shown.error) == (16.0, 2, 0.0)
    pairs = service.report("SKC")
    assert pairs.key_labels == ["pk", "sk"]
    assert contributors(pairs)[0] == (["b", "x"], 7.0)
    assert len(pairs.contributors) == 4


def test_queries_count_for_their_partition_key(service: Watched) -> None:
    service.call("PutItem", TableName="tab", Item=item("a", "1"))
    service.call(
        "Query",
        TableName="tab",
        KeyConditionExpression="pk = :a AND sk > :s",
        ExpressionAttributeValues={":a": {"S": "a"}, ":s": {"S": "0"}},
        ConsistentRead=True,
    )
    assert contributors(service.report("PKC")) == [(["a"], 4.0)]
    assert contributors(service.report("SKC")) == [(["a", "1"], 3.0)]


def test_an_index_has_keys_of_its_own(service: Watched) -> None:
    service.call("PutItem", TableName="tab", Item=item("a", "1", g={"S": "green"}, n={"N": "-7.5"}))
    assert contributors(service.report("PKC", of_index=True)) == [(["green"], 3.0)]
    assert contributors(service.report("SKC", of_index=True)) == [(["green", "-7.5"], 3.0)]


def test_a_local_index_counts_for_the_item_of_its_row(service: Watched) -> None:
    service.call("PutItem", TableName="tab", Item=item("a", "1", l={"S": "local"}))
    assert contributors(service.report("SKC")) == [(["a", "1"], 6.0)]


def test_scans_and_statements_count_for_no_key(service: Watched) -> None:
    service.call("Scan", TableName="tab")
    service.call("ExecuteStatement", Statement="SELECT * FROM tab WHERE pk = 'a'")
    assert contributors(service.report("PKC")) == []


def throttle(service: Watched, operation: str = "PutItem", *, of_index: bool = False) -> None:
    table = service.table()
    key = encoding.partition_prefix([{"S": "hot"}]) + b"1"
    observation = Observation(
        service.clock.now(),
        operation,
        table.account_id,
        table.region,
        table,
        table.index_by_name["glo"] if of_index else None,
        key,
        0.0,
        0.0,
        "throttle",
    )
    service.sketches.count([observation])


def test_throttles_are_counted_by_rules_of_their_own(service: Watched) -> None:
    throttle(service)
    throttle(service)
    assert contributors(service.report("PKT")) == [(["hot"], 2.0)]
    assert contributors(service.report("SKT")) == [(["hot", "1"], 2.0)]
    assert contributors(service.report("PKC")) == []
    throttle(service, of_index=True)
    assert contributors(service.report("PKT", of_index=True)) == []


def test_in_the_narrow_mode_only_throttles_are_counted(service: Watched) -> None:
    service.call(
        "UpdateContributorInsights",
        TableName="tab",
        ContributorInsightsAction="ENABLE",
        ContributorInsightsMode="THROTTLED_KEYS",
    )
    service.settle()
    service.call("PutItem", TableName="tab", Item=item("a", "1"))
    throttle(service)
    assert contributors(service.report("PKT")) == [(["hot"], 1.0)]
    prefix = layout.insights_prefix(service.table().number, 0, 0)
    rows = service.engine.read(lambda reader: list(reader.scan(prefix, encoding.prefix_end(prefix))))
    assert rows == []


def test_workers_and_minutes_are_added_up(service: Watched) -> None:
    other = KeySketches()
    service.observer.subscribe(other.count)
    for _ in range(3):
        service.call("PutItem", TableName="tab", Item=item("a", "1"))
        service.clock.advance(60)
    service.flush()
    InsightFlusher(service.engine, other).finish()
    shown = service.report("PKC")
    assert contributors(shown) == [(["a"], 18.0)]
    assert [point.value for point in shown.contributors[0].points] == [6.0, 6.0, 6.0]


def test_a_minute_is_written_again_as_it_grows(service: Watched) -> None:
    for expected in (3.0, 6.0, 9.0):
        service.call("PutItem", TableName="tab", Item=item("a", "1"))
        assert contributors(service.report("PKC")) == [(["a"], expected)]


def test_a_table_that_is_not_watched_costs_no_rows(service: Watched) -> None:
    service.call("UpdateContributorInsights", TableName="tab", ContributorInsightsAction="DISABLE")
    service.settle()
    service.call("PutItem", TableName="tab", Item=item("a", "1"))
    service.flush()
    rows = service.engine.read(
        lambda reader: list(reader.scan(layout.INSIGHT, encoding.prefix_end(layout.INSIGHT)))
    )
    assert rows == []


def test_rows_are_forgotten_after_a_day(service: Watched) -> None:
    job = ForgetInsights(service.engine)
    service.call("PutItem", TableName="tab", Item=item("a", "1"))
    service.flush()
    service.clock.advance(insight_rows.KEPT_SECONDS - 60)
    assert job.step(service.clock.now()) > 0
    service.call("PutItem", TableName="tab", Item=item("b", "1"))
    service.flush()
    service.clock.advance(180)
    assert job.step(service.clock.now()) == 0
    assert job.step(service.clock.now()) > 0
    assert contributors(service.report("PKC")) == [(["b"], 3.0)]


def test_memory_is_bounded_over_a_long_run(service: Watched) -> None:
    table = service.table()
    for minute in range(2000):
        key = encoding.partition_prefix([{"S": str(minute)}]) + b"1"
        observation = Observation(
            60.0 * minute, "GetItem", table.account_id, table.region, table, None, key, 1.0, 0.0, "ok"
        )
        service.sketches.count([observation])
        service.sketches.take(100, insight_rows.packed)
    assert len(service.sketches._sketches) < 20
