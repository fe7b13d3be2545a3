"""BatchGetItem: many items from several tables, each with its own projection, and what does not fit is left over."""

from typing import Any

import pytest

from item_tables import invalid, make_table, refused, unique


def test_items_of_several_tables(client: Any, hash_table: str, range_table: str) -> None:
    first = {"pk": {"S": unique()}, "a": {"N": "1"}}
    second = {"pk": {"S": unique()}, "sk": {"S": "s"}, "a": {"N": "2"}, "b": {"S": "x"}}
    client.put_item(TableName=hash_table, Item=first)
    client.put_item(TableName=range_table, Item=second)
    answer = client.batch_get_item(
        RequestItems={
            hash_table: {"Keys": [{"pk": first["pk"]}, {"pk": {"S": "none"}}], "ConsistentRead": True},
            range_table: {
                "Keys": [{"sk": second["sk"], "pk": second["pk"]}],
                "ProjectionExpression": "#a",
                "ExpressionAttributeNames": {"#a": "a"},
            },
        }
    )
    assert answer["Responses"] == {hash_table: [first], range_table: [{"a": {"N": "2"}}]}
    assert answer["UnprocessedKeys"] == {}


def test_missing_items_leave_an_empty_list(client: Any, hash_table: str) -> None:
    answer = client.batch_get_item(RequestItems={hash_table: {"Keys": [{"pk": {"S": unique()}}]}})
    assert answer["Responses"] == {hash_table: []}


def test_attributes_to_get(client: Any, hash_table: str) -> None:
    item = {"pk": {"S": unique()}, "a": {"N": "1"}, "b": {"N": "2"}}
    client.put_item(TableName=hash_table, Item=item)
    asked = {hash_table: {"Keys": [{"pk": item["pk"]}], "AttributesToGet": ["b", "c"]}}
    assert client.batch_get_item(RequestItems=asked)["Responses"][hash_table] == [{"b": {"N": "2"}}]


