"""Every reason to be throttled, caused over HTTP: what the client is told, and what metrics, insights and heat show."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest

import warm
from hashrange.core import partitions
from item_tables import index
from new_tables import request as new_table
from schemas import item_key
from service_clients import client_of
from serving import Answer
from still_server import StillServer, still_server
from wiring import eventually

_PATIENCE_SECONDS = 90
_REQUESTS_MAX = 3_000
_REFUSALS = 3  # that each case causes
_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"

TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
INDEX = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with "
    "the UpdateTable API"
)
ON_DEMAND = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)
ON_DEMAND_INDEX = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically "
    "scaling your index so please try again shortly."
)
MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. To request a limit increase, contact AWS "
    "Support at https://aws.amazon.com/support"
)
PROVISIONED_CODE = "ProvisionedThroughputExceededException"
ON_DEMAND_CODE = "ThrottlingException"
ACCOUNT_CODE = "RequestLimitExceeded"

Send = Callable[[int], tuple[str, dict[str, Any]]]  # the request of this number, without its table


def units(reads: int, writes: int) -> dict[str, Any]:
    return {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}


def provisioned(
    reads: int, writes: int, index_reads: int = 1_000, index_writes: int = 1_000
) -> dict[str, Any]:
    throughput = {"ProvisionedThroughput": units(index_reads, index_writes)}
    return {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": units(reads, writes),
        "GlobalSecondaryIndexes": [index("by-g", "g") | throughput],
    }


def on_demand(**more: Any) -> dict[str, Any]:
    return {"GlobalSecondaryIndexes": [index("by-g", "g")], **more}


def put(kilobytes: int, *, indexed: bool = False) -> Send:
    """Puts of the hot item; with `indexed` of different items under one key of the index."""

    def request(number: int) -> tuple[str, dict[str, Any]]:
        item = {"pk": {"S": f"k{number}" if indexed else "hot"}, "v": {"S": "x" * (1024 * kilobytes - 100)}}
        return "PutItem", {"Item": item | ({"g": {"S": "group"}} if indexed else {})}

    return request


def get(_number: int) -> tuple[str, dict[str, Any]]:
    return "GetItem", {"Key": {"pk": {"S": "hot"}}, "ConsistentRead": True, "ProjectionExpression": "pk"}


def get_all(number: int) -> tuple[str, dict[str, Any]]:
    """Reads of all items in turn, so that no partition has more than the others."""
    key = {"pk": {"S": _SPREAD[number % len(_SPREAD)]}}
    return "GetItem", {"Key": key, "ConsistentRead": True, "ProjectionExpression": "pk"}


def query_index(_number: int) -> tuple[str, dict[str, Any]]:
    values = {":g": {"S": "group"}}
    return "Query", {
        "IndexName": "by-g",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": values,
        "Select": "COUNT",
    }


def spread(count: int, each: int) -> list[str]:
    """Keys of which every one of so many partitions has as many, by turns."""
    bounds = partitions.even(count)
    found: list[list[str]] = [[] for _ in bounds]
    for number in range(100 * count * each):
        place = found[partitions.number_of(bounds, item_key({"S": f"k{number}"}))]
        if len(place) < each:
            place.append(f"k{number}")
    return [name for names in zip(*found, strict=True) for name in names]


_SPREAD = spread(14, 4)  # what 40,000 read units are divided into


class Case(NamedTuple):
    """How to be throttled, and what that looks like."""

    table: dict[str, Any]
    send: Send
    served: int  # requests before the first that is refused
    code: str
    message: str
    limits: tuple[str, ...]
    write: bool
    index_name: str | None = None
    items: tuple[int, int] = (1, 100)  # there beforehand: how many, of how many kilobytes
    keys: tuple[str, ...] | None = ("hot",)  # that are throttled most; None: many

    @property
    def kind(self) -> str:
        return "Write" if self.write else "Read"


CASES = {
    # A new table has 60 seconds of its capacity saved.
    "table-read": Case(
        provisioned(1, 100), get, 3, PROVISIONED_CODE, TABLE, ("ProvisionedThroughputExceeded",), False
    ),
    "table-write": Case(
        provisioned(1, 2), put(10), 12, PROVISIONED_CODE, TABLE, ("ProvisionedThroughputExceeded",), True,
        items=(0, 0),
    ),
    "index-read": Case(
        provisioned(1, 100, 1), query_index, 6, PROVISIONED_CODE, INDEX, ("ProvisionedThroughputExceeded",), False,
        "by-g", keys=("group",),
    ),
    # What is saved, then the queue between table and index: then no write of the table is admitted any more.
    "index-write": Case(
        provisioned(1, 1_000, 1, 1), put(10, indexed=True), 9, PROVISIONED_CODE, INDEX,
        ("ProvisionedThroughputExceeded",), True, "by-g", (0, 0), (),
    ),
    "key-range-read": Case(
        on_demand(), get, 120, ON_DEMAND_CODE, ON_DEMAND, ("KeyRangeThroughputExceeded",), False
    ),
    "key-range-write": Case(
        on_demand(), put(100), 10, ON_DEMAND_CODE, ON_DEMAND, ("KeyRangeThroughputExceeded",), True, items=(0, 0)
    ),
    "key-range-read-provisioned": Case(
        provisioned(6_000, 1_000), get, 120, PROVISIONED_CODE, TABLE, ("KeyRangeThroughputExceeded",), False
    ),
    "key-range-write-provisioned": Case(
        provisioned(1, 2_000), put(100), 10, PROVISIONED_CODE, TABLE, ("KeyRangeThroughputExceeded",), True,
        items=(0, 0),
    ),
    "index-key-range-write": Case(
        on_demand(), put(100, indexed=True), 20, ON_DEMAND_CODE, ON_DEMAND_INDEX, ("KeyRangeThroughputExceeded",),
        True, "by-g", (0, 0), (),
    ),
    "maximum-read": Case(
        on_demand(OnDemandThroughput={"MaxReadRequestUnits": 1}), get, 3, ON_DEMAND_CODE, MAXIMUM,
        ("MaxOnDemandThroughputExceeded",), False,
    ),
    "maximum-write": Case(
        on_demand(OnDemandThroughput={"MaxWriteRequestUnits": 1}), put(10), 6, ON_DEMAND_CODE, MAXIMUM,
        ("MaxOnDemandThroughputExceeded",), True, items=(0, 0),
    ),
    # The account's limit is also the most that on-demand capacity grows to.
    "account-read": Case(
        on_demand(WarmThroughput={"ReadUnitsPerSecond": 40_000, "WriteUnitsPerSecond": 4_000}), get_all, 1_600,
        ACCOUNT_CODE, ACCOUNT, ("AccountLimitExceeded", "KeyRangeThroughputExceeded"), False,
        items=(len(_SPREAD), 100), keys=None,
    ),
}  # fmt: skip


class Provoked(NamedTuple):
    """A server after all cases."""

    server: StillServer
    served: dict[str, int]
    refusals: dict[str, list[Answer]]


@pytest.fixture(scope="module")
def provoked() -> Iterator[Provoked]:
    """All at once, because what they leave behind is written some seconds later."""
    with still_server(capacity="enforce") as server:
        outcome = Provoked(server, {}, {})
        for name, case in CASES.items():
            prepare(server, name, case)
            outcome.served[name], outcome.refusals[name] = provoke(server, name, case)
        yield outcome


def prepare(server: StillServer, name: str, case: Case) -> None:
    """Make the table and what is in it, and watch its keys; of writes, a second's rest brings the capacity back."""
    serving, count = server.serving, case.items[0]
    made = serving.post("CreateTable", new_table("pk", types={"g": "S"}, TableName=name, **case.table))
    assert made.status == 200, made.body
    server.clock.advance(1)
    for number in range(count):
        item: dict[str, Any] = {"pk": {"S": "hot"}, "g": {"S": "group"}}
        if count > 1:
            item = {"pk": {"S": _SPREAD[number]}}
        item["v"] = {"S": "x" * (1024 * case.items[1] - 100)}
        written = serving.post("PutItem", {"TableName": name, "Item": item})
        assert written.status == 200, written.body
        server.clock.advance(1)
    for more in ({}, {"IndexName": "by-g"}):
        enable = {"TableName": name, "ContributorInsightsAction": "ENABLE", **more}
        assert eventually(
            lambda enable=enable: serving.post("UpdateContributorInsights", enable).status == 200,
            _PATIENCE_SECONDS,
        )
        server.clock.advance(1)


