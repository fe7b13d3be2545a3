"""Global indexes whose keys have several attributes."""

from typing import Any

import pytest

from clocked import Clocked
from item_tables import Item, all_items, definitions, invalid, key_schema, make_table, unique

WRONG = "One or more parameter values were invalid: The KeySchema "


@pytest.fixture(scope="module")
def wide_table(client: Any) -> str:
    """A table whose index `wide` has two hash attributes and three range attributes of different types."""
    keys = [("h1", "HASH"), ("h2", "HASH"), ("r1", "RANGE"), ("r2", "RANGE"), ("r3", "RANGE")]
    return make_table(
        client,
        "pk",
        types={"h1": "S", "h2": "N", "r1": "S", "r2": "N", "r3": "B"},
        GlobalSecondaryIndexes=[
            {
                "IndexName": "wide",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


@pytest.fixture(scope="module")
def wide(client: Any, wide_table: str) -> str:
    """The first hash attribute of 27 items, one for each choice of the range attributes, and of a few others."""
    h1 = unique("h")
    for r1 in ("a", "ab", "b"):
        for r2 in ("-5", "0", "12"):
            for r3 in (b"\x00", b"\x00\x01", b"\xff"):
                item = {"h1": {"S": h1}, "h2": {"N": "1"}, "r1": {"S": r1}, "r2": {"N": r2}, "r3": {"B": r3}}
                client.put_item(TableName=wide_table, Item={"pk": {"S": unique()}, **item})
    rest = {"r1": {"S": "a"}, "r2": {"N": "0"}, "r3": {"B": b"x"}}
    client.put_item(
        TableName=wide_table, Item={"pk": {"S": unique()}, "h1": {"S": h1}, "h2": {"N": "2"}, **rest}
    )
    incomplete = {"h1": {"S": h1}, "h2": {"N": "1"}, "r1": {"S": "a"}, "r3": {"B": b"x"}}
    client.put_item(TableName=wide_table, Item={"pk": {"S": unique()}, **incomplete})
    return h1


def wide_query(table: str, h1: str, condition: str, **values: Any) -> dict[str, Any]:
    return {
        "TableName": table,
        "IndexName": "wide",
        "KeyConditionExpression": f"h1 = :h1 AND h2 = :h2{' AND ' + condition if condition else ''}",
        "ExpressionAttributeValues": {
            ":h1": {"S": h1},
            ":h2": {"N": "1"},
            **{f":{name}": value for name, value in values.items()},
        },
    }


def wide_keys(items: list[Item]) -> list[tuple[str, int, bytes]]:
    return [(each["r1"]["S"], int(each["r2"]["N"]), each["r3"]["B"]) for each in items]


ALL_WIDE = [
    (r1, r2, r3) for r1 in ("a", "ab", "b") for r2 in (-5, 0, 12) for r3 in (b"\x00", b"\x00\x01", b"\xff")
]


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        ("", {}, ALL_WIDE),
        ("r1 = :a", {"a": {"S": "a"}}, [key for key in ALL_WIDE if key[0] == "a"]),
        ("r1 > :a", {"a": {"S": "a"}}, [key for key in ALL_WIDE if key[0] > "a"]),
        ("begins_with(r1, :a)", {"a": {"S": "a"}}, [key for key in ALL_WIDE if key[0].startswith("a")]),
        (
            "r1 = :a AND r2 >= :b",
            {"a": {"S": "ab"}, "b": {"N": "0"}},
            [key for key in ALL_WIDE if key[0] == "ab" and key[1] >= 0],
        ),
        (
            "r2 = :b AND r1 = :a AND r3 BETWEEN :c AND :d",
            {"a": {"S": "a"}, "b": {"N": "-5"}, "c": {"B": b"\x00"}, "d": {"B": b"\x01"}},
            [("a", -5, b"\x00"), ("a", -5, b"\x00\x01")],
        ),
        (
            "r1 = :a AND r2 = :b AND r3 = :c",
            {"a": {"S": "b"}, "b": {"N": "12"}, "c": {"B": b"\xff"}},
            [("b", 12, b"\xff")],
        ),
    ],
)
def test_keys_of_several_attributes(
    client: Any,
    wide_table: str,
    wide: str,
    condition: str,
    values: dict[str, Any],
    expected: list[tuple[str, int, bytes]],
) -> None:
    request = wide_query(wide_table, wide, condition, **values)
    assert wide_keys(client.query(**request)["Items"]) == expected
    assert wide_keys(client.query(**request, ScanIndexForward=False)["Items"]) == expected[::-1]
    assert wide_keys(all_items(client.query, **request, Limit=2)) == expected


def test_a_last_key_names_all_key_attributes(client: Any, wide_table: str, wide: str) -> None:
    first = client.query(**wide_query(wide_table, wide, ""), Limit=1)
    assert set(first["LastEvaluatedKey"]) == {"pk", "h1", "h2", "r1", "r2", "r3"}


@pytest.mark.parametrize(
    ("condition", "values", "unequal", "present"),
    [
        ("r2 = :b", {"b": {"N": "1"}}, "r1", "r2"),
        ("r3 = :c", {"c": {"B": b"x"}}, "r1, r2", "r3"),
        ("r1 > :a AND r2 = :b", {"a": {"S": "a"}, "b": {"N": "1"}}, "r1", "r2"),
        ("r1 = :a AND r3 = :c", {"a": {"S": "a"}, "c": {"B": b"x"}}, "r2", "r3"),
    ],
)
def test_gaps_and_early_ranges_are_refused(
    client: Any,
    wide_table: str,
    wide: str,
    condition: str,
    values: dict[str, Any],
    unequal: str,
    present: str,
) -> None:
    assert invalid(client.query, **wide_query(wide_table, wide, condition, **values)) == (
        f"RANGE key attributes {unequal} must have equality conditions specified in the query because a condition is "
        f"present on key attribute {present}"
    )


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        (["aH", "bH", "cH", "dH", "eH"], WRONG + "exceeds the maximum allowed number of HASH key attributes"),
        (
            ["hH", "aR", "bR", "cR", "dR", "eR"],
            WRONG + "exceeds the maximum allowed number of RANGE key attributes",
        ),
        (["hH", "aR", "aR"], "The KeySchema contains multiple key attributes with the same name"),
        (["hH", "hH"], "The KeySchema contains multiple key attributes with the same name"),
        (
            ["hH", "aR", "bH"],
            (
                "One or more parameter values were invalid: All HASH key attributes must precede RANGE key attributes "
                "in the KeySchema"
            ),
        ),
        (["hH", "hR"], "Both the Hash Key and the Range Key element in the KeySchema have the same name"),
    ],
)
def test_key_schemas_that_an_index_cannot_have(client: Any, elements: list[str], message: str) -> None:
    kinds = {"H": "HASH", "R": "RANGE"}
    names = dict.fromkeys(["pk", *(element[0] for element in elements)], "S")
    keys = [{"AttributeName": element[0], "KeyType": kinds[element[1]]} for element in elements]
    projection = {"ProjectionType": "ALL"}
    found = invalid(
        client.create_table,
        TableName=unique("table"),
        BillingMode="PAY_PER_REQUEST",
        KeySchema=key_schema("pk"),
        AttributeDefinitions=definitions(**names),
        GlobalSecondaryIndexes=[{"IndexName": "wide", "KeySchema": keys, "Projection": projection}],
    )
    assert found == message


