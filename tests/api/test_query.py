"""Query: one partition in the order of its sort key, conditions on it, filters and paging."""

from decimal import Decimal
from typing import Any

import pytest

from item_tables import all_items, invalid, pages, unique

STRINGS = ["!", "A", "B", "Z", "a", "aa", "ab", "b", "ba", "z", "é", "😀"]
NUMBERS = [
    "-1E125",
    "-100",
    "-10.5",
    "-10",
    "-1",
    "-0.001",
    "0",
    "0.0001",
    "1",
    "1.5",
    "9",
    "10",
    "99",
    "1E125",
]
BINARIES = [
    b"\x00",
    b"\x00\x00",
    b"\x01",
    b"a",
    b"a\x00",
    b"a\xff",
    b"b",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\xff\xff",
]


@pytest.fixture(scope="module")
def strings(client: Any, range_table: str) -> str:
    return _fill(client, range_table, [{"S": text} for text in STRINGS])


@pytest.fixture(scope="module")
def numbers(client: Any, number_table: str) -> str:
    return _fill(client, number_table, [{"N": text} for text in NUMBERS])


@pytest.fixture(scope="module")
def binaries(client: Any, binary_table: str) -> str:
    return _fill(client, binary_table, [{"B": raw} for raw in BINARIES])


def _fill(client: Any, table: str, sort_keys: list[dict[str, Any]]) -> str:
    pk = unique()
    # Not in their order, so that the order comes from the table.
    for sort_key in sort_keys[::2] + sort_keys[1::2][::-1]:
        client.put_item(TableName=table, Item={"pk": {"S": pk}, "sk": sort_key, "v": {"S": str(sort_key)}})
    return pk


def query(client: Any, table: str, pk: str, condition: str = "", /, **values: Any) -> list[Any]:
    """The sort keys that a condition on `sk` selects; values are given by the names they have in it."""
    more = {name: values.pop(name) for name in list(values) if name[0].isupper()}
    found = client.query(
        TableName=table,
        KeyConditionExpression="pk = :pk" + (f" AND {condition}" if condition else ""),
        ExpressionAttributeValues={":pk": {"S": pk}, **{f":{name}": value for name, value in values.items()}},
        **more,
    )
    assert "LastEvaluatedKey" not in found or "Limit" in more
    return [next(iter(item["sk"].values())) for item in found["Items"]]


def test_strings_come_in_the_order_of_their_bytes(client: Any, range_table: str, strings: str) -> None:
    assert query(client, range_table, strings) == STRINGS
    assert query(client, range_table, strings, ScanIndexForward=False) == STRINGS[::-1]


def test_numbers_come_in_the_order_of_their_values(client: Any, number_table: str, numbers: str) -> None:
    found = query(client, number_table, numbers)
    assert [Decimal(text) for text in found] == [Decimal(text) for text in NUMBERS]
    backward = query(client, number_table, numbers, ScanIndexForward=False)
    assert backward == found[::-1]


def test_binaries_come_in_the_order_of_their_bytes(client: Any, binary_table: str, binaries: str) -> None:
    assert query(client, binary_table, binaries) == sorted(BINARIES)
    assert query(client, binary_table, binaries, ScanIndexForward=False) == sorted(BINARIES)[::-1]


