"""Scan: the whole table or index, in pages, filtered, projected, counted."""

from typing import Any

import pytest

from item_tables import Item, all_items, invalid, make_table, pages, refused

VALUES = "One or more parameter values were invalid: "
COUNT = 40
BAD_START = "The provided starting key is invalid"


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    """A table of 40 items in 10 partitions."""
    name = make_table(client, "pk", "sk", types={"sk": "N"})
    for number in range(COUNT):
        client.put_item(TableName=name, Item=item(number))
    return name


def item(number: int) -> Item:
    even = {"even": {"BOOL": True}} if number % 2 == 0 else {}
    return {"pk": {"S": f"p{number % 10}"}, "sk": {"N": str(number)}, "v": {"N": str(number * 10)}, **even}


def numbers(items: list[Item]) -> list[int]:
    return sorted(int(each["sk"]["N"]) for each in items)


def test_a_scan_gives_every_item(client: Any, table: str) -> None:
    found = client.scan(TableName=table)
    assert (found["Count"], found["ScannedCount"]) == (COUNT, COUNT)
    assert sorted(found["Items"], key=lambda each: int(each["sk"]["N"])) == [
        item(number) for number in range(COUNT)
    ]
    assert "LastEvaluatedKey" not in found


def test_an_empty_table(client: Any) -> None:
    found = client.scan(TableName=make_table(client, "pk"))
    assert (found["Items"], found["Count"], found["ScannedCount"]) == ([], 0, 0)


def test_a_partition_stays_together_and_in_order(client: Any, table: str) -> None:
    found = [(each["pk"]["S"], int(each["sk"]["N"])) for each in client.scan(TableName=table)["Items"]]
    partitions = list(dict.fromkeys(pk for pk, _ in found))
    assert len(partitions) == 10
    assert found == [(pk, number) for pk in partitions for number in range(int(pk[1:]), COUNT, 10)]


@pytest.mark.parametrize("limit", [1, 7, 39, 40, 41])
def test_paging_gives_everything_once(client: Any, table: str, limit: int) -> None:
    found = pages(client.scan, TableName=table, Limit=limit)
    assert numbers([each for page in found for each in page["Items"]]) == list(range(COUNT))
    assert all(page["ScannedCount"] <= limit for page in found)
    assert len(found) == COUNT // limit + 1
    order = [each["sk"] for page in found for each in page["Items"]]
    assert order == [each["sk"] for each in client.scan(TableName=table)["Items"]]


def test_the_limit_counts_what_is_evaluated(client: Any, table: str) -> None:
    found = pages(client.scan, TableName=table, Limit=10, FilterExpression="attribute_exists(even)")
    assert [page["ScannedCount"] for page in found] == [10, 10, 10, 10, 0]
    assert sum(page["Count"] for page in found) == COUNT // 2


def test_a_filter_may_name_keys(client: Any, table: str) -> None:
    found = client.scan(
        TableName=table,
        FilterExpression="pk = :p AND sk < :s",
        ExpressionAttributeValues={":p": {"S": "p3"}, ":s": {"N": "20"}},
    )
    assert (numbers(found["Items"]), found["ScannedCount"]) == ([3, 13], COUNT)