def test_every_hash_attribute_is_needed(client: Any, wide_table: str) -> None:
    message = invalid(
        client.query,
        TableName=wide_table,
        IndexName="wide",
        KeyConditionExpression="h1 = :h",
        ExpressionAttributeValues={":h": {"S": "x"}},
    )
    assert message == "HASH key attributes h2 must have equality conditions specified in the query"
    message = invalid(
        client.query,
        TableName=wide_table,
        IndexName="wide",
        KeyConditionExpression="h1 = :h AND h2 > :n",
        ExpressionAttributeValues={":h": {"S": "x"}, ":n": {"N": "1"}},
    )
    assert message == "HASH key attributes h2 must have equality conditions specified in the query"


@pytest.mark.parametrize(("attributes", "each"), [(("h1", "h2"), 1024), (("r1", "r2"), 512)])
def test_attributes_of_one_key_share_its_limit(client: Any, attributes: tuple[str, str], each: int) -> None:
    table = f"totals-{attributes[0]}"
    client.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "h1", "h2", "r1", "r2")
        ],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "composite",
                "KeySchema": [
                    {"AttributeName": "h1", "KeyType": "HASH"},
                    {"AttributeName": "h2", "KeyType": "HASH"},
                    {"AttributeName": "r1", "KeyType": "RANGE"},
                    {"AttributeName": "r2", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
    first, second = attributes
    item = {"pk": {"S": "1"}, first: {"S": "x" * each}, second: {"S": "y" * each}}
    client.put_item(TableName=table, Item=item)
    with pytest.raises(client.exceptions.ClientError, match="has exceeded the"):
        client.put_item(TableName=table, Item=item | {second: {"S": "y" * (each + 1)}})
    with pytest.raises(client.exceptions.ClientError, match="has exceeded the"):
        client.update_item(
            TableName=table,
            Key={"pk": {"S": "1"}},
            UpdateExpression="SET #a = :v",
            ExpressionAttributeNames={"#a": second},
            ExpressionAttributeValues={":v": {"S": "y" * (each + 1)}},
        )


@pytest.mark.parametrize(
    ("keys", "size"),
    [([("h1", "HASH"), ("h2", "HASH")], 1500), ([("h1", "HASH"), ("r1", "RANGE"), ("r2", "RANGE")], 600)],
)
def test_the_limit_is_shared_where_only_one_of_the_keys_has_several(
    keys: list[tuple[str, str]], size: int
) -> None:
    service = Clocked()
    service.call(
        "CreateTable",
        TableName="wide",
        KeySchema=key_schema("pk"),
        AttributeDefinitions=definitions(pk="S", **{name: "S" for name, _ in keys}),
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": "wide",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    service.settle()
    item: Item = {"pk": {"S": "x"}, **{name: {"S": "y" * size} for name, _ in keys}}
    code, message = service.refused("PutItem", TableName="wide", Item=item)
    assert code == "ValidationException"
    assert message is not None
    assert "has exceeded the" in message
    item[keys[-1][0]] = {"S": "y"}
    service.call("PutItem", TableName="wide", Item=item)


def equal(value: dict[str, Any]) -> dict[str, Any]:
    return {"ComparisonOperator": "EQ", "AttributeValueList": [value]}


def test_legacy_key_conditions_on_more_than_two_attributes(client: Any, wide_table: str, wide: str) -> None:
    conditions = {"h1": equal({"S": wide}), "h2": equal({"N": "1"}), "r1": equal({"S": "ab"})}
    request = {"TableName": wide_table, "IndexName": "wide"}
    assert client.query(**request, KeyConditions=conditions)["Count"] == 9
    conditions |= {"r2": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "0"}]}}
    assert client.query(**request, KeyConditions=conditions)["Count"] == 6
    for where in ({"TableName": wide_table}, request):
        extra = {f"x{number}": equal({"S": "x"}) for number in range(9)}
        message = invalid(client.query, **where, KeyConditions={**conditions, **extra})
        assert message == "Conditions can be of length 1 or 2 only"
