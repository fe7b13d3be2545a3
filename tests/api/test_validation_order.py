"""Of several things wrong with a request the service reports a certain one, or certain ones in a certain order."""

from typing import Any

import pytest

from item_tables import invalid, refused, unique

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "
CAPACITY = (
    "Value 'hi' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: "
    "[INDEXES, TOTAL, NONE]"
)
METRICS = (
    "Value 'ho' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: "
    "[SIZE, NONE]"
)
RETURNED = (
    "Value 'ha' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
)
OPERATOR = (
    "Value 'X' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum value set: "
    "[OR, AND]"
)
NAME = (
    "Value 'bad!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+"
)
NO_NAME = "Value null at 'tableName' failed to satisfy constraint: Member must not be null"
NO_KEY = "Value null at 'key' failed to satisfy constraint: Member must not be null"
NO_ITEM = "Value null at 'item' failed to satisfy constraint: Member must not be null"
EMPTY_NAME = (
    "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
)
EMPTY_NAME_NEWER = (
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
)
KEY = {"pk": {"S": "a"}}


def deep(levels: int) -> dict[str, Any]:
    """A string in so many maps."""
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


DEEP = {"pk": deep(63)}
BAD_ENUMS = {"ReturnConsumedCapacity": "hi", "ReturnItemCollectionMetrics": "ho", "ReturnValues": "ha"}

OPERATIONS: dict[str, dict[str, Any]] = {
    "get_item": {"Key": KEY},
    "put_item": {"Item": KEY},
    "update_item": {"Key": KEY},
    "delete_item": {"Key": KEY},
    "query": {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}},
    "scan": {},
}
operations = pytest.mark.parametrize("operation", OPERATIONS)


def joined(*errors: str) -> str:
    plural = "s" if len(errors) > 1 else ""
    return f"{len(errors)} validation error{plural} detected: {'; '.join(errors)}"


@operations
def test_a_table_name_is_needed(client: Any, operation: str) -> None:
    assert invalid(getattr(client, operation), **OPERATIONS[operation]) == joined(NO_NAME)


@operations
def test_a_table_name_must_not_be_empty(client: Any, operation: str) -> None:
    message = invalid(getattr(client, operation), TableName="", **OPERATIONS[operation])
    assert message == joined(EMPTY_NAME if operation == "scan" else EMPTY_NAME_NEWER)


@operations
def test_a_table_name_must_be_well_formed(client: Any, operation: str) -> None:
    assert invalid(getattr(client, operation), TableName="bad!", **OPERATIONS[operation]) == joined(NAME)
    long = "a" * 256
    assert invalid(getattr(client, operation), TableName=long, **OPERATIONS[operation]) == joined(
        f"Value '{long}' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255"
    )


@pytest.mark.parametrize("name", ["a", "ab"])
def test_a_short_table_name_is_merely_not_found_by_scan(client: Any, name: str) -> None:
    found = refused(client.scan, TableName=name)
    assert found == ("ResourceNotFoundException", "Requested resource not found")


@operations
def test_a_bad_enumeration(client: Any, hash_table: str, operation: str) -> None:
    request = {"TableName": hash_table, "ReturnConsumedCapacity": "hi", **OPERATIONS[operation]}
    # UpdateItem does not announce this one (measured).
    assert invalid(getattr(client, operation), **request) == (
        CAPACITY if operation == "update_item" else joined(CAPACITY)
    )


@pytest.mark.parametrize(
    ("operation", "parameters", "errors"),
    [
        ("put_item", {"TableName": "bad!", **BAD_ENUMS}, [CAPACITY, NAME, RETURNED, METRICS, NO_ITEM]),
        ("put_item", {"TableName": "bad!"}, [NAME, NO_ITEM]),
        ("put_item", {"TableName": "abc", "Item": DEEP, "ConditionalOperator": "X"}, [OPERATOR]),
        ("put_item", {"TableName": "abc", "Item": DEEP, "ReturnValues": "ha"}, [RETURNED]),
        ("delete_item", {"TableName": "abc", "Key": DEEP, "ReturnValues": "ha"}, [RETURNED]),
        ("delete_item", {"TableName": "abc", **BAD_ENUMS}, [CAPACITY, RETURNED, METRICS, NO_KEY]),
        ("delete_item", {"TableName": "abc", "ReturnValues": "ALL_NEW"}, [NO_KEY]),
        (
            "update_item",
            {"TableName": "abc", "ConditionalOperator": "X", **BAD_ENUMS},
            [CAPACITY, RETURNED, METRICS, OPERATOR, NO_KEY],
        ),
        ("update_item", {"TableName": "", **BAD_ENUMS}, [CAPACITY, EMPTY_NAME, RETURNED, METRICS, NO_KEY]),
        (
            "update_item",
            {
                "TableName": "abc",
                "Key": KEY,
                "Expected": {"a": {"Value": DEEP["pk"]}, "b": {"Exists": False}},
                "ConditionalOperator": "X",
            },
            [OPERATOR],
        ),
        ("get_item", {"TableName": "bad!", "ReturnConsumedCapacity": "hi"}, [CAPACITY, NAME, NO_KEY]),
        (
            "scan",
            {"TableName": "bad!", "Limit": 0, "Segment": -1, "TotalSegments": 0},
            [
                (
                    "Value at 'TotalSegments' failed to satisfy constraint: Member must have value greater than "
                    "or equal to 1"
                ),
                NAME,
                (
                    "Value at 'Segment' failed to satisfy constraint: Member must have value greater than or "
                    "equal to 0"
                ),
                "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
            ],
        ),
    ],
)
def test_broken_constraints_are_joined_in_order(
    client: Any, operation: str, parameters: dict[str, Any], errors: list[str]
) -> None:
    assert invalid(getattr(client, operation), **parameters) == joined(*errors)