def test_projection_and_count(client: Any, table: str) -> None:
    found = client.scan(TableName=table, ProjectionExpression="v")
    assert sorted(int(each["v"]["N"]) for each in found["Items"]) == list(range(0, COUNT * 10, 10))
    assert all(set(each) == {"v"} for each in found["Items"])
    counted = client.scan(TableName=table, Select="COUNT", FilterExpression="attribute_exists(even)")
    assert (counted["Count"], counted["ScannedCount"], "Items" in counted) == (COUNT // 2, COUNT, False)


def test_items_without_any_projected_attribute_are_empty(client: Any, table: str) -> None:
    found = client.scan(TableName=table, ProjectionExpression="even")
    assert found["Items"].count({}) == COUNT // 2


def test_a_page_ends_at_a_megabyte(client: Any) -> None:
    table = make_table(client, "pk")
    for number in range(12):
        client.put_item(TableName=table, Item={"pk": {"S": str(number)}, "a": {"S": "x" * 100_000}})
    found = pages(client.scan, TableName=table)
    # Ten items are 977 KB; the eleventh takes the page past a megabyte and ends it.
    assert [page["Count"] for page in found] == [11, 1]


def test_a_scan_of_an_index(client: Any, indexed_table: str) -> None:
    for number in range(4):
        indexed = {"g": {"S": "scan"}, "n": {"N": str(number)}} if number % 2 else {}
        key = {"pk": {"S": "scanned"}, "sk": {"S": str(number)}}
        client.put_item(TableName=indexed_table, Item={**key, **indexed, "x": {"S": "far"}})
    request = {
        "TableName": indexed_table,
        "FilterExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "scanned"}},
    }
    found = all_items(client.scan, IndexName="global-keys", **request)
    assert [each["sk"]["S"] for each in found] == ["1", "3"]
    assert all(set(each) == {"pk", "sk", "g", "n"} for each in found)
    found = all_items(client.scan, IndexName="global-all", **request, Limit=1)
    assert [each["sk"]["S"] for each in found] == ["1", "3"]
    assert all(each["x"] == {"S": "far"} for each in found)


def test_a_scan_s_filter_sees_only_what_the_index_carries(client: Any, indexed_table: str) -> None:
    key = {"pk": {"S": "unseen"}, "sk": {"S": "1"}}
    client.put_item(
        TableName=indexed_table, Item={**key, "g": {"S": "u"}, "n": {"N": "1"}, "far": {"S": "x"}}
    )
    request = {"TableName": indexed_table, "FilterExpression": "attribute_exists(far)"}
    assert all_items(client.scan, IndexName="global-keys", **request) == []
    assert key["pk"] in [each["pk"] for each in all_items(client.scan, IndexName="global-all", **request)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"Limit": 0},
            (
                "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have "
                "value greater than or equal to 1"
            ),
        ),
        (
            {"Limit": -1},
            (
                "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have "
                "value greater than or equal to 1"
            ),
        ),
        (
            {"Segment": 0},
            (
                "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
                "present"
            ),
        ),
        (
            {"TotalSegments": 1},
            (
                "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
                "present"
            ),
        ),
        (
            {"Segment": 5, "TotalSegments": 5},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments",
        ),
        (
            {"Segment": -1, "TotalSegments": 5},
            (
                "1 validation error detected: Value at 'Segment' failed to satisfy constraint: Member must have "
                "value greater than or equal to 0"
            ),
        ),
        (
            {"Segment": 0, "TotalSegments": 0},
            (
                "1 validation error detected: Value at 'TotalSegments' failed to satisfy constraint: Member must "
                "have value greater than or equal to 1"
            ),
        ),
        (
            {"Segment": 0, "TotalSegments": 1000001},
            (
                "1 validation error detected: Value at 'TotalSegments' failed to satisfy constraint: Member "
                "must have value less than or equal to 1000000"
            ),
        ),
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "v"},
            "1 validation error detected: Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            (
                "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing "
                "to get SPECIFIC_ATTRIBUTES"
            ),
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"ExpressionAttributeValues": {":a": {"S": "a"}}},
            "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
        ),
        (
            {"FilterExpression": "v = :v", "ExpressionAttributeValues": {"loc": {"S": "a"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "loc"',
        ),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
        ({"IndexName": "idx"}, "The table does not have the specified index: idx"),
        ({"ExclusiveStartKey": {}}, BAD_START),
        ({"ExclusiveStartKey": {"pk": {"S": "a"}}}, BAD_START),
        ({"ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"N": "1"}, "x": {"S": "a"}}}, BAD_START),
        (
            {"ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"S": "a"}}},
            "The provided key element does not match the schema",
        ),
        (
            {"ExclusiveStartKey": {"pk": {}, "sk": {"N": "1"}}},
            (
                "The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of "
                "the supported datatypes"
            ),
        ),
        (
            {"ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"N": "x"}}},
            "The parameter cannot be converted to a numeric value: x",
        ),
        (
            {"ScanFilter": {"v": {"ComparisonOperator": "NULL"}}, "ProjectionExpression": "v"},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {ScanFilter} Expression parameters: {ProjectionExpression}"
            ),
        ),
    ],
)
def test_refusals(client: Any, table: str, parameters: dict[str, Any], message: str) -> None:
    assert invalid(client.scan, TableName=table, **parameters) == message


def test_global_indexes_are_never_read_consistently(client: Any, indexed_table: str) -> None:
    message = invalid(client.scan, TableName=indexed_table, IndexName="global-all", ConsistentRead=True)
    assert message == "Consistent reads are not supported on global secondary indexes"
    client.scan(TableName=indexed_table, IndexName="local-all", ConsistentRead=True)


def test_an_unknown_table_is_not_found(client: Any) -> None:
    found = refused(client.scan, TableName="no-such-table")
    assert found == ("ResourceNotFoundException", "Requested resource not found")
