"""Well-formed requests to start from: every operation, every parameter that carries a language of its own."""

from typing import Any

TABLE = "fuzz"
BARE = "fuzz-bare"
SPARE = "fuzz-spare"
CANARY = "canary"  # never named by a fuzzed request

Request = dict[str, Any]

_KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM = {
    **_KEY,
    "rank": {"N": "7"},
    "group": {"S": "red"},
    "text": {"S": "some text"},
    "blob": {"B": "AAEC"},
    "yes": {"BOOL": True},
    "none": {"NULL": True},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2.5"]},
    "blobs": {"BS": ["AA==", "AQ=="]},
    "list": {"L": [{"S": "x"}, {"M": {"deep": {"L": [{"N": "-10000000000"}]}}}]},
    "map": {"M": {"a": {"S": "b"}, "count": {"N": "0"}}},
}
_NAMES = {"#a": "text", "#m": "map"}
_VALUES = {":s": {"S": "x"}, ":n": {"N": "1"}, ":l": {"L": [{"N": "1"}]}, ":ss": {"SS": ["a"]}}
_CONDITION = "attribute_exists(#a) AND (#m.count < :n OR NOT begins_with(text, :s)) AND size(list) > :n"
_UPDATE = (
    "SET #m.count = if_not_exists(#m.count, :n) + :n, list = list_append(list, :l) REMOVE #a ADD texts :ss"
)