def test_no_more_than_ten_are_listed(client: Any) -> None:
    bad = {name: {"ComparisonOperator": "X"} for name in "abcdefghijkl"}
    message = invalid(client.scan, TableName="abc", ScanFilter=bad)
    assert message.startswith("10 validation errors detected: ")
    assert message.count("comparisonOperator") == 10


def test_put_item_after_the_constraints(client: Any, hash_table: str) -> None:
    """Each thing wrong is taken away in turn, and the next one shows."""
    request: dict[str, Any] = {
        "TableName": "no-such-table",
        "Item": {"pk": {"N": "1"}, "a": {"SS": []}},
        "ReturnValues": "ALL_NEW",
        "ConditionExpression": "a = :a AND (",
        "ExpressionAttributeNames": {"#u": "u"},
        "Expected": {"a": {"Exists": False}},
    }
    put = client.put_item
    assert invalid(put, **request).startswith(ANNOUNCED + "Can not use both expression and non-expression")
    del request["Expected"]
    assert invalid(put, **request) == ANNOUNCED + VALUES + "An string set  may not be empty"
    request["Item"]["a"] = {"S": "x"}
    assert invalid(put, **request) == ANNOUNCED + "ReturnValues can only be ALL_OLD or NONE"
    request["ReturnValues"] = "ALL_OLD"
    assert "Syntax error" in invalid(put, **request)
    request["ConditionExpression"] = "a = :a"
    assert "attribute value: :a" in invalid(put, **request)
    request["ExpressionAttributeValues"] = {":a": {"S": "x"}}
    assert invalid(put, **request).endswith("unused in expressions: keys: {#u}")
    del request["ExpressionAttributeNames"]
    assert refused(put, **request)[0] == "ResourceNotFoundException"
    request["TableName"] = hash_table
    assert invalid(put, **request) == VALUES + "Type mismatch for key pk expected: S actual: N"
    request["Item"]["pk"] = {"S": unique()}
    assert refused(put, **request)[0] == "ConditionalCheckFailedException"


def test_get_item_after_the_constraints(client: Any, hash_table: str) -> None:
    request: dict[str, Any] = {
        "TableName": "no-such-table",
        "Key": {"pk": {"N": "1"}, "a": {"SS": []}},
        "ProjectionExpression": "a, a",
        "AttributesToGet": ["a"],
        "ExpressionAttributeNames": {"#u": "u"},
    }
    get = client.get_item
    assert invalid(get, **request).startswith("Can not use both expression and non-expression")
    del request["AttributesToGet"]
    assert invalid(get, **request) == VALUES + "An string set  may not be empty"
    del request["Key"]["a"]
    assert "Two document paths overlap" in invalid(get, **request)
    request["ProjectionExpression"] = "a"
    assert invalid(get, **request).endswith("unused in expressions: keys: {#u}")
    del request["ExpressionAttributeNames"]
    assert refused(get, **request)[0] == "ResourceNotFoundException"
    request["TableName"] = hash_table
    assert invalid(get, **request) == "The provided key element does not match the schema"