def provoke(server: StillServer, name: str, case: Case) -> tuple[int, list[Answer]]:
    """Send requests until some are refused; gives how many were served, and the refusals."""
    served, refusals = 0, []
    for number in range(_REQUESTS_MAX):
        operation, request = case.send(number)
        answer = server.serving.post(operation, {"TableName": name, **request})
        if answer.status == 200:
            assert not refusals, "no time has passed"
            served += 1
            continue
        refusals.append(answer)
        if len(refusals) == _REFUSALS:
            return served, refusals
    raise AssertionError(f"{served} requests were served")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_the_reason_is_told_and_counted(provoked: Provoked, name: str) -> None:
    case, server = CASES[name], provoked.server
    served, refusals = provoked.served[name], provoked.refusals[name]
    # While something is lent to one partition, the others may be admitted that much too much.
    assert case.served <= served <= 1.02 * case.served
    for answer in refusals:
        check_answer(answer, name, case)
    operation = case.send(0)[0]
    assert eventually(lambda: metrics(server, name, case, operation) == expected(case), _PATIENCE_SECONDS), (
        metrics(server, name, case, operation)
    )
    assert eventually(
        lambda: scraped(server, name, case) == [_REFUSALS] * len(case.limits), _PATIENCE_SECONDS
    )
    check_heat(server, name, case)
    if case.keys is not None:
        # A write that an index refuses counts for neither (developer guide).
        expected_keys = [([key], float(_REFUSALS)) for key in case.keys]
        assert eventually(lambda: throttled_keys(server, name, case) == expected_keys, _PATIENCE_SECONDS), (
            throttled_keys(server, name, case)
        )


