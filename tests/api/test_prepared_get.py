"""GetItem with a key that is plainly right is answered as on its long path."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from clocked import Clocked
from key_values import GOOD, VALUES
from new_tables import request as new_table
from prepared_ways import TwoWays
from sizes import size

KINDS = {"strings": ("S", "S"), "numbers": ("N", "N"), "binaries": ("B", "B"), "single": ("S",)}


@pytest.fixture(scope="module")
def ways() -> TwoWays:
    """Tables of every key type, each with a few items."""
    service = Clocked()
    for name, kinds in KINDS.items():
        create(service, name, *kinds)
    service.settle()
    for pk in GOOD["S"]:
        service.call("PutItem", TableName="single", Item={"pk": {"S": pk}, "n": {"N": "1"}})
        service.call("PutItem", TableName="strings", Item={"pk": {"S": pk}, "sk": {"S": "a"}})
    for pk in ("7", "-0.5", "1E3"):
        service.call("PutItem", TableName="numbers", Item={"pk": {"N": pk}, "sk": {"N": "0"}})
    service.call("PutItem", TableName="binaries", Item={"pk": {"B": "AAE="}, "sk": {"B": "/w=="}})
    return TwoWays(service, "GetItem")


def create(service: Clocked, name: str, *kinds: str) -> None:
    names = ("pk", "sk")[: len(kinds)]
    service.call(
        "CreateTable", **new_table(*names, types=dict(zip(names, kinds, strict=True)), TableName=name)
    )


@pytest.mark.parametrize("table", KINDS)
def test_every_key_gets_the_same_answer(ways: TwoWays, table: str) -> None:
    for value in VALUES:
        for other in (*VALUES[::3], value):
            ways.agree({"TableName": table, "Key": {"pk": value, "sk": other}})
        ways.agree({"TableName": table, "Key": {"pk": value}})
        ways.agree({"TableName": table, "Key": {"pk": value, "other": value}})


@pytest.mark.parametrize(("table", "kinds"), KINDS.items())
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ConsistentRead": True},
        {"ConsistentRead": False},
        {"ReturnConsumedCapacity": "NONE"},
        {"ReturnConsumedCapacity": "INDEXES", "ConsistentRead": True},
    ],
    ids=str,
)
def test_plain_requests_take_the_short_path(
    ways: TwoWays, table: str, kinds: tuple[str, ...], more: dict[str, Any]
) -> None:
    for pk in GOOD[kinds[0]]:
        key = {"pk": {kinds[0]: pk}}
        for sk in GOOD[kinds[-1]]:
            if len(kinds) > 1:
                key["sk"] = {kinds[1]: sk}
            request = {"TableName": table, "Key": key, **more}
            assert ways.is_prepared(request)
            assert ways.agree(request)[0] == 200


PLAIN = {"TableName": "strings", "Key": {"pk": {"S": "a"}, "sk": {"S": "a"}}}
ELSEWHERE: tuple[dict[str, Any], ...] = (
    {},
    {"TableName": "strings"},
    {"Key": PLAIN["Key"]},
    *({**PLAIN, "ConsistentRead": flag} for flag in (1, "?", [], {})),
    *({**PLAIN, "ReturnConsumedCapacity": mode} for mode in ("none", "", 1, [])),
    *({**PLAIN, "Key": key} for key in (None, {}, [], "a", 1, [["pk", {"S": "a"}]])),
    *({**PLAIN, "TableName": name} for name in (None, "", "x", "missing", "a b", 1, [], {}, True, "x" * 256)),
    *(
        {**PLAIN, "TableName": f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}"}
        for name in ("strings", "no")
    ),
    {**PLAIN, "ProjectionExpression": "pk"},
    {**PLAIN, "AttributesToGet": ["sk"]},
    {**PLAIN, "ExpressionAttributeNames": {"#a": "a"}},
)
# What does not count, and words for booleans, are taken out by the shape; then the request is a plain one.
CLEANED: tuple[dict[str, Any], ...] = (
    *({**PLAIN, "ConsistentRead": flag} for flag in (None, "true", "no")),
    *({**PLAIN, name: None} for name in ("AttributesToGet", "ProjectionExpression", "Unknown")),
    {**PLAIN, "ConsistentRead": True, "Unknown": 1},
    {**PLAIN, "Key": {"pk": {"S": "a", "N": None}, "sk": {"S": "a", "Z": 1}}},
)


@pytest.mark.parametrize("request_", ELSEWHERE, ids=str)
def test_all_else_takes_the_long_path(ways: TwoWays, request_: dict[str, Any]) -> None:
    assert not ways.is_prepared(request_)
    ways.agree(request_)


@pytest.mark.parametrize("request_", CLEANED, ids=str)
def test_what_does_not_count_makes_no_difference(ways: TwoWays, request_: dict[str, Any]) -> None:
    assert ways.agree(request_)[:2] == ways.agree(PLAIN)[:2]


@pytest.mark.slow
@settings(max_examples=size(150, 300), deadline=None)
@given(data=some.data())
def test_any_request_gets_the_same_answer(ways: TwoWays, data: some.DataObject) -> None:
    json = (
        some.none() | some.booleans() | some.integers(0, 3) | some.sampled_from(["strings", "a", "", "true"])
    )
    value = some.sampled_from(VALUES) | some.dictionaries(some.sampled_from("SNB"), json, max_size=2)
    key = some.dictionaries(some.sampled_from(["pk", "sk", "", "o"]), value, max_size=3)
    members = some.fixed_dictionaries(
        {"TableName": some.sampled_from([*KINDS, "missing"]) | json, "Key": key | json},
        optional=dict.fromkeys(("ConsistentRead", "ReturnConsumedCapacity", "Unknown"), json),
    )
    ways.agree(data.draw(members))


def test_tables_that_come_change_and_go() -> None:
    service = Clocked()
    ways = TwoWays(service, "GetItem")
    by_one = {"TableName": "changing", "Key": {"pk": {"S": "a"}}}
    by_two = {"TableName": "changing", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}}

    def statuses() -> list[int]:
        return [ways.agree(request)[0] for request in (by_one, by_two)]

    assert statuses() == [400, 400]
    create(service, "changing", "S")
    assert not ways.is_prepared(by_one)
    assert statuses() == [400, 400]
    service.settle()
    assert ways.is_prepared(by_one)
    assert statuses() == [200, 400]
    service.call("PutItem", TableName="changing", Item={"pk": {"S": "a"}})
    service.call("UpdateTable", TableName="changing", TableClass="STANDARD_INFREQUENT_ACCESS")
    assert ways.is_prepared(by_one)
    assert ways.agree(by_one)[1] == b'{"Item":{"pk":{"S":"a"}}}'
    service.settle()
    service.call("DeleteTable", TableName="changing")
    assert not ways.is_prepared(by_one)
    assert statuses() == [400, 400]
    service.settle()
    create(service, "changing", "S", "N")
    service.settle()
    assert statuses() == [400, 200]
    assert ways.is_prepared(by_two)
    assert ways.agree(by_two)[1] == b"{}"