COMPARISONS = {
    "=": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


@pytest.mark.parametrize("operator", COMPARISONS)
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("bound", ["a", "aaa", " ", "~~", "z", "😀"])
def test_comparisons_of_strings(
    client: Any, range_table: str, strings: str, operator: str, forward: bool, bound: str
) -> None:
    expected = [text for text in STRINGS if COMPARISONS[operator](text.encode(), bound.encode())]
    found = query(client, range_table, strings, f"sk {operator} :a", a={"S": bound}, ScanIndexForward=forward)
    assert found == (expected if forward else expected[::-1])


@pytest.mark.parametrize("operator", COMPARISONS)
@pytest.mark.parametrize("bound", ["-10", "-1000", "0", "0.0001", "10.000", "1E125", "1.4999"])
def test_comparisons_of_numbers(
    client: Any, number_table: str, numbers: str, operator: str, bound: str
) -> None:
    expected = [text for text in NUMBERS if COMPARISONS[operator](Decimal(text), Decimal(bound))]
    found = query(client, number_table, numbers, f"sk {operator} :a", a={"N": bound})
    assert [Decimal(text) for text in found] == [Decimal(text) for text in expected]


@pytest.mark.parametrize("operator", COMPARISONS)
@pytest.mark.parametrize("bound", [b"\x00", b"a", b"a\x00", b"\xff", b"\x80"])
def test_comparisons_of_binaries(
    client: Any, binary_table: str, binaries: str, operator: str, bound: bytes
) -> None:
    expected = [raw for raw in sorted(BINARIES) if COMPARISONS[operator](raw, bound)]
    assert query(client, binary_table, binaries, f"sk {operator} :a", a={"B": bound}) == expected


def test_between_includes_both_ends(client: Any, range_table: str, strings: str) -> None:
    found = query(client, range_table, strings, "sk BETWEEN :a AND :b", a={"S": "a"}, b={"S": "ba"})
    assert found == ["a", "aa", "ab", "b", "ba"]
    assert query(client, range_table, strings, "sk BETWEEN :a AND :b", a={"S": "b"}, b={"S": "b"}) == ["b"]


def test_between_numbers(client: Any, number_table: str, numbers: str) -> None:
    found = query(client, number_table, numbers, "sk BETWEEN :a AND :b", a={"N": "-10"}, b={"N": "1"})
    assert found == ["-10", "-1", "-0.001", "0", "0.0001", "1"]


def test_begins_with(client: Any, range_table: str, strings: str, binary_table: str, binaries: str) -> None:
    assert query(client, range_table, strings, "begins_with(sk, :a)", a={"S": "a"}) == ["a", "aa", "ab"]
    assert query(client, range_table, strings, "begins_with(sk, :a)", a={"S": "x"}) == []
    assert query(client, range_table, strings, "begins_with(sk, :a)", a={"S": "😀"}) == ["😀"]
    found = query(client, binary_table, binaries, "begins_with(sk, :a)", a={"B": b"\xff"})
    assert found == [b"\xff", b"\xff\xff"]
    assert query(client, binary_table, binaries, "begins_with(sk, :a)", a={"B": b"\x00"}) == [
        b"\x00",
        b"\x00\x00",
    ]


def test_the_clauses_may_stand_in_any_order_and_sides(client: Any, range_table: str, strings: str) -> None:
    for condition in (":a < sk AND pk = :pk", "sk > :a AND :pk = pk", "(sk > :a) AND (pk = :pk)"):
        found = client.query(
            TableName=range_table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={":pk": {"S": strings}, ":a": {"S": "b"}},
        )
        assert [item["sk"]["S"] for item in found["Items"]] == ["ba", "z", "é", "😀"]


def test_partitions_do_not_mix(client: Any, range_table: str) -> None:
    pk = unique()
    for name in (pk, pk + "a", pk[:-1]):
        client.put_item(TableName=range_table, Item={"pk": {"S": name}, "sk": {"S": "x"}})
    assert query(client, range_table, pk) == ["x"]
    assert query(client, range_table, unique()) == []


def test_a_hash_only_table(client: Any, hash_table: str) -> None:
    pk = {"S": unique()}
    client.put_item(TableName=hash_table, Item={"pk": pk, "a": {"S": "x"}})
    found = client.query(
        TableName=hash_table, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": pk}
    )
    assert (found["Count"], found["ScannedCount"], found["Items"]) == (1, 1, [{"pk": pk, "a": {"S": "x"}}])


def test_the_limit_counts_what_is_evaluated(client: Any, range_table: str, strings: str) -> None:
    found = client.query(
        TableName=range_table,
        KeyConditionExpression="pk = :p",
        FilterExpression="v = :v",
        ExpressionAttributeValues={":p": {"S": strings}, ":v": {"S": "{'S': 'a'}"}},
        Limit=4,
    )
    assert (found["Items"], found["Count"], found["ScannedCount"]) == ([], 0, 4)
    assert found["LastEvaluatedKey"] == {"pk": {"S": strings}, "sk": {"S": "Z"}}


def test_a_limit_that_is_just_met_still_gives_a_key(client: Any, range_table: str, strings: str) -> None:
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": strings}},
    }
    found = client.query(**request, Limit=len(STRINGS))
    assert found["LastEvaluatedKey"] == {"pk": {"S": strings}, "sk": {"S": STRINGS[-1]}}
    last = client.query(**request, ExclusiveStartKey=found["LastEvaluatedKey"])
    assert (last["Items"], last["Count"], "LastEvaluatedKey" in last) == ([], 0, False)
    assert "LastEvaluatedKey" not in client.query(**request, Limit=len(STRINGS) + 1)