def check_answer(answer: Answer, name: str, case: Case) -> None:
    assert (answer.status, answer.error) == (400, case.code)
    assert answer.body.get("message", answer.body.get("Message")) == case.message
    owner, resource = (
        ("Table", _ARN + name)
        if case.index_name is None
        else ("Index", f"{_ARN}{name}/index/{case.index_name}")
    )
    member = "throttlingReasons" if case.code == ON_DEMAND_CODE else "ThrottlingReasons"
    assert answer.body[member] == [
        {"reason": f"{owner}{case.kind}{limit}", "resource": resource} for limit in case.limits
    ]


def expected(case: Case) -> dict[str, float]:
    """The sums of all metrics about throttles; those that are not there were not raised."""
    families = [f"{case.kind}{limit.removesuffix('Exceeded')}ThrottleEvents" for limit in case.limits]
    return dict.fromkeys((f"{case.kind}ThrottleEvents", *families, "ThrottledRequests"), float(_REFUSALS))


def metrics(server: StillServer, name: str, case: Case, operation: str) -> dict[str, float]:
    """What CloudWatch has of the table's or index's throttles, and of the operation."""
    table = [{"Name": "TableName", "Value": name}]
    owner = (
        table
        if case.index_name is None
        else [*table, {"Name": "GlobalSecondaryIndexName", "Value": case.index_name}]
    )
    asked = {
        f"{kind}{family}ThrottleEvents": owner
        for kind in ("Read", "Write")
        for family in (
            "",
            "ProvisionedThroughput",
            "KeyRangeThroughput",
            "MaxOnDemandThroughput",
            "AccountLimit",
        )
    }
    asked["ThrottledRequests"] = [*table, {"Name": "Operation", "Value": operation}]
    now = datetime.fromtimestamp(server.clock.now(), UTC)
    queries = [
        {
            "Id": f"m{number}",
            "Label": metric,
            "MetricStat": {
                "Metric": {"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": dimensions},
                "Period": 60,
                "Stat": "Sum",
            },
        }
        for number, (metric, dimensions) in enumerate(asked.items())
    ]
    answer = client_of(server.serving, "cloudwatch").get_metric_data(
        MetricDataQueries=queries, StartTime=now - timedelta(hours=1), EndTime=now + timedelta(minutes=2)
    )
    sums = {result["Label"]: sum(result["Values"]) for result in answer["MetricDataResults"]}
    return {metric: total for metric, total in sums.items() if total}


def scraped(server: StillServer, name: str, case: Case) -> list[float]:
    """The same for Prometheus, by cause."""
    page = server.serving.request("GET", "/metrics").body.decode()
    labels = rf'table="{name}",index="{case.index_name or ""}",kind="{case.kind.lower()}"'
    pattern = rf"hashrange_table_throttled_events_total\{{[^}}]*{labels}[^}}]*\}} (\S+)"
    return [float(value) for value in re.findall(pattern, page) if float(value)]


def check_heat(server: StillServer, name: str, case: Case) -> None:
    """The command's picture has the refusals, and those of a partition where it is to blame."""
    words = [name, "--json", "--endpoint", server.serving.endpoint]
    words += [] if case.index_name is None else ["--index", case.index_name]
    shown = json.loads(printed("heat", *words))
    if case.keys:
        attribute = "pk" if case.index_name is None else "g"
        assert shown["hottest_keys"][0]["key"] == {attribute: {"S": case.keys[0]}}
    side = shown["writes" if case.write else "reads"]
    assert side["throttled_per_second"] * shown["seconds"] == pytest.approx(_REFUSALS)
    by_partition = sum(row["throttled_per_second"] for row in shown["partitions"]) * shown["seconds"]
    of_key_range = "KeyRangeThroughputExceeded" in case.limits
    assert by_partition == pytest.approx(_REFUSALS if of_key_range else 0)


def printed(*words: str) -> str:
    """What a command prints; on a busy machine the server may be too slow for it the first time."""
    runs: list[subprocess.CompletedProcess[str]] = []

    def succeeds() -> bool:
        runs.append(warm.run(*words))
        return runs[-1].returncode == 0

    assert eventually(succeeds, _PATIENCE_SECONDS), runs[-1].stderr
    return runs[-1].stdout


def throttled_keys(server: StillServer, name: str, case: Case) -> list[tuple[list[str], float]]:
    """Contributor Insights' most throttled partition keys."""
    more = "" if case.index_name is None else f"&index={case.index_name}"
    answer = server.serving.request("GET", f"/_hashrange/insights?table={name}&minutes=60{more}")
    assert answer.status == 200, answer.body
    (rule,) = [rule for rule in answer.body["rules"] if rule["rule"] == "PKT"]
    return [(one["keys"], one["value"]) for one in rule["report"]["contributors"]]
