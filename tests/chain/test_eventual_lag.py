"""--eventual-lag: what need not be up to date is read as it was, everything else as it is."""

from typing import Any

import pytest

from clocked import OPERATIONS, Clocked
from hashrange.api.registry import DYNAMODB
from hashrange.chain import eventual_lag
from hashrange.storage.remembering import RememberingEngine
from hashrange.storage.sqlite import MemoryEngine
from item_tables import index
from new_tables import request as new_table

LAG = 5.0
KEY = {"pk": {"S": "p"}, "sk": {"S": "1"}}


class Lagging(Clocked):
    """A service that lags, with a table of items that were there before `now`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        inner = MemoryEngine()
        super().__init__(inner)
        remembering = RememberingEngine(inner, self.clock)
        self.executor = type(self.executor)(remembering)
        lagging = eventual_lag.lagging(DYNAMODB, eventual_lag.Lags(LAG))
        for name, operation in lagging.operations.items():
            monkeypatch.setitem(OPERATIONS, name, operation)
        self.call(
            "CreateTable",
            **new_table(
                "pk",
                "sk",
                types={"a": "S", "l": "S"},
                TableName="ttt",
                GlobalSecondaryIndexes=[index("global", "a")],
                LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
            ),
        )
        self.settle()
        for sk in "123":
            self.put(sk, "old")
        self.clock.advance(60)

    def put(self, sk: str, a: str) -> None:
        values = {"pk": "p", "sk": sk, "a": a, "l": sk}
        item = {name: {"S": value} for name, value in values.items()}
        self.call("PutItem", TableName="ttt", Item=item)

    def change(self) -> None:
        """Replace an item, delete one, and put a new one."""
        self.put("1", "new")
        self.call("DeleteItem", TableName="ttt", Key={"pk": {"S": "p"}, "sk": {"S": "2"}})
        self.put("4", "new")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Lagging:
    return Lagging(monkeypatch)


OLD = [("1", "old"), ("2", "old"), ("3", "old")]
NEW = [("1", "new"), ("3", "old"), ("4", "new")]
QUERY: dict[str, Any] = {
    "TableName": "ttt",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "p"}},
}


def shown(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((item["sk"]["S"], item["a"]["S"]) for item in items)


def batch(service: Lagging, **options: Any) -> list[tuple[str, str]]:
    keys = [{"pk": {"S": "p"}, "sk": {"S": sk}} for sk in "1234"]
    answer = service.call("BatchGetItem", RequestItems={"ttt": {"Keys": keys, **options}})
    return shown(answer["Responses"]["ttt"])


def gets(service: Lagging, **options: Any) -> list[tuple[str, str]]:
    answers = [
        service.call("GetItem", TableName="ttt", Key={"pk": {"S": "p"}, "sk": {"S": sk}}, **options)
        for sk in "1234"
    ]
    return shown([answer["Item"] for answer in answers if "Item" in answer])


def statements(service: Lagging, **options: Any) -> list[tuple[str, str]]:
    texts = [f"SELECT * FROM ttt WHERE pk = 'p' AND sk = '{sk}'" for sk in "1234"]
    answer = service.call(
        "BatchExecuteStatement", Statements=[{"Statement": text, **options} for text in texts]
    )
    return shown([response["Item"] for response in answer["Responses"] if "Item" in response])


READS: dict[str, Any] = {
    "GetItem": gets,
    "BatchGetItem": batch,
    "BatchExecuteStatement": statements,
    "Query": lambda service, **options: shown(service.call("Query", **QUERY, **options)["Items"]),
    "Scan": lambda service, **options: shown(service.call("Scan", TableName="ttt", **options)["Items"]),
    "local index": lambda service, **options: shown(
        service.call("Query", **QUERY, IndexName="local", Select="ALL_ATTRIBUTES", **options)["Items"]
    ),
    "ExecuteStatement": lambda service, **options: shown(
        service.call("ExecuteStatement", Statement="SELECT * FROM ttt WHERE pk = 'p'", **options)["Items"]
    ),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_eventual_reads_see_the_past_and_strong_ones_do_not(service: Lagging, read: Any) -> None:
    service.change()
    service.clock.advance(LAG - 0.5)
    assert read(service) == OLD
    assert read(service, ConsistentRead=True) == NEW
    service.clock.advance(1.0)
    assert read(service) == NEW


def test_global_indexes_are_always_behind(service: Lagging) -> None:
    service.change()
    assert shown(service.call("Scan", TableName="ttt", IndexName="global")["Items"]) == OLD
    service.clock.advance(LAG + 0.5)
    assert shown(service.call("Scan", TableName="ttt", IndexName="global")["Items"]) == NEW


def test_transactions_are_up_to_date(service: Lagging) -> None:
    service.change()
    answer = service.call("TransactGetItems", TransactItems=[{"Get": {"TableName": "ttt", "Key": KEY}}])
    assert answer["Responses"][0]["Item"]["a"] == {"S": "new"}


def test_counts_limits_and_pages_are_of_the_past(service: Lagging) -> None:
    service.change()
    counted = service.call("Query", **QUERY, Select="COUNT")
    assert (counted["Count"], counted["ScannedCount"]) == (3, 3)
    first = service.call("Query", **QUERY, Limit=2)
    assert [item["sk"]["S"] for item in first["Items"]] == ["1", "2"]
    rest = service.call("Query", **QUERY, Limit=2, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert [item["sk"]["S"] for item in rest["Items"]] == ["3"]
    backwards = service.call("Query", **QUERY, Limit=1, ScanIndexForward=False)
    assert [item["sk"]["S"] for item in backwards["Items"]] == ["3"]


def test_a_batch_may_be_up_to_date_in_one_table_only(service: Lagging) -> None:
    service.call("CreateTable", **new_table("pk", TableName="other"))
    service.settle()
    service.call("PutItem", TableName="other", Item={"pk": {"S": "o"}})
    service.change()
    answer = service.call(
        "BatchGetItem",
        RequestItems={
            "ttt": {"Keys": [KEY]},
            "other": {"Keys": [{"pk": {"S": "o"}}], "ConsistentRead": True},
        },
    )
    assert answer["Responses"]["ttt"][0]["a"] == {"S": "old"}
    assert answer["Responses"]["other"] == [{"pk": {"S": "o"}}]


def test_conditions_look_at_the_present(service: Lagging) -> None:
    service.change()
    new = {":new": {"S": "new"}}
    condition = {"ConditionExpression": "a = :new", "ExpressionAttributeValues": new}
    service.call("DeleteItem", TableName="ttt", Key=KEY, **condition)
