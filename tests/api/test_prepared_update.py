"""A prepared UpdateItem does and answers what the long path does."""

import itertools
from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.items.prepared import PreparedRequests
from item_tables import index
from new_tables import request as new_table
from prepared_ways import TwoWays

Request = dict[str, Any]
VALUES: tuple[Any, ...] = (
    {"S": "text"},
    {"S": ""},
    {"N": "1"},
    {"N": "01.50"},
    {"N": "-0"},
    {"N": "nine"},
    {"N": 5},
    {"B": "AA=="},
    {"B": "AB=="},
    {"BOOL": True},
    {"NULL": True},
    {"NULL": False},
    {"SS": ["b", "a"]},
    {"SS": ["a", "a"]},
    {"NS": ["2", "1"]},
    {"L": [{"N": "1.0"}]},
    {"M": {"k": {"S": "v"}}},
    {"M": {"": {"S": "v"}}},
    {"S": "a", "N": "1"},
    {"S": "x" * 410_000},
    {},
    None,
    "text",
)
UPDATES = (
    "SET #a = :v",
    "SET #a = #a + :v",
    "SET #a = if_not_exists(#a, :v)",
    "SET #a = list_append(:v, :v)",
    "SET #a.k = :v",
    "SET #a[0] = :v",
    "ADD #a :v",
    "DELETE #a :v",
    "REMOVE other SET #a = :v",
)
CONDITIONS = (
    None,
    "attribute_exists(pk)",
    "#a < :v",
    "#a BETWEEN :v AND :v",
    "begins_with(#a, :v)",
    "attribute_type(#a, :v)",
    "size(#a) > :v",
    "#a IN (:v) OR contains(#a, :v)",
)
RETURNS = ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")


@pytest.fixture(scope="module")
def ways() -> TwoWays:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", TableName="plain"))
    service.call(
        "CreateTable",
        **new_table(
            "pk",
            "sk",
            types={"sk": "N", "g": "S"},
            TableName="indexed",
            GlobalSecondaryIndexes=[index("by-g", "g")],
        ),
    )
    service.call(
        "CreateTable",
        **new_table(
            "pk",
            "sk",
            types={"sk": "N", "g": "S"},
            TableName="collected",
            LocalSecondaryIndexes=[index("local", "pk", "g")],
        ),
    )
    service.settle()
    for name in ("n", "s", "l", "m", "ss"):
        value = {"n": {"N": "5"}, "s": {"S": "text"}, "l": {"L": [{"N": "1"}]}, "m": {"M": {"k": {"S": "a"}}}}
        item = {"pk": {"S": name}, "a": value.get(name, {"SS": ["a", "c"]}), "other": {"BOOL": True}}
        service.call("PutItem", TableName="plain", Item=item)
        for table in ("indexed", "collected"):
            service.call("PutItem", TableName=table, Item=item | {"sk": {"N": "1"}, "g": {"S": "g"}})
    return TwoWays(service, "UpdateItem")


def ask(text: str, value: Any = None, condition: str | None = None, **more: Any) -> Request:
    request: Request = {"TableName": "plain", "Key": {"pk": {"S": "n"}}, "UpdateExpression": text}
    if condition is not None:
        request["ConditionExpression"] = condition
    if "#a" in text or "#a" in (condition or ""):
        request["ExpressionAttributeNames"] = {"#a": "a"}
    if ":v" in text or ":v" in (condition or ""):
        request["ExpressionAttributeValues"] = {":v": value}
    return request | more


@pytest.mark.slow
@pytest.mark.parametrize("text", UPDATES)
def test_every_value_gets_the_same_answer(ways: TwoWays, text: str) -> None:
    outcomes = set()
    for value, condition, name in itertools.product(VALUES, CONDITIONS, ("n", "s", "m", "new")):
        request = ask(text, value, condition, Key={"pk": {"S": name}}, ReturnValues="ALL_NEW")
        outcomes.add(str(ways.agree(request)[:3]))
    assert len(outcomes) > 3


@pytest.mark.parametrize("returned", [*RETURNS, "SOME", None, 1, ["NONE"]])
def test_every_choice_of_what_is_returned(ways: TwoWays, returned: Any) -> None:
    for text, name in itertools.product(("SET #a = :v", "SET #a.k = :v", "REMOVE #a"), ("m", "new")):
        ways.agree(ask(text, {"N": "1"}, Key={"pk": {"S": name}}, ReturnValues=returned))
    plain = ask("SET #a = :v", {"N": "1"}, ReturnValues=returned)
    assert ways.is_prepared(plain) == (returned in (*RETURNS, None))


