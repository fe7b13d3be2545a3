"""Query: one partition in the order of its sort key, conditions on it, filters, paging and refusals."""

from decimal import Decimal
from typing import Any

import pytest

from item_tables import all_items, invalid, pages, refused, unique

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "

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
    request = {
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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "v"},
            ANNOUNCED + "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "v"},
            ANNOUNCED + "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "v"},
            ANNOUNCED
            + "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            ANNOUNCED
            + "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            ANNOUNCED + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "X"},
            ANNOUNCED
            + "Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum value set: "
            "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
        (
            {"Limit": 0},
            ANNOUNCED
            + "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        ({"IndexName": "idx"}, "The table does not have the specified index: idx"),
        (
            {"FilterExpression": "sk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            {"FilterExpression": "pk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk",
        ),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
        (
            {"FilterExpression": "#missing = :p"},
            (
                "Invalid FilterExpression: An expression attribute name used in the document path is not defined; "
                "attribute name: #missing"
            ),
        ),
        (
            {"FilterExpression": "((v = :p))"},
            "Invalid FilterExpression: The expression has redundant parentheses;",
        ),
        (
            {"ProjectionExpression": "v", "ExpressionAttributeNames": {"#u": "u"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
        (
            {"QueryFilter": {"v": {"ComparisonOperator": "NULL"}}},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {QueryFilter} Expression parameters: {KeyConditionExpression}"
            ),
        ),
        (
            {
                "AttributesToGet": ["v"],
                "ConditionalOperator": "AND",
                "FilterExpression": "v = :p",
                "ProjectionExpression": "v",
                "KeyConditions": {},
            },
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {AttributesToGet, ConditionalOperator, KeyConditions} Expression parameters: "
                "{ProjectionExpression, FilterExpression, KeyConditionExpression}"
            ),
        ),
    ],
)
def test_refusals(client: Any, range_table: str, parameters: dict[str, Any], message: str) -> None:
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert invalid(client.query, **request, **parameters) == message


P, S, N = {"S": "p"}, {"S": "s"}, {"N": "1"}
TYPE = VALUES + "Condition parameter type does not match schema type"


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ("sk = :s", {":s": S}, "Query condition missed key schema element: pk"),
        ("v = :s", {":s": S}, "Query condition missed key schema element: pk"),
        ("pk = :p AND v = :s", {":p": P, ":s": S}, "Query condition missed key schema element: sk"),
        (
            "pk = :p AND sk = :s AND v = :s",
            {":p": P, ":s": S},
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        ),
        ("pk < :p", {":p": P}, "Query key condition not supported"),
        ("pk = :p", {":p": N}, TYPE),
        ("pk = :p AND sk > :s", {":p": P, ":s": N}, TYPE),
        ("pk = :p AND sk BETWEEN :s AND :t", {":p": P, ":s": N, ":t": {"N": "2"}}, TYPE),
        ("", {":p": P}, "Invalid KeyConditionExpression: The expression can not be empty;"),
        (
            "pk = :p AND sk BETWEEN :s AND :t",
            {":p": P, ":s": {"S": "b"}, ":t": {"S": "a"}},
            (
                "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
                "equal to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: "
                "AttributeValue: {S:a}"
            ),
        ),
        (
            "pk = :p AND begins_with(sk, :s)",
            {":p": P, ":s": N},
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
                "function: begins_with, operand type: N"
            ),
        ),
        (
            "pk = :p AND sk < :s",
            {":p": P, ":s": {"BOOL": True}},
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
                "function: <, operand type: BOOL"
            ),
        ),
        (
            "pk = :p AND sk = :s",
            {":p": P, ":s": {"S": ""}},
            (
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: sk"
            ),
        ),
    ],
)
def test_key_conditions_that_are_refused(
    client: Any, range_table: str, condition: str, values: dict[str, Any], message: str
) -> None:
    request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
    assert invalid(client.query, TableName=range_table, **request) == message


