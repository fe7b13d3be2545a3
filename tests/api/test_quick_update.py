"""UpdateItem's quick way does and answers what its long way does."""

import itertools
from typing import Any

import pytest

from clocked import Clocked
from hashrange.api import quick_update
from item_tables import index
from new_tables import request as new_table
from quick_ways import TwoWays

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
    service.settle()
    for name in ("n", "s", "l", "m", "ss"):
        value = {"n": {"N": "5"}, "s": {"S": "text"}, "l": {"L": [{"N": "1"}]}, "m": {"M": {"k": {"S": "a"}}}}
        item = {"pk": {"S": name}, "a": value.get(name, {"SS": ["a", "c"]}), "other": {"BOOL": True}}
        service.call("PutItem", TableName="plain", Item=item)
        service.call("PutItem", TableName="indexed", Item=item | {"sk": {"N": "1"}, "g": {"S": "g"}})
    return TwoWays(service, "UpdateItem")


def ask(text: str, value: Any = None, condition: str | None = None, **more: Any) -> Request:
    found: Request = {"TableName": "plain", "Key": {"pk": {"S": "n"}}, "UpdateExpression": text}
    if condition is not None:
        found["ConditionExpression"] = condition
    if "#a" in text or "#a" in (condition or ""):
        found["ExpressionAttributeNames"] = {"#a": "a"}
    if ":v" in text or ":v" in (condition or ""):
        found["ExpressionAttributeValues"] = {":v": value}
    return found | more


@pytest.mark.parametrize("text", UPDATES)
def test_every_value_gets_the_same_answer(ways: TwoWays, text: str) -> None:
    found = set()
    for value, condition, name in itertools.product(VALUES, CONDITIONS, ("n", "s", "m", "new")):
        request = ask(text, value, condition, Key={"pk": {"S": name}}, ReturnValues="ALL_NEW")
        found.add(str(ways.agree(request)[:3]))
    assert len(found) > 3


@pytest.mark.parametrize("returned", [*RETURNS, "SOME", None, 1, ["NONE"]])
def test_every_choice_of_what_is_returned(ways: TwoWays, returned: Any) -> None:
    for text, name in itertools.product(("SET #a = :v", "SET #a.k = :v", "REMOVE #a"), ("m", "new")):
        ways.agree(ask(text, {"N": "1"}, Key={"pk": {"S": name}}, ReturnValues=returned))
    plain = ask("SET #a = :v", {"N": "1"}, ReturnValues=returned)
    assert ways.is_quick(plain) == (returned in RETURNS)


def test_what_is_quick_and_what_is_not(ways: TwoWays) -> None:
    good = ask("SET #a = #a + :v", {"N": "1"}, "#a < :v")
    ways.agree(good)
    assert ways.is_quick(good)
    assert ways.is_quick(good | {"ExpressionAttributeValues": {":v": {"N": "7"}}})
    for more in (
        {"ExpressionAttributeNames": {"#a": "b"}},
        {"ExpressionAttributeValues": {":w": {"N": "1"}}},
        {"ExpressionAttributeValues": {":v": {"N": "1"}, ":w": {"N": "1"}}},
        {"ReturnConsumedCapacity": "TOTAL"},
        {"ReturnItemCollectionMetrics": "SIZE"},
        {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
        {"Expected": {"a": {"Exists": False}}},
        {"AttributeUpdates": {}},
        {"TableName": "indexed"},
        {"TableName": "nowhere"},
        {"TableName": None},
        {"UpdateExpression": None},
        {"Unknown": 1},
    ):
        assert not ways.is_quick(good | more), more
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
    assert ways.is_quick(request)
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


def test_what_is_remembered_is_bounded(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_update, "_KNOWN_MAX", 10)
    for number in range(50):
        ways.agree(ask(f"SET #a = :v, b{number} = :v", {"N": "1"}))
        assert len(quick_update._known) <= 10
    long_name = ask("SET #a = :v", {"N": "1"}) | {"ExpressionAttributeNames": {"#a": "a" * 2000}}
    ways.agree(long_name)
    assert not ways.is_quick(long_name)
