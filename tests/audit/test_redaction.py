"""What the audit log shows of requests: keys, names, and no value of an item."""

from typing import Any

import msgspec
import orjson
import pytest

from hashrange.api.partiql import tokens
from hashrange.api.registry import DYNAMODB
from hashrange.audit.redaction import HIDDEN, REDACTED, Redaction, TooLong, without_literals

SECRET = "canary-5f1e"


def shown(operation: str, request: dict[str, Any], keys: Any = "plain") -> dict[str, Any]:
    decoded = DYNAMODB.operations[operation].decode(orjson.dumps(request))
    return Redaction(keys, b"secret").parameters(decoded, lambda _: ("pk", "sk"))[0]


FILTER = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": SECRET}]}
ITEM = {"pk": {"S": "a"}, "sk": {"N": "7"}, "card": {"S": SECRET}}


def test_a_put_shows_the_key_and_the_names_of_attributes() -> None:
    assert shown(
        "PutItem", {"TableName": "music", "Item": ITEM, "ConditionExpression": "attribute_exists(pk)"}
    ) == {
        "tableName": "music",
        "key": {"pk": {"S": "a"}, "sk": {"N": "7"}},
        "items": ["pk", "sk", "card"],
        "conditionExpression": "attribute_exists(pk)",
    }


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"TableName": "music", "Item": ITEM}),
        ("PutItem", {"TableName": "music", "Item": ITEM, "Expected": {"card": {"Value": {"S": SECRET}}}}),
        (
            "UpdateItem",
            {
                "TableName": "music",
                "Key": {"pk": {"S": "a"}},
                "AttributeUpdates": {"card": {"Value": {"S": SECRET}, "Action": "PUT"}},
                "ExpressionAttributeValues": {":v": {"S": SECRET}},
            },
        ),
        (
            "Query",
            {
                "TableName": "music",
                "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": SECRET}]}},
                "QueryFilter": {"card": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": SECRET}]}},
            },
        ),
        ("Scan", {"TableName": "music", "ScanFilter": {"card": FILTER}}),
        ("BatchWriteItem", {"RequestItems": {"music": [{"PutRequest": {"Item": ITEM}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "music", "Item": ITEM}}]}),
        ("ExecuteStatement", {"Statement": f"INSERT INTO music VALUE {{'card': '{SECRET}'}}"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM music WHERE card=?", "Parameters": [{"S": SECRET}]}),
        (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f"DELETE FROM m WHERE c='{SECRET}'", "Parameters": [{"S": SECRET}]}]},
        ),
    ],
)  # fmt: skip
def test_no_value_of_an_item_is_shown(operation: str, request_: dict[str, Any]) -> None:
    text = orjson.dumps(shown(operation, request_)).decode()
    assert SECRET not in text
    assert "tableName" in text or "music" in text or "tatement" in text


def test_batches_and_transactions_show_the_key_of_every_item() -> None:
    key = {"pk": {"S": "a"}, "sk": {"N": "7"}}
    batch = shown("BatchWriteItem", {"RequestItems": {"music": [{"PutRequest": {"Item": ITEM}}]}})
    assert batch["requestItems"]["music"][0]["putRequest"]["key"] == key
    transaction = shown(
        "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "music", "Item": ITEM}}]}
    )
    assert transaction["transactItems"][0]["put"]["key"] == key
    many = shown("BatchGetItem", {"RequestItems": {"music": {"Keys": [key]}}})
    assert many["requestItems"]["music"]["keys"] == [key]


def test_keys_may_be_hashed_or_redacted() -> None:
    request = {"TableName": "music", "Key": {"pk": {"S": SECRET}}}
    hashed = shown("GetItem", request, "hashed")["key"]["pk"]["S"]
    assert hashed.startswith("hmac-sha256:")
    assert hashed == shown("DeleteItem", request, "hashed")["key"]["pk"]["S"]
    assert (
        hashed
        != shown("GetItem", {"TableName": "music", "Key": {"pk": {"S": "other"}}}, "hashed")["key"]["pk"]["S"]
    )
    decoded = DYNAMODB.operations["GetItem"].decode(orjson.dumps(request))
    another = Redaction("hashed", b"another secret").parameters(decoded, lambda _: ())[0]
    assert another["key"]["pk"]["S"] != hashed
    assert shown("GetItem", request, "redacted")["key"] == {"pk": REDACTED}


