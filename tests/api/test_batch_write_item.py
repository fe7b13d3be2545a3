"""BatchWriteItem: many puts and deletes in several tables, without conditions."""

from typing import Any

import pytest

from item_tables import Item, invalid, refused, unique

VALUES = "One or more parameter values were invalid: "


def put(item: Item) -> dict[str, Any]:
    return {"PutRequest": {"Item": item}}


def delete(key: Item) -> dict[str, Any]:
    return {"DeleteRequest": {"Key": key}}


def test_puts_and_deletes_in_several_tables(client: Any, hash_table: str, range_table: str) -> None:
    old = {"pk": {"S": unique()}, "a": {"S": "old"}}
    client.put_item(TableName=hash_table, Item=old)
    new = {"pk": {"S": unique()}, "a": {"S": "new"}}
    far = {"pk": {"S": unique()}, "sk": {"S": "s"}}
    answer = client.batch_write_item(
        RequestItems={
            hash_table: [put(new), delete({"pk": old["pk"]}), delete({"pk": {"S": "none"}})],
            range_table: [put(far)],
        }
    )
    assert answer["UnprocessedItems"] == {}
    keys = {"Keys": [{"pk": old["pk"]}, {"pk": new["pk"]}]}
    found = client.batch_get_item(RequestItems={hash_table: keys, range_table: {"Keys": [far]}})
    assert found["Responses"] == {hash_table: [new], range_table: [far]}


def test_a_put_replaces_the_whole_item(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    client.batch_write_item(RequestItems={hash_table: [put({**key, "a": {"S": "x"}})]})
    client.batch_write_item(RequestItems={hash_table: [put({**key, "b": {"S": "y"}})]})
    assert client.get_item(TableName=hash_table, Key=key)["Item"] == {**key, "b": {"S": "y"}}


def test_a_bad_element_keeps_all_others_out(client: Any, hash_table: str) -> None:
    good = {"pk": {"S": unique()}}
    invalid(client.batch_write_item, RequestItems={hash_table: [put(good), put({"x": {"S": "a"}})]})
    assert "Item" not in client.get_item(TableName=hash_table, Key=good)


@pytest.mark.parametrize("asked", [None, {}])
def test_nothing_asked(raw: Any, asked: Any) -> None:
    answer = raw("BatchWriteItem", {"RequestItems": asked})
    assert (answer.error, answer.body["message"]) == (
        "ValidationException",
        "The requestItems parameter is required for BatchWriteItem",
    )


SEVERAL = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
MISMATCH = "The provided key element does not match the schema"
KEY = {"pk": {"S": "a"}}


@pytest.mark.parametrize(
    ("writes", "message"),
    [
        ([{}], SEVERAL),
        ([{**put(KEY), **delete(KEY)}], SEVERAL),
        ([put(KEY), put(KEY)], "Provided list of item keys contains duplicates"),
        ([put(KEY), delete(KEY)], "Provided list of item keys contains duplicates"),
        ([put({"x": {"S": "a"}})], MISMATCH),
        ([put({"pk": {"N": "1"}})], MISMATCH),
        ([delete({"x": {"S": "a"}})], MISMATCH),
        ([delete({**KEY, "x": {"S": "a"}})], MISMATCH),
        ([put({"pk": {"S": ""}})], None),
        ([delete({"pk": {"S": ""}})], None),
    ],
)
def test_refusals(client: Any, hash_table: str, writes: list[dict[str, Any]], message: str | None) -> None:
    expected = message or (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: pk"
    )
    assert invalid(client.batch_write_item, RequestItems={hash_table: writes}) == expected


def test_index_keys_must_fit_the_index(client: Any, indexed_table: str) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"N": "1"}}
    message = invalid(client.batch_write_item, RequestItems={indexed_table: [put(item)]})
    assert message == VALUES + "Type mismatch for Index Key g Expected: S Actual: N IndexName: global-all"
    item["g"] = {"S": ""}
    message = invalid(client.batch_write_item, RequestItems={indexed_table: [put(item)]})
    assert message == (
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: global-all, "
        "IndexKey: g"
    )


def test_an_empty_list_of_writes(client: Any, hash_table: str) -> None:
    message = invalid(client.batch_write_item, RequestItems={hash_table: []})
    assert message == (
        f"1 validation error detected: Value '{{{hash_table}=[]}}' at 'requestItems' failed to satisfy constraint: "
        "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have "
        "length greater than or equal to 1]"
    )


def test_a_put_without_an_item(client: Any, hash_table: str) -> None:
    message = invalid(client.batch_write_item, RequestItems={hash_table: [put(KEY), {"PutRequest": {}}]})
    assert message == (
        f"1 validation error detected: Value null at 'requestItems.{hash_table}.member.2.member.putRequest.item' "
        "failed to satisfy constraint: Member must not be null"
    )


def test_the_table_is_looked_for_before_duplicates(client: Any) -> None:
    found = refused(client.batch_write_item, RequestItems={"no-such-table": [put(KEY), put(KEY)]})
    assert found == ("ResourceNotFoundException", "Requested resource not found")


def test_a_bad_enumeration_is_reported_alone(client: Any) -> None:
    message = invalid(client.batch_write_item, RequestItems={"b!": [put(KEY)]}, ReturnConsumedCapacity="hi")
    assert message == (
        "1 validation error detected: Value 'hi' at 'returnConsumedCapacity' failed to satisfy constraint: Member "
        "must satisfy enum value set: [INDEXES, TOTAL, NONE]"
    )


def test_a_malformed_table_name(client: Any) -> None:
    message = invalid(client.batch_write_item, RequestItems={"b!": [delete(KEY)]})
    assert message == (
        "1 validation error detected: Value '{b!=[WriteRequest(deleteRequest=DeleteRequest(key={pk=AttributeValue("
        "s=a)}))]}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must "
        "have length less than or equal to 255, Member must have length greater than or equal to 3, Member must "
        "satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )


def test_bad_enumerations_are_reported_without_a_bad_table_name(client: Any) -> None:
    capacity = (
        "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: "
        "[INDEXES, TOTAL, NONE]"
    )
    metrics = (
        "Value 'Y' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: "
        "[SIZE, NONE]"
    )
    request: dict[str, Any] = {"RequestItems": {"b!": [delete(KEY)]}, "ReturnConsumedCapacity": "X"}
    assert invalid(client.batch_write_item, **request) == f"1 validation error detected: {capacity}"
    request["ReturnItemCollectionMetrics"] = "Y"
    assert (
        invalid(client.batch_write_item, **request) == f"2 validation errors detected: {capacity}; {metrics}"
    )


def test_metrics_name_each_collection_once(client: Any, indexed_table: str) -> None:
    first, second = {"S": unique()}, {"S": unique()}
    writes = [put({"pk": pk, "sk": {"S": sk}}) for pk in (first, second) for sk in "ab"]
    answer = client.batch_write_item(RequestItems={indexed_table: writes}, ReturnItemCollectionMetrics="SIZE")
    assert answer["ItemCollectionMetrics"] == {
        indexed_table: [
            {"ItemCollectionKey": {"pk": pk}, "SizeEstimateRangeGB": [0.0, 1.0]} for pk in (first, second)
        ]
    }


def test_tables_without_local_indexes_have_no_metrics(client: Any, hash_table: str) -> None:
    writes = [put({"pk": {"S": unique()}})]
    answer = client.batch_write_item(RequestItems={hash_table: writes}, ReturnItemCollectionMetrics="SIZE")
    assert "ItemCollectionMetrics" not in answer