def test_what_is_prepared_and_what_is_not(ways: TwoWays) -> None:
    good = ask("SET #a = #a + :v", {"N": "1"}, "#a < :v")
    ways.agree(good)
    assert ways.is_prepared(good)
    assert ways.is_prepared(good | {"ExpressionAttributeValues": {":v": {"N": "7"}}})
    more: Request
    for more in (
        {"ReturnConsumedCapacity": "TOTAL"},
        {"ReturnConsumedCapacity": "INDEXES"},
        {"ReturnItemCollectionMetrics": "SIZE"},
        {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
        {"ReturnValues": "UPDATED_NEW"},
        {"Unknown": 1},
    ):
        assert ways.is_prepared(good | more), more
        ways.agree(good | more)
    for more in (
        {"ExpressionAttributeNames": {"#a": "b"}},
        {"ExpressionAttributeValues": {":w": {"N": "1"}}},
        {"ExpressionAttributeValues": {":v": {"N": "1"}, ":w": {"N": "1"}}},
        {"ReturnConsumedCapacity": "total"},
        {"Expected": {"a": {"Exists": False}}},
        {"AttributeUpdates": {}},
        {"TableName": "indexed"},
        {"TableName": "nowhere"},
        {"TableName": None},
        {"UpdateExpression": None},
        {"ConditionalOperator": "AND"},
    ):
        assert not ways.is_prepared(good | more), more
        ways.agree(good | more)


def test_keys_get_the_same_answer(ways: TwoWays) -> None:
    keys: tuple[Any, ...] = (
        {"pk": {"S": "n"}, "sk": {"N": "1"}},
        {"pk": {"S": "n"}, "sk": {"N": "1.0"}},
        {"pk": {"S": "n"}, "sk": {"S": "1"}},
        {"pk": {"S": ""}, "sk": {"N": "1"}},
        {"pk": {"S": "n"}},
        {"pk": {"S": "x" * 2049}, "sk": {"N": "1"}},
        {"pk": {"S": "n"}, "sk": {"N": "1"}, "a": {"S": "a"}},
        {},
        [],
        None,
    )
    for key, text in itertools.product(keys, ("SET #a = :v", "SET g = :v", "SET pk = :v", "SET sk = :v")):
        for value in ({"S": "g2"}, {"N": "1"}, {"S": ""}):
            ways.agree(ask(text, value, TableName="indexed", Key=key, ReturnValues="ALL_NEW"))


def test_placeholders_that_are_missing_or_not_used(ways: TwoWays) -> None:
    for names, values in itertools.product(
        ({"#a": "a"}, {"#a": "pk"}, {"#a": ""}, {"#a": 1}, {"#a": ["a"]}, {"a": "a"}, {}, [], None),
        ({":v": {"N": "1"}}, {":w": {"N": "1"}}, {"v": {"N": "1"}}, {}, [], None, ":v"),
    ):
        request = ask("SET #a = :v") | {
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        ways.agree(request)
        ways.agree({name: value for name, value in request.items() if value is not None})


def test_a_changed_table_is_judged_anew(ways: TwoWays) -> None:
    request = ask("SET #a = :v", {"N": "1"}, TableName="indexed", Key={"pk": {"S": "n"}, "sk": {"N": "1"}})
    ways.agree(request)
    assert ways.is_prepared(request)
    definition = {"AttributeName": "a", "AttributeType": "S"}
    ways.service.call(
        "UpdateTable",
        TableName="indexed",
        AttributeDefinitions=[definition],
        GlobalSecondaryIndexUpdates=[{"Create": index("by-a", "a")}],
    )
    assert ways.agree(request)[1] == "ValidationException"
    ways.service.settle()
    assert ways.agree(request)[1] == "ValidationException"


def test_reports_and_collections_get_the_same_answer(ways: TwoWays) -> None:
    reports = itertools.product(
        ("TOTAL", "INDEXES", "NONE", None), ("SIZE", "NONE", None), ("ALL_OLD", "NONE", None)
    )
    for mode, sized, failure in reports:
        for condition, name in itertools.product((None, "#a < :v", "#a = :v"), ("n", "new")):
            request = ask(
                "SET g = :v",
                {"S": "g2"},
                condition,
                TableName="collected",
                Key={"pk": {"S": name}, "sk": {"N": "1.0"}},
                ReturnConsumedCapacity=mode,
                ReturnItemCollectionMetrics=sized,
                ReturnValuesOnConditionCheckFailure=failure,
            )
            ways.agree(request)
            assert ways.is_prepared(request)


def test_what_is_prepared_is_bounded(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = PreparedRequests(entries_max=3)
    monkeypatch.setattr(ways.service.context, "prepared", prepared)
    requests = [ask(f"SET #a = :v, b{number} = :v", {"N": "1"}) for number in range(5)]
    for request in requests:
        ways.agree(request)
        assert ways.is_prepared(request)
        assert len(prepared.writes) <= 3
    assert [ways.is_prepared(request) for request in requests] == [False, False, True, True, True]


def test_long_texts_and_names_are_not_kept(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways.service.context, "prepared", PreparedRequests())
    for chars, is_kept in ((1024, True), (1025, False)):
        request = ask("SET #a = :v", {"N": "1"})
        fixed = len("SET #a = :v") + len("#a") + len(":v")
        request["ExpressionAttributeNames"] = {"#a": "a" * (chars - fixed)}
        assert ways.agree(request)[0] == 200
        assert ways.is_prepared(request) == is_kept
        padded = ask("SET a = :v".ljust(chars - len(":v")), {"N": "1"})
        assert ways.agree(padded)[0] == 200
        assert ways.is_prepared(padded) == is_kept