def test_update_item_after_the_constraints(client: Any, hash_table: str) -> None:
    request: dict[str, Any] = {
        "TableName": "no-such-table",
        "Key": {"pk": {"N": "1"}, "a": {"NULL": False}},
        "UpdateExpression": "SET pk = (",
        "ConditionExpression": "a = )",
        "ExpressionAttributeValues": {":u": {"S": "u"}},
        "AttributeUpdates": {},
    }
    update = client.update_item
    assert invalid(update, **request).startswith(ANNOUNCED + "Can not use both expression and non-expression")
    del request["AttributeUpdates"]
    assert invalid(update, **request).endswith("Null attribute value types must have the value of true")
    del request["Key"]["a"]
    assert invalid(update, **request).startswith(ANNOUNCED + "Invalid UpdateExpression: Syntax error")
    request["UpdateExpression"] = "REMOVE pk"
    assert invalid(update, **request).startswith(ANNOUNCED + "Invalid ConditionExpression: Syntax error")
    request["ConditionExpression"] = "attribute_exists(absent)"
    assert invalid(update, **request).endswith("unused in expressions: keys: {:u}")
    del request["ExpressionAttributeValues"]
    assert refused(update, **request)[0] == "ResourceNotFoundException"
    request["TableName"] = hash_table
    assert invalid(update, **request) == "The provided key element does not match the schema"
    request["Key"]["pk"] = {"S": unique()}
    assert "Cannot update attribute pk" in invalid(update, **request)
    request["UpdateExpression"] = "SET a = b"
    assert refused(update, **request)[0] == "ConditionalCheckFailedException"
    del request["ConditionExpression"]
    assert "refers to an attribute that does not exist" in invalid(update, **request)


def test_query_after_the_constraints(client: Any, indexed_table: str) -> None:
    request: dict[str, Any] = {
        "TableName": "no-such-table",
        "IndexName": "no-such-index",
        "ConsistentRead": True,
        "Select": "ALL_ATTRIBUTES",
        "KeyConditionExpression": "x = :x AND g = :g AND n = :n AND y = :y AND (",
        "FilterExpression": "g = :g",
        "ProjectionExpression": "a, a",
        "ExpressionAttributeValues": {":x": {"S": "x"}, ":g": {"S": "g"}, ":n": {"N": "1"}, ":u": {"S": "u"}},
        "ExclusiveStartKey": {"pk": {}},
    }
    query = client.query
    assert invalid(query, **request).endswith(
        "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"
    )
    del request["Select"]
    assert invalid(query, **request).startswith(
        "The provided starting key is invalid: Supplied AttributeValue"
    )
    request["ExclusiveStartKey"] = {"pk": {"S": "a"}}
    assert invalid(query, **request).startswith("Invalid KeyConditionExpression: Syntax error")
    request["KeyConditionExpression"] = "x = :x AND g = :g AND n = :n AND y = :y"
    assert invalid(query, **request).endswith("attribute value: :y")
    request["KeyConditionExpression"] = "x = :x AND g = :g AND n = :n"
    assert "Two document paths overlap" in invalid(query, **request)
    request["ProjectionExpression"] = "a"
    assert invalid(query, **request).endswith("unused in expressions: keys: {:u}")
    del request["ExpressionAttributeValues"][":u"]
    assert refused(query, **request)[0] == "ResourceNotFoundException"
    request["TableName"] = indexed_table
    assert invalid(query, **request) == "The table does not have the specified index: no-such-index"
    request["IndexName"] = "global-keys"
    assert invalid(query, **request) == "Consistent reads are not supported on global secondary indexes"
    del request["ConsistentRead"]
    assert invalid(query, **request) == "The provided starting key is invalid"
    del request["ExclusiveStartKey"]
    assert "The number of query conditions (3) exceeds" in invalid(query, **request)
    request["KeyConditionExpression"] = "g = :g AND n = :n"
    del request["ExpressionAttributeValues"][":x"]
    assert invalid(query, **request).endswith("Primary key attribute: g")
    request["FilterExpression"] = "far = :g"
    assert invalid(query, **request).endswith("does not project one or more filter attributes: [far]")
    del request["FilterExpression"]
    assert invalid(query, **request).endswith("does not project [a]")
    del request["ProjectionExpression"]
    assert query(**request)["Count"] == 0


def test_operands_of_key_conditions_are_checked_before_the_table(client: Any) -> None:
    request = {
        "TableName": "no-such-table",
        "KeyConditionExpression": "pk = :p AND sk < :s",
        "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"BOOL": True}},
    }
    assert "Incorrect operand type" in invalid(client.query, **request)


def test_a_conditions_clauses_are_walked_from_left_to_right(client: Any) -> None:
    values = {"ExpressionAttributeValues": {":n": {"N": "1"}, ":p": {"S": "p"}}}
    request = {"TableName": "no-such-table", **values}
    first = invalid(
        client.query, **request, KeyConditionExpression="pk = :x AND begins_with(sk, :n) AND a = :p"
    )
    assert first.endswith("attribute value: :x")
    first = invalid(
        client.query, **request, KeyConditionExpression="begins_with(sk, :n) AND pk = :x AND a = :p"
    )
    assert "Incorrect operand type" in first


