"""JSON of the wrong type: the service's reader complains before anything else is looked at."""

from typing import Any

import pytest

STRUCTURE = "Start of structure or map found where not expected"
MODEL = "com.amazonaws.dynamodb.v20120810."
PARAMETERIZED = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of "
    "loader 'bootstrap')"
)
ATTRIBUTES = f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}AttributeValue>"


def complaint(raw: Any, operation: str, body: Any) -> str | None:
    """The message of the SerializationException that a request must answer with."""
    answer = raw(operation, body)
    assert (answer.status, answer.error) == (400, "SerializationException"), answer.body
    assert answer.body["__type"] == "com.amazon.coral.service#SerializationException"
    message: str | None = answer.body.get("Message")
    return message


STRINGS = [
    (True, "TRUE_VALUE cannot be converted to String"),
    (False, "FALSE_VALUE cannot be converted to String"),
    (23, "NUMBER_VALUE cannot be converted to String"),
    (23.5, "DECIMAL_VALUE cannot be converted to String"),
    ([], "Unrecognized collection type class java.lang.String"),
    ({}, STRUCTURE),
]


@pytest.mark.parametrize(("value", "message"), STRINGS, ids=str)
@pytest.mark.parametrize(
    ("operation", "member"),
    [
        ("PutItem", "TableName"),
        ("GetItem", "TableName"),
        ("GetItem", "ProjectionExpression"),
        ("GetItem", "ReturnConsumedCapacity"),
        ("PutItem", "ConditionExpression"),
        ("PutItem", "ReturnValues"),
        ("UpdateItem", "UpdateExpression"),
        ("DeleteItem", "ReturnItemCollectionMetrics"),
        ("Query", "IndexName"),
        ("Query", "KeyConditionExpression"),
        ("Scan", "Select"),
        ("TransactWriteItems", "ClientRequestToken"),
    ],
)
def test_strings(raw: Any, operation: str, member: str, value: Any, message: str) -> None:
    assert complaint(raw, operation, {member: value}) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("23", "STRING_VALUE cannot be converted to Integer"),
        (True, "TRUE_VALUE cannot be converted to Integer"),
        (False, "FALSE_VALUE cannot be converted to Integer"),
        ([], "Unrecognized collection type class java.lang.Integer"),
        ({}, STRUCTURE),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("operation", "member"), [("Query", "Limit"), ("Scan", "Segment"), ("Scan", "TotalSegments")]
)
def test_integers(raw: Any, operation: str, member: str, value: Any, message: str) -> None:
    assert complaint(raw, operation, {member: value}) == message


def test_fractions_are_cut_off(raw: Any, hash_table: str) -> None:
    assert raw("Scan", {"TableName": hash_table, "Limit": 1.9}).status == 200
    answer = raw("Scan", {"TableName": hash_table, "Limit": 0.9})
    assert answer.body["message"].startswith("1 validation error detected: Value at 'Limit'")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("maybe", "Unexpected token received from parser"),
        (23, "NUMBER_VALUE cannot be converted to Boolean"),
        (23.5, "DECIMAL_VALUE cannot be converted to Boolean"),
        ([], "Unrecognized collection type class java.lang.Boolean"),
        ({}, STRUCTURE),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", lambda value: {"ConsistentRead": value}),
        ("Query", lambda value: {"ScanIndexForward": value}),
        ("PutItem", lambda value: {"Item": {"a": {"BOOL": value}}}),
        ("PutItem", lambda value: {"Item": {"a": {"L": [{"M": {"b": {"NULL": value}}}]}}}),
        ("PutItem", lambda value: {"Expected": {"a": {"Exists": value}}}),
    ],
)
def test_booleans(raw: Any, operation: str, body: Any, value: Any, message: str) -> None:
    assert complaint(raw, operation, {"TableName": "abc", **body(value)}) == message


@pytest.mark.parametrize("word", ["true", "TRUE", "t", "Y", "1", "yes", "false", "F", "n", "0", "No"])
def test_words_for_booleans(raw: Any, hash_table: str, word: str) -> None:
    body = {"TableName": hash_table, "Key": {"pk": {"S": "a"}}, "ConsistentRead": word}
    body["ReturnConsumedCapacity"] = "TOTAL"
    units = raw("GetItem", body).body["ConsumedCapacity"]["CapacityUnits"]
    assert units == (1.0 if word.lower() in ("true", "t", "y", "1", "yes") else 0.5)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, "only base-64-encoded strings are convertible to bytes"),
        (23, "only base-64-encoded strings are convertible to bytes"),
        (23.5, "only base-64-encoded strings are convertible to bytes"),
        ([], "Unrecognized collection type class java.nio.ByteBuffer"),
        ({}, STRUCTURE),
        ("abcde", "Base64 encoded length is expected a multiple of 4 bytes but found: 5"),
        ("a", "Base64 encoded length is expected a multiple of 4 bytes but found: 1"),
        ("+/+=", "Invalid last non-pad Base64 character dectected"),
    ],
    ids=str,
)
@pytest.mark.parametrize("wrap", [lambda value: {"B": value}, lambda value: {"BS": [value]}], ids=["B", "BS"])
def test_binaries(raw: Any, wrap: Any, value: Any, message: str) -> None:
    assert complaint(raw, "PutItem", {"TableName": "abc", "Item": {"a": wrap(value)}}) == message
    assert complaint(raw, "GetItem", {"TableName": "abc", "Key": {"a": {"L": [wrap(value)]}}}) == message