@pytest.mark.parametrize(
    ("condition", "detail"),
    [
        ("pk = :p OR sk = :s", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :p AND sk = :s", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk = :p AND sk IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        ("pk = :p AND sk <> :s", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk = :p AND contains(sk, :s)", "Invalid operator used in KeyConditionExpression: contains"),
        (
            "pk = :p AND attribute_exists(sk)",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        ("pk = :p AND sk.x = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("pk = :p AND pk = :s", "KeyConditionExpressions must only contain one condition per key"),
        ("pk = :p AND size(sk) = :s", "KeyConditionExpressions cannot contain nested operations"),
        (
            "pk = :p AND sk = v",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
    ],
)
def test_what_no_key_condition_may_have(client: Any, range_table: str, condition: str, detail: str) -> None:
    values = {name: value for name, value in {":p": P, ":s": S}.items() if name in condition}
    request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
    message = invalid(client.query, TableName=range_table, **request)
    # Some of them the service begins with the parameter's name, some not.
    assert message.removeprefix("Invalid KeyConditionExpression: ") == detail


def test_a_second_condition_on_a_hash_only_table(client: Any, hash_table: str) -> None:
    request = {"KeyConditionExpression": "pk = :p AND sk = :p", "ExpressionAttributeValues": {":p": P}}
    assert invalid(client.query, TableName=hash_table, **request) == (
        "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)"
    )


def test_a_query_needs_a_condition(client: Any, range_table: str) -> None:
    assert invalid(client.query, TableName=range_table) == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )
    message = invalid(client.query, TableName=range_table, ExpressionAttributeValues={":p": P})
    assert message == (
        "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and "
        "KeyConditionExpression are null"
    )


START = "The provided starting key is invalid"


@pytest.mark.parametrize(
    ("start", "condition", "message"),
    [
        ({}, None, START),
        ({"pk": {"S": "a"}}, None, START),
        ({"pk": {"S": "a"}, "sk": {"S": "b"}, "x": {"S": "c"}}, None, START),
        ({"pk": {"S": "a"}, "x": {"S": "c"}}, None, START),
        ({"pk": {"S": "a"}, "sk": {"N": "1"}}, None, START),
        (
            {"pk": {"S": "b"}, "sk": {"S": "b"}},
            None,
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
        (
            {"pk": {"S": "a"}, "sk": {"S": "b"}},
            "sk > :s",
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"pk": {"S": "b"}, "sk": {"S": "b"}},
            "sk > :s",
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"pk": {"S": "b"}, "sk": {"S": "n"}},
            "sk > :s",
            "The query can return at most one row and cannot be restarted",
        ),
        (
            {"pk": {}, "sk": {"S": "n"}},
            None,
            START + ": Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        ({"pk": {"SS": []}, "sk": {"S": "n"}}, None, START + f": {VALUES}An string set  may not be empty"),
        (
            {"pk": {"N": "x"}, "sk": {"S": "n"}},
            None,
            "The parameter cannot be converted to a numeric value: x",
        ),
    ],
)
def test_bad_start_keys(
    client: Any, range_table: str, start: dict[str, Any], condition: str | None, message: str
) -> None:
    values = {":p": {"S": "a"}} | ({":s": {"S": "m"}} if condition else {})
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p" + (f" AND {condition}" if condition else ""),
        "ExpressionAttributeValues": values,
    }
    assert invalid(client.query, **request, ExclusiveStartKey=start) == message


def test_a_path_into_a_key_is_refused(client: Any, range_table: str) -> None:
    rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": P},
    }
    assert invalid(client.query, **request, ProjectionExpression="sk.x") == rule + "Key: sk"
    assert invalid(client.query, **request, FilterExpression="pk[0] = :p") == rule + "Key: pk"


def test_an_unknown_table_is_not_found(client: Any) -> None:
    request = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": P}}
    found = refused(client.query, TableName="no-such-table", **request)
    assert found == ("ResourceNotFoundException", "Requested resource not found")
