"""Parallel scans: the segments together give everything, and nothing twice."""

from collections import Counter
from typing import Any

import pytest

from item_tables import all_items, index, invalid, make_table, pages

COUNT = 120


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    name = make_table(
        client,
        "pk",
        "sk",
        types={"g": "S"},
        GlobalSecondaryIndexes=[index("by-g", "g", projection="KEYS_ONLY")],
    )
    for start in range(0, COUNT, 24):
        puts = [{"PutRequest": {"Item": item(number)}} for number in range(start, start + 24)]
        client.batch_write_item(RequestItems={name: puts})
    return name


def item(number: int) -> dict[str, Any]:
    indexed = {"g": {"S": f"g{number % 7}"}} if number % 3 else {}
    return {"pk": {"S": f"p{number // 2}"}, "sk": {"S": str(number)}, **indexed}


@pytest.mark.parametrize("total", [1, 2, 3, 7, 16, 150])
def test_segments_cover_the_table_exactly_once(client: Any, table: str, total: int) -> None:
    seen: Counter[str] = Counter()
    for segment in range(total):
        found = all_items(client.scan, TableName=table, Segment=segment, TotalSegments=total)
        seen.update(each["sk"]["S"] for each in found)
    assert seen == Counter(str(number) for number in range(COUNT))


@pytest.mark.parametrize("total", [1, 3, 5])
def test_segments_of_an_index(client: Any, table: str, total: int) -> None:
    seen: Counter[str] = Counter()
    for segment in range(total):
        request = {
            "TableName": table,
            "IndexName": "by-g",
            "Segment": segment,
            "TotalSegments": total,
            "Limit": 4,
        }
        seen.update(each["sk"]["S"] for each in all_items(client.scan, **request))
    assert seen == Counter(str(number) for number in range(COUNT) if number % 3)


def test_a_partition_is_never_split(client: Any, table: str) -> None:
    home: dict[str, int] = {}
    for segment in range(10):
        for each in all_items(client.scan, TableName=table, Segment=segment, TotalSegments=10):
            assert home.setdefault(each["pk"]["S"], segment) == segment


def test_segments_are_consecutive_parts_of_the_whole_scan(client: Any, table: str) -> None:
    whole = client.scan(TableName=table)["Items"]
    parts = [
        each
        for segment in range(4)
        for each in client.scan(TableName=table, Segment=segment, TotalSegments=4)["Items"]
    ]
    assert parts == whole


@pytest.mark.parametrize("limit", [1, 5])
def test_a_segment_is_read_in_pages(client: Any, table: str, limit: int) -> None:
    request = {"TableName": table, "Segment": 1, "TotalSegments": 4}
    whole = client.scan(**request)["Items"]
    found = pages(client.scan, **request, Limit=limit)
    assert [each for page in found for each in page["Items"]] == whole
    assert len(found) == len(whole) // limit + 1


def test_a_start_key_must_belong_to_the_segment(client: Any, table: str) -> None:
    last = client.scan(TableName=table, Segment=0, TotalSegments=2, Limit=1)["LastEvaluatedKey"]
    message = invalid(client.scan, TableName=table, Segment=1, TotalSegments=2, ExclusiveStartKey=last)
    assert message == (
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
        "Segment. TotalSegments: 2 Segment: 1"
    )