def _schema(*names: str) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def table(name: str, *, indexes: bool = True) -> Request:
    """The definition of a table to be fuzzed."""
    attributes = {"pk": "S", "sk": "N", **({"rank": "N", "group": "S"} if indexes else {})}
    definition: Request = {
        "TableName": name,
        "KeySchema": _schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in attributes.items()
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        definition["LocalSecondaryIndexes"] = [
            {
                "IndexName": "by-rank",
                "KeySchema": _schema("pk", "rank"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]},
            }
        ]
        definition["GlobalSecondaryIndexes"] = [
            {
                "IndexName": "by-group",
                "KeySchema": _schema("group", "rank"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    return definition


_EXPRESSIVE = {"ExpressionAttributeNames": _NAMES, "ExpressionAttributeValues": _VALUES}
_UPDATING = {
    "TableName": TABLE,
    "Key": _KEY,
    "UpdateExpression": _UPDATE,
    "ConditionExpression": "#a = :s",
    **_EXPRESSIVE,
}
_CHECKED = {"TableName": TABLE, "Key": _KEY, "ConditionExpression": _CONDITION, **_EXPRESSIVE}
_LEGACY = {"text": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "BEGINS_WITH"}}
_STATEMENT = (
    f"SELECT text, map.a, list[0] FROM {TABLE} WHERE pk = 'a' AND sk BETWEEN 0 AND ? AND size(text) > 1"
)

SEEDS: list[tuple[str, Request]] = [
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ReturnValues": "ALL_OLD"}),
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ConditionExpression": _CONDITION, **_EXPRESSIVE}),
    ("PutItem", {"TableName": BARE, "Item": _KEY, "Expected": {"text": {"Exists": False}}}),
    ("PutItem", {"TableName": BARE, "Item": ITEM, "Expected": _LEGACY, "ConditionalOperator": "OR"}),
    ("GetItem", {"TableName": TABLE, "Key": _KEY, "ConsistentRead": True, "AttributesToGet": ["text"]}),
    (
        "GetItem",
        {"TableName": TABLE, "Key": _KEY, "ProjectionExpression": "#a, #m.a, list[1].deep[0]"}
        | {"ExpressionAttributeNames": _NAMES, "ReturnConsumedCapacity": "INDEXES"},
    ),
    ("DeleteItem", {**_CHECKED, "ReturnValues": "ALL_OLD", "ReturnItemCollectionMetrics": "SIZE"}),
    ("DeleteItem", {"TableName": TABLE, "Key": _KEY, "Expected": {"sk": {"Value": {"N": "1"}}}}),
    ("UpdateItem", {**_UPDATING, "ReturnValues": "UPDATED_NEW"}),
    (
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": _KEY,
            "AttributeUpdates": {
                "rank": {"Action": "ADD", "Value": {"N": "1"}},
                "text": {"Action": "PUT", "Value": {"S": "new"}},
                "texts": {"Action": "DELETE", "Value": {"SS": ["a"]}},
            },
        },
    ),
    (
        "Query",
        {
            "TableName": TABLE,
            "IndexName": "by-group",
            "KeyConditionExpression": "#g = :g AND #r BETWEEN :low AND :high",
            "FilterExpression": "contains(text, :s) OR map.count IN (:low, :high)",
            "ExpressionAttributeNames": {"#g": "group", "#r": "rank"},
            "ExpressionAttributeValues": {
                ":g": {"S": "red"},
                ":low": {"N": "0"},
                ":high": {"N": "9"},
                ":s": {"S": "t"},
            },
            "ScanIndexForward": False,
            "Limit": 5,
        },
    ),
    (
        "Query",
        {
            "TableName": TABLE,
            "KeyConditions": {
                "pk": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "EQ"},
                "sk": {"AttributeValueList": [{"N": "0"}, {"N": "5"}], "ComparisonOperator": "BETWEEN"},
            },
            "QueryFilter": _LEGACY,
            "ExclusiveStartKey": _KEY,
            "Select": "ALL_ATTRIBUTES",
        },
    ),
    ("Scan", {"TableName": TABLE, "Segment": 1, "TotalSegments": 4, "ScanFilter": _LEGACY, "Limit": 3}),
    (
        "Scan",
        {"TableName": TABLE, "IndexName": "by-rank", "FilterExpression": "attribute_type(#a, :s)"}
        | {"ExpressionAttributeNames": {"#a": "text"}, "ExpressionAttributeValues": {":s": {"S": "SS"}}}
        | {"ExclusiveStartKey": {**_KEY, "rank": {"N": "1"}}},
    ),
    (
        "BatchGetItem",
        {
            "RequestItems": {
                TABLE: {
                    "Keys": [_KEY],
                    "ProjectionExpression": "#a",
                    "ExpressionAttributeNames": {"#a": "text"},
                },
                BARE: {"Keys": [_KEY, {"pk": {"S": "b"}, "sk": {"N": "2"}}], "ConsistentRead": True},
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                TABLE: [{"PutRequest": {"Item": ITEM}}],
                BARE: [{"DeleteRequest": {"Key": _KEY}}],
            }
        },
    ),
    (
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": TABLE, "Key": _KEY, "ProjectionExpression": "text"}}]},
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": BARE, "Item": ITEM}},
                {"Update": _UPDATING},
                {"Delete": {"TableName": BARE, "Key": {"pk": {"S": "b"}, "sk": {"N": "2"}}}},
                {"ConditionCheck": {**_CHECKED, "Key": {"pk": {"S": "c"}, "sk": {"N": "3"}}}},
            ],
            "ClientRequestToken": "token",
        },
    ),
    ("CreateTable", table(SPARE)),
    ("CreateTable", {**table(SPARE), "BillingMode": "PROVISIONED"}),
    ("UpdateTable", {"TableName": SPARE, "DeletionProtectionEnabled": False}),
    (
        "UpdateTable",
        {
            "TableName": SPARE,
            "AttributeDefinitions": [{"AttributeName": "text", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": "by-text",
                        "KeySchema": _schema("text"),
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                }
            ],
        },
    ),
    ("DeleteTable", {"TableName": SPARE}),
    ("DescribeTable", {"TableName": TABLE}),
    ("ListTables", {"Limit": 5, "ExclusiveStartTableName": "a"}),
    (
        "UpdateTimeToLive",
        {"TableName": BARE, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}},
    ),
    ("ExecuteStatement", {"Statement": _STATEMENT, "Parameters": [{"N": "5"}], "Limit": 2}),
    (
        "ExecuteStatement",
        {"Statement": f"INSERT INTO {BARE} VALUE {{'pk': 'a', 'sk': 1, 'l': [1, {{'x': ?}}]}}"},
    ),
    (
        "ExecuteStatement",
        {
            "Statement": f"UPDATE {BARE} SET a = list_append(a, ?) WHERE pk = 'a' AND sk = 1 RETURNING ALL NEW *"
        }
        | {"Parameters": [{"L": [{"N": "1"}]}]},
    ),
    *(
        ("ExecuteStatement", {"Statement": statement})
        for statement in (
            f"SELECT * FROM {TABLE} WHERE pk IN ['a', 'b'] AND sk > 0 ORDER BY pk DESC, sk ASC",
            f'SELECT pk, texts FROM "{TABLE}"."by-group" WHERE "group" = \'red\' AND rank >= -1e3',
            f"SELECT * FROM {TABLE} WHERE contains(text, 'o') OR NOT attribute_type(map, 'M') OR none IS NULL",
            f"SELECT * FROM {TABLE} WHERE pk = 'a' AND begins_with(text, 's') AND missing IS MISSING",
            f"INSERT INTO {BARE} VALUE {{'pk': 'q''s', 'sk': 2, 's': <<'a'>>, 'n': <<1, 2>>, 'm': {{'x': [true]}}}}",
            f"UPDATE {BARE} SET n = n + 1 SET s = set_add(s, <<'c'>>) REMOVE m.x[0] WHERE pk = 'a' AND sk = 1",
            f"UPDATE {BARE} SET m = {{'a': [1, 2, {{}}]}} WHERE pk = 'a' AND sk = 1 RETURNING MODIFIED NEW *",
            f"DELETE FROM {BARE} WHERE pk = 'a' AND sk = 1 AND size(s) < 9 RETURNING ALL OLD *",
            f"SELECT * FROM {TABLE} -- comment\n WHERE /* more */ sk BETWEEN 0 AND 5;",
        )
    ),
    (
        "BatchExecuteStatement",
        {"Statements": [{"Statement": f"SELECT * FROM {BARE} WHERE pk = 'a' AND sk = 1"}]},
    ),
    (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": f"DELETE FROM {BARE} WHERE pk = 'a' AND sk = ?"}]}
        | {"ClientRequestToken": "statements"},
    ),
]