def test_items_come_in_the_order_of_their_keys(client: Any, hash_table: str) -> None:
    """Missing ones are passed over; a large one among them changes nothing."""
    prefix = unique()
    stored = [{"pk": {"S": f"{prefix}{number}"}, "a": {"S": "x" * number * 9_000}} for number in range(8)]
    for item in stored:
        client.put_item(TableName=hash_table, Item=item)
    for last in (6, 8):
        items = stored[last - 1 :: -1]
        keys = [{"pk": item["pk"]} for item in items]
        keys.insert(2, {"pk": {"S": unique()}})
        asked = {hash_table: {"Keys": keys}}
        answer = client.batch_get_item(RequestItems=asked, ReturnConsumedCapacity="TOTAL")
        assert answer["Responses"][hash_table] == items
        assert answer["UnprocessedKeys"] == {}
        units = 0.5 + sum(-(-(len(item["a"]["S"]) + len(prefix) + 4) // 4096) / 2 for item in items)
        assert answer["ConsumedCapacity"][0]["CapacityUnits"] == units


def test_what_exceeds_16_mb_is_left_over(client: Any) -> None:
    table = make_table(client, "pk")
    for number in range(44):
        client.put_item(TableName=table, Item={"pk": {"S": str(number)}, "a": {"S": "x" * 400_000}})
    keys = [{"pk": {"S": str(number)}} for number in range(44)]
    asked: Any = {table: {"Keys": keys, "ProjectionExpression": "pk", "ConsistentRead": True}}
    seen = []
    rounds = 0
    while asked:
        answer = client.batch_get_item(RequestItems=asked)
        seen += [item["pk"]["S"] for item in answer["Responses"][table]]
        asked = answer["UnprocessedKeys"]
        rounds += 1
        if rounds == 1:
            # 41 items of 400 KB are below 16 MB, the 42nd is not.
            assert len(seen) == 41
            assert asked == {table: {"Keys": keys[41:], "ProjectionExpression": "pk", "ConsistentRead": True}}
    assert (rounds, sorted(seen)) == (2, sorted(str(number) for number in range(44)))


def test_duplicate_keys_are_refused(client: Any, range_table: str) -> None:
    key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    backward = {"sk": {"S": "b"}, "pk": {"S": "a"}}
    message = invalid(client.batch_get_item, RequestItems={range_table: {"Keys": [key, backward]}})
    assert message == "Provided list of item keys contains duplicates"


def test_duplicate_numbers_are_refused_however_they_are_written(client: Any, number_table: str) -> None:
    keys = [{"pk": {"S": "a"}, "sk": {"N": text}} for text in ("1", "1.0")]
    message = invalid(client.batch_get_item, RequestItems={number_table: {"Keys": keys}})
    assert message == "Provided list of item keys contains duplicates"


def test_duplicates_are_found_before_the_table(client: Any) -> None:
    keys = [{"pk": {"S": "a"}}, {"pk": {"S": "a"}}]
    message = invalid(client.batch_get_item, RequestItems={"no-such-table": {"Keys": keys}})
    assert message == "Provided list of item keys contains duplicates"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (None, "The requestItems parameter is required for BatchGetItem"),
        (
            {},
            (
                "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have "
                "length greater than or equal to 1"
            ),
        ),
    ],
)
def test_nothing_asked(raw: Any, asked: Any, message: str) -> None:
    answer = raw("BatchGetItem", {"RequestItems": asked})
    assert (answer.error, answer.body["message"]) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"Keys": []},
            (
                "1 validation error detected: Value at 'RequestItems.{}.member.Keys' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            ),
        ),
        ({"Keys": [{}]}, "The provided key element does not match the schema"),
        ({"Keys": [{"x": {"S": "a"}}]}, "The provided key element does not match the schema"),
        ({"Keys": [{"pk": {"N": "1"}}]}, "The provided key element does not match the schema"),
        (
            {"Keys": [{"pk": {"S": ""}}]},
            (
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: pk"
            ),
        ),
        (
            {"Keys": [{"pk": {"S": "a"}}], "ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"Keys": [{"pk": {"S": "a"}}], "ProjectionExpression": "a", "AttributesToGet": ["a"]},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {{AttributesToGet}} Expression parameters: {{ProjectionExpression}}"
            ),
        ),
        (
            {"Keys": [{"pk": {"S": "a"}}], "ProjectionExpression": "pk.a"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
        ),
    ],
)
def test_refusals(client: Any, hash_table: str, part: dict[str, Any], message: str) -> None:
    assert invalid(client.batch_get_item, RequestItems={hash_table: part}) == message.format(hash_table)


def test_tables_may_not_mix_the_styles_either(client: Any, hash_table: str, range_table: str) -> None:
    asked = {
        hash_table: {"Keys": [{"pk": {"S": "a"}}], "AttributesToGet": ["a"]},
        range_table: {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "b"}}], "ProjectionExpression": "a"},
    }
    assert invalid(client.batch_get_item, RequestItems=asked) == (
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
        "{AttributesToGet} Expression parameters: {ProjectionExpression}"
    )


@pytest.mark.parametrize("name", ["b!", "ab", "a" * 256])
def test_a_malformed_table_name(client: Any, name: str) -> None:
    wanted = {name: {"Keys": [{"pk": {"S": "a"}}]}}
    error = (
        f'Value \'{{"{name}":{{"Keys":[{{"pk":{{"S":"a"}}}}]}}}}\' at \'requestItems\' failed to satisfy constraint: '
        "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have "
        "length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )
    message = invalid(client.batch_get_item, RequestItems=wanted)
    assert message == f"1 validation error detected: {error}"
    message = invalid(client.batch_get_item, RequestItems=wanted, ReturnConsumedCapacity="X")
    assert message == (
        f"2 validation errors detected: {error}; Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
    )


def test_an_unknown_table_is_not_found(client: Any, hash_table: str) -> None:
    keys = {"Keys": [{"pk": {"S": "a"}}]}
    found = refused(client.batch_get_item, RequestItems={hash_table: keys, "no-such-table": keys})
    assert found == ("ResourceNotFoundException", "Requested resource not found")