def test_a_transaction_s_actions_are_checked_in_their_order(client: Any, hash_table: str) -> None:
    bad_value = {"Put": {"TableName": hash_table, "Item": {"pk": {"S": "a"}, "a": {"SS": []}}}}
    bad_text = {
        "Update": {"TableName": hash_table, "Key": {"pk": {"S": "b"}}, "UpdateExpression": "INVALID SYNTAX"}
    }
    assert "may not be empty" in invalid(client.transact_write_items, TransactItems=[bad_value, bad_text])
    assert "Syntax error" in invalid(client.transact_write_items, TransactItems=[bad_text, bad_value])


RETURN_VALUES = "ReturnValues can only be ALL_OLD or NONE"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Key": {"pk": deep(100)}}, RETURN_VALUES),
        ({"Key": KEY, "Expected": {"d": {"Value": deep(100)}}}, RETURN_VALUES),
        ({"Key": KEY, "Expected": {"d": {"AttributeValueList": [deep(63)]}}}, RETURN_VALUES),
        (
            {
                "Key": KEY,
                "ConditionExpression": "d = :d",
                "ExpressionAttributeValues": {":d": deep(63)},
            },
            RETURN_VALUES,
        ),
        (
            {
                "Key": KEY,
                "ConditionExpression": "d = :d",
                "ExpressionAttributeValues": {":d": deep(62)},
            },
            ANNOUNCED + RETURN_VALUES,
        ),
    ],
)
def test_a_very_deep_request_gets_the_older_words(
    client: Any, parameters: dict[str, Any], message: str
) -> None:
    request = {"TableName": "no-such-table", "ReturnValues": "UPDATED_NEW", **parameters}
    assert invalid(client.delete_item, **request) == message
    if "ConditionExpression" not in parameters:
        request["Item"] = request.pop("Key")
        assert invalid(client.put_item, **request) == message


def test_a_transaction_s_token_comes_before_its_enumerations(client: Any, hash_table: str) -> None:
    token = "x" * 37
    message = invalid(
        client.transact_write_items,
        TransactItems=[{"Put": {"TableName": hash_table, "Item": KEY}}],
        ClientRequestToken=token,
        ReturnConsumedCapacity="hi",
    )
    assert message == joined(
        f"Value '{token}' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or "
        "equal to 36",
        CAPACITY,
    )


def test_a_deep_value_comes_before_an_empty_name_inside_another(client: Any) -> None:
    empty_inside = {"M": {"": {"S": "x"}}}
    for item in (
        {**KEY, "m": empty_inside, "d": deep(40)},
        {**KEY, "d": deep(40), "m": empty_inside},
        {**KEY, "m": empty_inside, "d": deep(32)},
    ):
        action = {"Put": {"TableName": "no-such-table", "Item": item}}
        assert "Nesting Levels" in invalid(client.transact_write_items, TransactItems=[action])
        assert "Nesting Levels" in invalid(client.put_item, TableName="no-such-table", Item=item)
    fits = {**KEY, "m": empty_inside, "d": deep(31)}
    message = invalid(client.put_item, TableName="no-such-table", Item=fits)
    assert message == ANNOUNCED + "Empty attribute name"


def test_inside_an_action(client: Any, hash_table: str) -> None:
    deep: dict[str, Any] = {"S": "x"}
    for _ in range(40):
        deep = {"L": [deep]}
    write = client.transact_write_items

    def put(item: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
        return [{"Put": {"TableName": "no-such-table", "Item": item, **more}}]

    assert invalid(write, TransactItems=put({"pk": deep, "": {"S": "x"}})) == "Empty attribute name"
    assert "Nesting Levels" in invalid(write, TransactItems=put({"pk": {"M": {"": deep}}}))
    delete = {"TableName": hash_table, "Key": {"pk": deep}}
    assert "Nesting Levels" in invalid(write, TransactItems=[{"Delete": delete}])
    for condition in ("(", "a" * 5000):
        message = invalid(write, TransactItems=[{"Delete": {**delete, "ConditionExpression": condition}}])
        assert message.startswith("Invalid ConditionExpression: ")


def test_request_errors_beat_duplicates_and_missing_tables(client: Any, hash_table: str) -> None:
    put = {"Put": {"TableName": hash_table, "Item": {"pk": {"S": "a"}}}}
    unused = {"Put": {**put["Put"], "ConditionExpression": "attribute_exists(a)"}}
    unused["Put"]["ExpressionAttributeValues"] = {":u": {"S": "u"}}
    missing = {"Put": {"TableName": "no-such-table", "Item": {"pk": {"S": "a"}}}}
    assert "unused" in invalid(client.transact_write_items, TransactItems=[missing, put, put, unused])


def test_a_batch_is_weighed_before_its_table_is_found(client: Any) -> None:
    item = {"pk": {"S": "a"}, "a": {"S": "x" * 409_600}}
    message = invalid(
        client.batch_write_item, RequestItems={"no-such-table": [{"PutRequest": {"Item": item}}]}
    )
    assert message == "Item size has exceeded the maximum allowed size"
