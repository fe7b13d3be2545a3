"""Requests that are made piece by piece are the same as those that are made at once."""

from typing import Any

import msgspec
import pytest

from hashrange.api.protocol import patient_requests
from hashrange.api.registry import DYNAMODB

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
WIDE = {f"a{number}": {"S": ""} for number in range(30)}
VALUE = {"L": [{"M": {"x": {"N": "1"}}}, {"S": "y"}]}
CONDITION = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}, VALUE]}

WELL_FORMED: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"TableName": "t", "Key": KEY, "AttributesToGet": list(WIDE), "ConsistentRead": True}),
    (
        "GetItem",
        {
            "TableName": "t",
            "Key": WIDE,
            "ExpressionAttributeNames": dict.fromkeys(WIDE, "x"),
            "ProjectionExpression": None,
        },
    ),
    ("PutItem", {"TableName": "t", "Item": {**KEY, **WIDE, "l": VALUE}, "ReturnValues": "ALL_OLD"}),
    (
        "UpdateItem",
        {
            "TableName": "t",
            "Key": KEY,
            "AttributeUpdates": {"a": {"Action": "PUT", "Value": VALUE}, "b": {"Action": "DELETE"}},
        },
    ),
    (
        "DeleteItem",
        {"TableName": "t", "Key": KEY, "Expected": {"a": {"Exists": False}, "b": {"Value": VALUE}}},
    ),
    ("Scan", {"TableName": "t", "ScanFilter": dict.fromkeys(WIDE, CONDITION), "Limit": 3}),
    ("BatchGetItem", {"RequestItems": {"t": {"Keys": [KEY, WIDE]}, "uuu": {"Keys": [KEY]}}}),
    (
        "BatchWriteItem",
        {"RequestItems": {"ttt": [{"PutRequest": {"Item": WIDE}}, {"DeleteRequest": {"Key": KEY}}]}},
    ),
    (
        "TransactWriteItems",
        {
            "ClientRequestToken": "x",
            "TransactItems": [
                {"Put": {"TableName": "t", "Item": WIDE}},
                {"Update": {"TableName": "t", "Key": KEY, "UpdateExpression": "SET a = :a"}},
            ],
        },
    ),
    ("ExecuteStatement", {"Statement": "SELECT", "Parameters": [VALUE] * 30}),
    (
        "CreateTable",
        {
            "TableName": "ttt",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}] * 9,
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        },
    ),
]
WRONG: list[tuple[str, Any]] = [
    ("GetItem", {"TableName": "t", "Key": WIDE, "Unknown": 1}),
    ("GetItem", {"Key": WIDE, "TableName": 7}),
    ("GetItem", {"TableName": "t", "Key": list(WIDE)}),
    ("GetItem", {"TableName": "t", "Key": {**WIDE, "b": 7}}),
    ("GetItem", {"TableName": "t", "Key": WIDE, "AttributesToGet": ["a"] * 256}),
    ("DeleteItem", {"TableName": "t", "Key": KEY, "Expected": {**WIDE, "b": {"Exists": "maybe"}}}),
    ("DeleteItem", {"TableName": "t", "Expected": {"a": {"Exists": False}}}),
    ("BatchGetItem", {"RequestItems": {"t": {"Keys": [KEY] * 101}}}),
    ("BatchWriteItem", {"RequestItems": {"ttt": [{"PutRequest": {"Item": 7}}] * 9}}),
    ("TransactWriteItems", {"TransactItems": [{"Delete": {"TableName": "t", "Key": KEY}}] * 101}),
    ("TransactWriteItems", {"TransactItems": []}),
    ("PutItem", [WIDE]),
]


@pytest.fixture(params=[1, 4, 16])
def _in_pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_requests, "PIECE_ENTRIES", request.param)


@pytest.mark.usefixtures("_in_pieces")
@pytest.mark.parametrize(("operation", "sent"), WELL_FORMED)
def test_a_request_is_the_same(operation: str, sent: dict[str, Any]) -> None:
    structure = DYNAMODB.operations[operation].shape.request
    assert patient_requests.converted(sent, structure) == msgspec.convert(sent, structure)


@pytest.mark.usefixtures("_in_pieces")
@pytest.mark.parametrize(("operation", "sent"), WRONG)
def test_what_is_no_request_is_refused(operation: str, sent: Any) -> None:
    structure = DYNAMODB.operations[operation].shape.request
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(sent, structure)
    with pytest.raises(msgspec.ValidationError):
        patient_requests.converted(sent, structure)


def test_no_call_converts_more_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    convert = msgspec.convert

    def noted(sent: Any, hint: Any) -> Any:
        sizes.append(len(sent))
        return convert(sent, hint)

    monkeypatch.setattr(msgspec, "convert", noted)
    item = {f"a{number}": {"S": ""} for number in range(20_000)}
    sent = {"TransactItems": [{"Put": {"TableName": "t", "Item": item}}]}
    request = patient_requests.converted(sent, DYNAMODB.operations["TransactWriteItems"].shape.request)
    assert request.transact_items[0].put.item == item
    assert max(sizes) == patient_requests.PIECE_ENTRIES