@pytest.mark.parametrize("value", ["a", True, 23, 23.5], ids=str)
@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", lambda value: {"AttributesToGet": value}),
        ("TransactWriteItems", lambda value: {"TransactItems": value}),
        ("PutItem", lambda value: {"Item": {"a": {"SS": value}}}),
        ("PutItem", lambda value: {"Item": {"a": {"L": value}}}),
        ("Query", lambda value: {"KeyConditions": {"a": {"AttributeValueList": value}}}),
        ("PutItem", lambda value: {"Item": value}),
        ("GetItem", lambda value: {"Key": value}),
        ("GetItem", lambda value: {"ExpressionAttributeNames": value}),
        ("PutItem", lambda value: {"Item": {"a": {"M": value}}}),
        ("BatchGetItem", lambda value: {"RequestItems": value}),
        ("BatchWriteItem", lambda value: {"RequestItems": {"abc": [{"PutRequest": value}]}}),
        ("PutItem", lambda value: {"Expected": {"a": {"Value": value}}}),
        ("UpdateItem", lambda value: {"AttributeUpdates": {"a": {"Value": value}}}),
        ("TransactWriteItems", lambda value: {"TransactItems": [{"Put": value}]}),
    ],
)
def test_scalars_where_lists_and_maps_belong(raw: Any, operation: str, body: Any, value: Any) -> None:
    assert complaint(raw, operation, body(value)) == "Unexpected field type"


@pytest.mark.parametrize("value", ["a", True, 23, 23.5], ids=str)
@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("PutItem", lambda value: {"Item": {"a": value}}),
        ("PutItem", lambda value: {"Item": {"a": {"L": [value]}}}),
        ("PutItem", lambda value: {"Item": {"a": {"M": {"b": value}}}}),
        ("UpdateItem", lambda value: {"ExpressionAttributeValues": {":a": value}}),
        ("PutItem", lambda value: {"Expected": {"a": value}}),
        ("UpdateItem", lambda value: {"AttributeUpdates": {"a": value}}),
        ("Query", lambda value: {"KeyConditions": {"a": value}}),
        ("Scan", lambda value: {"ScanFilter": {"a": value}}),
        ("BatchGetItem", lambda value: {"RequestItems": {"abc": value}}),
        ("BatchWriteItem", lambda value: {"RequestItems": {"abc": [value]}}),
        ("TransactWriteItems", lambda value: {"TransactItems": [value]}),
        ("TransactGetItems", lambda value: {"TransactItems": [value]}),
    ],
)
def test_scalars_where_structures_belong(raw: Any, operation: str, body: Any, value: Any) -> None:
    assert complaint(raw, operation, body(value)) == "Unexpected value type in payload"


@pytest.mark.parametrize("value", ["a", True, 23, 23.5], ids=str)
def test_scalars_where_nested_collections_belong(raw: Any, value: Any) -> None:
    assert complaint(raw, "BatchWriteItem", {"RequestItems": {"abc": value}}) == PARAMETERIZED
    assert complaint(raw, "BatchGetItem", {"RequestItems": {"abc": {"Keys": [value]}}}) == PARAMETERIZED