def test_page_tokens_are_shown_as_keys_are() -> None:
    resume = tokens.encode(tokens.Resume(0, SECRET.encode()), b"binding")
    request = {"Statement": "SELECT * FROM music", "NextToken": resume}
    assert shown("ExecuteStatement", request)["nextToken"] == resume
    hashed = shown("ExecuteStatement", request, "hashed")["nextToken"]
    assert hashed.startswith("hmac-sha256:")
    assert shown("ExecuteStatement", request, "redacted")["nextToken"] == REDACTED
    page = {"TableName": "music", "ExclusiveStartKey": {"pk": {"S": SECRET}, "city": {"S": SECRET}}}
    for operation in ("Query", "Scan"):
        assert shown(operation, page, "redacted")["exclusiveStartKey"] == {"pk": REDACTED, "city": REDACTED}


def test_a_statement_that_is_too_long_is_cut_and_still_has_no_literal() -> None:
    statement = f"SELECT * FROM t WHERE a IN ['{'x' * 4080}{SECRET}']"
    assert shown("ExecuteStatement", {"Statement": statement})["statement"] == (
        f"SELECT * FROM t WHERE a IN [{REDACTED}"
    )


@pytest.mark.parametrize(
    "value", [{"M": {"x": {"S": SECRET}}}, {"L": [{"S": SECRET}]}, {"S": "a", "N": SECRET}, {}]
)
def test_what_is_no_key_is_not_shown_as_one(value: dict[str, Any]) -> None:
    found = shown("GetItem", {"TableName": "music", "Key": {"pk": value}})
    assert found["key"] == {"pk": REDACTED}


def test_credentials_in_other_requests_are_hidden() -> None:
    class Request(msgspec.Struct):
        web_identity_token: str
        tags: dict[str, str]

    found, _ = Redaction("plain").parameters(Request(SECRET, {"SessionToken": SECRET}), lambda _: ())
    assert found == {"web_identity_token": HIDDEN, "tags": {"SessionToken": HIDDEN}}


def test_a_request_without_end_is_not_shown() -> None:
    item = {f"name{number}": {"S": ""} for number in range(20_000)}
    with pytest.raises(TooLong):
        shown("PutItem", {"TableName": "music", "Item": item})


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT * FROM t WHERE a='x'", f"SELECT * FROM t WHERE a={REDACTED}"),
        ("SELECT * FROM t WHERE a='it''s' AND b=1", f"SELECT * FROM t WHERE a={REDACTED} AND b={REDACTED}"),
        ("""SELECT "a'b" FROM "t1" WHERE c='say "x"'""", f"""SELECT "a'b" FROM "t1" WHERE c={REDACTED}"""),
        ("SELECT a1 FROM t2 WHERE b[0] IN [-1.5e10,2]", None),
        ("UPDATE t SET a='unfinished", f"UPDATE t SET a={REDACTED}"),
        ("SELECT * FROM t -- of bob", f"SELECT * FROM t {REDACTED}"),
        ("SELECT /* it's */ * FROM t WHERE a='x'", f"SELECT {REDACTED} * FROM t WHERE a={REDACTED}"),
        ("SELECT * FROM t -- it's\nWHERE a='x'", f"SELECT * FROM t {REDACTED}\nWHERE a={REDACTED}"),
        ("SELECT * FROM t WHERE a='--' AND b='x'", f"SELECT * FROM t WHERE a={REDACTED} AND b={REDACTED}"),
        ("SELECT * FROM t /* never ends 'x", f"SELECT * FROM t {REDACTED}"),
        ("SELECT * FROM t WHERE a=.125", f"SELECT * FROM t WHERE a={REDACTED}"),
        ('SELECT * FROM t WHERE a = "x"', f"SELECT * FROM t WHERE a = {REDACTED}"),
        ('SELECT * FROM t WHERE a = -- y\n "x"', f"SELECT * FROM t WHERE a = {REDACTED}\n {REDACTED}"),
        ('SELECT * FROM t WHERE "a" = \u2018x\u2019', f'SELECT * FROM t WHERE "a" = {REDACTED}'),
        ("SELECT * FROM t WHERE a=`{{x}}` AND b=?", f"SELECT * FROM t WHERE a={REDACTED} AND b=?"),
    ],
)
def test_statements_lose_their_literals(statement: str, expected: str | None) -> None:
    if expected is None:
        text = without_literals(statement)
        assert "1.5e10" not in text
        assert "a1" in text
        assert "t2" in text
    else:
        assert without_literals(statement) == expected
