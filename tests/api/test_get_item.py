"""GetItem: reads one item by its key, whole or in part."""

from typing import Any

import pytest

from item_tables import invalid, refused, unique

MISMATCH = "The provided key element does not match the schema"


@pytest.fixture(scope="module")
def stored(client: Any, range_table: str) -> dict[str, Any]:
    item = {
        "pk": {"S": unique()},
        "sk": {"S": "s"},
        "a": {"N": "1"},
        "name": {"S": "reserved"},
        "m": {"M": {"x": {"S": "1"}, "y": {"L": [{"N": "1"}, {"N": "2"}, {"M": {"z": {"S": "deep"}}}]}}},
    }
    client.put_item(TableName=range_table, Item=item)
    return item


def get(client: Any, table: str, item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return client.get_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]}, **more)


def test_a_missing_item_is_no_item(client: Any, range_table: str) -> None:
    answer = client.get_item(TableName=range_table, Key={"pk": {"S": unique()}, "sk": {"S": "x"}})
    assert set(answer) == {"ResponseMetadata"}


@pytest.mark.parametrize("consistent", [True, False])
def test_the_whole_item_is_given(
    client: Any, range_table: str, stored: dict[str, Any], consistent: bool
) -> None:
    assert get(client, range_table, stored, ConsistentRead=consistent)["Item"] == stored


def test_the_key_may_be_sent_in_any_order(client: Any, range_table: str, stored: dict[str, Any]) -> None:
    answer = client.get_item(TableName=range_table, Key={"sk": stored["sk"], "pk": stored["pk"]})
    assert answer["Item"] == stored


@pytest.mark.parametrize(
    ("projection", "names", "expected"),
    [
        ("a", None, {"a": {"N": "1"}}),
        ("a, absent", None, {"a": {"N": "1"}}),
        ("absent", None, {}),
        ("#n", {"#n": "name"}, {"name": {"S": "reserved"}}),
        ("m.x", None, {"m": {"M": {"x": {"S": "1"}}}}),
        ("m.y[1]", None, {"m": {"M": {"y": {"L": [{"N": "2"}]}}}}),
        (
            "m.y[2], m.y[0]",
            None,
            {"m": {"M": {"y": {"L": [{"N": "1"}, {"M": {"z": {"S": "deep"}}}]}}}},
        ),
        ("m.y[9]", None, {}),
        ("m.x, pk", None, {"m": {"M": {"x": {"S": "1"}}}}),
    ],
)
def test_projections(
    client: Any,
    range_table: str,
    stored: dict[str, Any],
    projection: str,
    names: dict[str, str] | None,
    expected: dict[str, Any],
) -> None:
    more = {} if names is None else {"ExpressionAttributeNames": names}
    if "pk" in projection:
        expected = {**expected, "pk": stored["pk"]}
    assert get(client, range_table, stored, ProjectionExpression=projection, **more)["Item"] == expected


def test_attributes_to_get(client: Any, range_table: str, stored: dict[str, Any]) -> None:
    answer = get(client, range_table, stored, AttributesToGet=["a", "name", "absent"])
    assert answer["Item"] == {"a": {"N": "1"}, "name": {"S": "reserved"}}


@pytest.mark.parametrize(
    "key",
    [
        {"pk": {"S": "a"}},
        {"sk": {"S": "a"}},
        {},
        {"pk": {"S": "a"}, "sk": {"S": "b"}, "x": {"S": "c"}},
        {"pk": {"S": "a"}, "x": {"S": "c"}},
        {"pk": {"N": "1"}, "sk": {"S": "b"}},
        {"pk": {"S": "a"}, "sk": {"NULL": True}},
    ],
)
def test_the_key_must_be_the_table_s(client: Any, range_table: str, key: dict[str, Any]) -> None:
    assert invalid(client.get_item, TableName=range_table, Key=key) == MISMATCH


def test_an_empty_key_is_refused(client: Any, hash_table: str) -> None:
    assert invalid(client.get_item, TableName=hash_table, Key={"pk": {"S": ""}}) == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: pk"
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ProjectionExpression": "a", "AttributesToGet": ["a"]},
            (
                "Can not use both expression and non-expression parameters in the same request: "
                "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
            ),
        ),
        ({"ProjectionExpression": ""}, "Invalid ProjectionExpression: The expression can not be empty;"),
        (
            {"ProjectionExpression": "name"},
            "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: name",
        ),
        (
            {"ProjectionExpression": "!!"},
            'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"',
        ),
        (
            {"ProjectionExpression": "#a"},
            (
                "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
                "attribute name: #a"
            ),
        ),
        (
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#b": "b", "#c": "c"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}",
        ),
        (
            {"ProjectionExpression": "a.b, a"},
            (
                "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
                "rewrite one of these paths; path one: [a, b], path two: [a]"
            ),
        ),
        (
            {"ProjectionExpression": "l[0], #l[0]", "ExpressionAttributeNames": {"#l": "l"}},
            (
                "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
                "rewrite one of these paths; path one: [l, [0]], path two: [l, [0]]"
            ),
        ),
        (
            {"ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": ""}},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": "x" * 65536}},
            (
                "ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 "
                "bytes for key #a"
            ),
        ),
        (
            {"AttributesToGet": ["a", "a"]},
            "One or more parameter values were invalid: Duplicate value in attribute name: a",
        ),
        (
            {"ProjectionExpression": "pk.a"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
        ),
    ],
)
def test_misuse_is_told_without_announcement(
    client: Any, hash_table: str, parameters: dict[str, Any], message: str
) -> None:
    assert invalid(client.get_item, TableName=hash_table, Key={"pk": {"S": "a"}}, **parameters) == message


def test_an_unknown_table_is_not_found(client: Any) -> None:
    found = refused(client.get_item, TableName="no-such-table", Key={"pk": {"S": "a"}})
    assert found == ("ResourceNotFoundException", "Requested resource not found")


def test_half_of_a_character_is_named_in_the_answer(client: Any, hash_table: str) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": "x"}}, "ProjectionExpression": "a\U0001d11e, b"}
    message = invalid(client.get_item, **request)
    assert message == ('Invalid ProjectionExpression: Syntax error; token: "\ud834", near: "a\U0001d11e"')