@pytest.mark.parametrize(
    ("operation", "body", "message"),
    [
        ("GetItem", {"AttributesToGet": {}}, STRUCTURE),
        ("PutItem", {"Item": {"a": {"SS": {}}}}, STRUCTURE),
        ("BatchWriteItem", {"RequestItems": {"abc": {}}}, STRUCTURE),
        ("PutItem", {"Item": []}, ATTRIBUTES),
        ("GetItem", {"Key": []}, ATTRIBUTES),
        ("Query", {"ExclusiveStartKey": []}, ATTRIBUTES),
        ("Query", {"ExpressionAttributeValues": []}, ATTRIBUTES),
        ("PutItem", {"Item": {"a": {"M": []}}}, ATTRIBUTES),
        ("BatchGetItem", {"RequestItems": {"abc": {"Keys": [[]]}}}, ATTRIBUTES),
        (
            "GetItem",
            {"ExpressionAttributeNames": []},
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
        ),
        (
            "PutItem",
            {"Expected": []},
            f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}ExpectedAttributeValue>",
        ),
        (
            "UpdateItem",
            {"AttributeUpdates": []},
            f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}AttributeValueUpdate>",
        ),
        (
            "Query",
            {"KeyConditions": []},
            f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}Condition>",
        ),
        (
            "Scan",
            {"ScanFilter": []},
            f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}Condition>",
        ),
        (
            "BatchGetItem",
            {"RequestItems": []},
            f"Unrecognized collection type java.util.Map<java.lang.String, {MODEL}KeysAndAttributes>",
        ),
        (
            "BatchWriteItem",
            {"RequestItems": []},
            (
                "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<"
                f"{MODEL}WriteRequest>>"
            ),
        ),
        ("PutItem", {"Item": {"a": []}}, f"Unrecognized collection type class {MODEL}AttributeValue"),
        (
            "PutItem",
            {"Expected": {"a": []}},
            f"Unrecognized collection type class {MODEL}ExpectedAttributeValue",
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"abc": [[]]}},
            f"Unrecognized collection type class {MODEL}WriteRequest",
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"abc": [{"PutRequest": []}]}},
            f"Unrecognized collection type class {MODEL}PutRequest",
        ),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": []}},
            f"Unrecognized collection type class {MODEL}KeysAndAttributes",
        ),
    ],
    ids=str,
)
def test_the_wrong_collection(raw: Any, operation: str, body: Any, message: str) -> None:
    assert complaint(raw, operation, body) == message


@pytest.mark.parametrize("value", STRINGS, ids=str)
@pytest.mark.parametrize(
    "wrap",
    [lambda v: {"S": v}, lambda v: {"N": v}, lambda v: {"SS": [v]}, lambda v: {"NS": ["1", v]}],
    ids=["S", "N", "SS", "NS"],
)
def test_strings_and_numbers_inside_values(raw: Any, wrap: Any, value: tuple[Any, str]) -> None:
    sent, message = value
    assert complaint(raw, "PutItem", {"TableName": "abc", "Item": {"a": wrap(sent)}}) == message


@pytest.mark.parametrize(
    "body", [b"", b"{", b"}", b"{'a': 1}", b'{"a": 1', b'{"a":\x00}', b'"\xff"', b"{]", b"null"]
)
@pytest.mark.parametrize("operation", ["PutItem", "Scan"])
def test_what_is_no_json_has_no_message(raw: Any, operation: str, body: bytes) -> None:
    assert complaint(raw, operation, body) is None


def test_unknown_members_and_nulls_are_ignored(raw: Any, hash_table: str) -> None:
    body = {"TableName": hash_table, "Key": {"pk": {"S": "a"}}, "Unknown": {"x": [1]}, "ConsistentRead": None}
    body |= {"ProjectionExpression": None, "AttributesToGet": None}
    assert raw("GetItem", body).status == 200


def test_the_reader_complains_before_the_constraints(raw: Any) -> None:
    body = {"TableName": "b!", "ReturnConsumedCapacity": "hi", "Item": {"a": {"S": 5}}}
    assert complaint(raw, "PutItem", body) == "NUMBER_VALUE cannot be converted to String"


def test_the_reader_complains_before_the_values_rules(raw: Any, hash_table: str) -> None:
    body: dict[str, Any] = {"TableName": hash_table, "Item": {"pk": {"SS": []}, "a": {"S": 5}}}
    assert complaint(raw, "PutItem", body) == "NUMBER_VALUE cannot be converted to String"
    body = {"TableName": hash_table, "Item": {"pk": {"S": "a"}}, "ConditionExpression": "(((", "Expected": 5}
    assert complaint(raw, "PutItem", body) == "Unexpected field type"


@pytest.mark.parametrize(
    ("operation", "members", "message"),
    [
        (
            "PutItem",
            {"Item": {"pk": {"S": "a"}, "": None}},
            "1 validation error detected: Empty attribute name",
        ),
        (
            "UpdateItem",
            {
                "Key": {"pk": {"S": "a"}},
                "UpdateExpression": "SET a = :v",
                "ExpressionAttributeValues": {":v": {"S": "a"}, "v": None},
            },
            '1 validation error detected: ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
        ),
    ],
)
def test_the_name_of_a_null_is_looked_at_before_the_null_is_dropped(
    raw: Any, hash_table: str, operation: str, members: dict[str, Any], message: str
) -> None:
    answer = raw(operation, {"TableName": hash_table, **members})
    assert (answer.status, answer.body["message"]) == (400, message)