@pytest.mark.parametrize("limit", [1, 2, 5, 11])
@pytest.mark.parametrize("forward", [True, False])
def test_paging_gives_everything_once(
    client: Any, range_table: str, strings: str, limit: int, forward: bool
) -> None:
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p AND sk > :s",
        "ExpressionAttributeValues": {":p": {"S": strings}, ":s": {"S": "A"}},
        "Limit": limit,
        "ScanIndexForward": forward,
    }
    found = [item["sk"]["S"] for item in all_items(client.query, **request)]
    assert found == (STRINGS[2:] if forward else STRINGS[:1:-1])
    assert all(page["Count"] <= limit for page in pages(client.query, **request))


def test_a_start_key_need_not_exist(client: Any, range_table: str, strings: str) -> None:
    start = {"pk": {"S": strings}, "sk": {"S": "aaaa"}}
    assert query(client, range_table, strings, ExclusiveStartKey=start)[0] == "ab"
    assert query(client, range_table, strings, ExclusiveStartKey=start, ScanIndexForward=False)[0] == "aa"


def test_a_page_ends_at_a_megabyte(client: Any, range_table: str) -> None:
    pk = unique()
    for number in range(8):
        item = {"pk": {"S": pk}, "sk": {"S": str(number)}, "a": {"S": "x" * 150_000}}
        client.put_item(TableName=range_table, Item=item)
    request: dict[str, Any] = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": pk}},
        "ProjectionExpression": "sk",
    }
    first, second = pages(client.query, **request)
    # Six items are 900 KB; the seventh takes the page past a megabyte and ends it.
    assert [item["sk"]["S"] for item in first["Items"]] == list("0123456")
    assert [item["sk"]["S"] for item in second["Items"]] == ["7"]
    request["ExpressionAttributeValues"][":x"] = {"S": "nothing"}
    filtered = pages(client.query, **request, FilterExpression="a = :x")
    assert [(page["Count"], page["ScannedCount"]) for page in filtered] == [(0, 7), (0, 1)]


def test_filters_come_after_reading(client: Any, number_table: str, numbers: str) -> None:
    found = client.query(
        TableName=number_table,
        KeyConditionExpression="pk = :p AND sk >= :s",
        FilterExpression="contains(v, :v) OR attribute_not_exists(v)",
        ExpressionAttributeValues={":p": {"S": numbers}, ":s": {"N": "0"}, ":v": {"S": "9"}},
    )
    assert [item["sk"]["N"] for item in found["Items"]] == ["9", "99"]
    assert (found["Count"], found["ScannedCount"]) == (2, 8)


def test_select_and_projections(client: Any, range_table: str, strings: str) -> None:
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p AND sk = :s",
        "ExpressionAttributeValues": {":p": {"S": strings}, ":s": {"S": "a"}},
    }
    whole = {"pk": {"S": strings}, "sk": {"S": "a"}, "v": {"S": "{'S': 'a'}"}}
    assert client.query(**request, Select="ALL_ATTRIBUTES")["Items"] == [whole]
    counted = client.query(**request, Select="COUNT")
    assert "Items" not in counted
    assert (counted["Count"], counted["ScannedCount"]) == (1, 1)
    some = client.query(**request, Select="SPECIFIC_ATTRIBUTES", ProjectionExpression="v")
    assert some["Items"] == [{"v": whole["v"]}]


def test_a_hash_only_table_has_one_page(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item=key)
    request: dict[str, Any] = {
        "TableName": hash_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": key["pk"]},
        "Limit": 1,
    }
    for more in ({}, {}, {"FilterExpression": "attribute_exists(absent)"}, {"Select": "COUNT"}):
        answer = client.query(**request, **more)
        assert answer["ScannedCount"] == 1
        assert "LastEvaluatedKey" not in answer
    message = invalid(client.query, **request, ExclusiveStartKey=key)
    assert message.startswith("The provided exclusive start key is invalid: ExclusiveStartKey: {pk=")
