"""Requests that cost a server far more than they cost their sender: the table of bench/stalls.py, one row for each.

A row has a name, an operation and a function that makes the body; add a row, and it is tried.
"""

import gzip
from base64 import b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

TABLE = "stalls"
WATCHED = {"pk": {"S": "watched"}, "sk": {"N": "0"}}
_EMPTY = b'{"S":""}'
_DENSE_ELEMENTS = 390_000  # the most that an item of 400 KB can have, nearly
_DENSE_ROWS = 8
_FLAT_ROWS = 60
_MIDDLE_ROWS = 60
_SET_MEMBERS = 60_000

Body = dict[str, Any] | bytes


class Shape(NamedTuple):
    """One kind of request."""

    name: str
    operation: str
    body: Callable[[], Body]
    gzipped: bool = False
    is_over: Callable[[], bool] | None = None  # whether what the request began is done; None: with its answer

    def sent(self) -> bytes:
        """The body as it goes out."""
        body = self.body()
        plain = body if isinstance(body, bytes) else orjson.dumps(body)
        return gzip.compress(plain, 6) if self.gzipped else plain


def schema() -> dict[str, Any]:
    """The table that all shapes work on."""
    return {
        "TableName": TABLE,
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def rows() -> list[bytes]:
    """The PutItem requests that fill the table."""
    middle = [{"S": f"element {number}"} for number in range(2500)]
    items: list[bytes] = [
        *(item("dense", number, l=string_list(_DENSE_ELEMENTS)) for number in range(_DENSE_ROWS)),
        *(item("flat", number, t=_json({"S": "x" * 390_000})) for number in range(_FLAT_ROWS)),
        *(
            item("middle", number, l=_json({"L": middle}), t=_json({"S": "ab" * 5_000}))
            for number in range(_MIDDLE_ROWS)
        ),
        *(item("small", number, t=_json({"S": "x" * 200}), n=_json({"N": "1"})) for number in range(2_500)),
        item("sets", 0, ss=_json({"SS": _members()})),
        item("numbers", 0, ns=_json({"NS": [str(number) for number in range(40_000)]})),
        item("half", 0, l=string_list(190_000), m=string_list(190_000)),
        item("watched", 0, t=_json({"S": "here"})),
    ]
    return [put_into(TABLE, row) for row in items]


def item(pk: str, sk: int, **attributes: bytes) -> bytes:
    """A whole row."""
    parts = [b'"pk":{"S":"%b"},"sk":{"N":"%d"}' % (pk.encode(), sk)]
    parts += [b'"%b":%b' % (name.encode(), value) for name, value in attributes.items()]
    return b"{" + b",".join(parts) + b"}"


def _json(value: Any) -> bytes:
    return orjson.dumps(value)


def string_list(elements: int, element: bytes = _EMPTY) -> bytes:
    """A list of equal elements, empty strings unless something else is wanted."""
    return b'{"L":[' + b",".join([element] * elements) + b"]}"


def _members() -> list[str]:
    return [f"m{number:05}" for number in range(_SET_MEMBERS)]


def key(pk: str, sk: int = 0) -> dict[str, Any]:
    """The key of a row."""
    return {"pk": {"S": pk}, "sk": {"N": str(sk)}}


def named(pk: str, **members: Any) -> dict[str, Any]:
    """A request about one item."""
    return {"TableName": TABLE, "Key": key(pk), **members}


def _contains(count: int, attribute: str = "l") -> tuple[str, dict[str, Any]]:
    text = " OR ".join(f"contains({attribute},:v{number})" for number in range(count))
    return text, {f":v{number}": {"S": f"no {number}"} for number in range(count)}


def _filtered(operation: str, pk: str, count: int, attribute: str = "l") -> dict[str, Any]:
    text, values = _contains(count, attribute)
    request: dict[str, Any] = {"TableName": TABLE, "FilterExpression": text}
    if operation == "Query":
        request["KeyConditionExpression"] = "pk = :pk"
        values[":pk"] = {"S": pk}
    return {**request, "ExpressionAttributeValues": values}


def _updated(pk: str, text: str, **members: Any) -> dict[str, Any]:
    return named(pk, UpdateExpression=text, **members)


def put(attribute: bytes, pk: str = "new") -> bytes:
    """A PutItem with one attribute beside the key."""
    return put_into(TABLE, item(pk, 0, a=attribute))


def put_into(table: str, row: bytes) -> bytes:
    """A PutItem."""
    return b'{"TableName":"%b","Item":%b}' % (table.encode(), row)


def _checked(pk: str, text: str, **members: Any) -> dict[str, Any]:
    return _updated(pk, "SET z = :z", ConditionExpression=text, **members)


def _condition_on(pk: str, count: int) -> dict[str, Any]:
    text, values = _contains(count)
    return _checked(pk, text, ExpressionAttributeValues={**values, ":z": {"S": ""}})


def _transact_conditions() -> dict[str, Any]:
    text, values = _contains(100)
    check = {"TableName": TABLE, "ConditionExpression": f"NOT ({text})", "ExpressionAttributeValues": values}
    return {
        "TransactItems": [
            {"ConditionCheck": {**check, "Key": key("dense", number)}} for number in range(_DENSE_ROWS)
        ]
    }


def _transact_projections() -> dict[str, Any]:
    paths = ",".join(f"a{number}" for number in range(700))
    get = {"TableName": TABLE, "ProjectionExpression": paths}
    return {"TransactItems": [{"Get": {**get, "Key": key("small", number)}} for number in range(100)]}


def _transact_updates() -> dict[str, Any]:
    text = "SET " + ",".join(f"a{number}=:v" for number in range(400))
    update = {"TableName": TABLE, "UpdateExpression": text, "ExpressionAttributeValues": {":v": {"S": ""}}}
    return {"TransactItems": [{"Update": {**update, "Key": key("many", number)}} for number in range(100)]}


def _batch_puts() -> bytes:
    puts = [
        b'{"PutRequest":{"Item":%b}}' % item("batch", number, t=_json({"S": "x" * 390_000}))
        for number in range(25)
    ]
    return b'{"RequestItems":{"stalls":[' + b",".join(puts) + b"]}}"


def _batch_gets(pk: str, count: int, **members: Any) -> dict[str, Any]:
    return {"RequestItems": {TABLE: {"Keys": [key(pk, number) for number in range(count)], **members}}}


def _batch_deletes() -> dict[str, Any]:
    return {
        "RequestItems": {TABLE: [{"DeleteRequest": {"Key": key("batch", number)}} for number in range(25)]}
    }


def _statements(count: int, text: str) -> dict[str, Any]:
    return {"Statements": [{"Statement": text % number} for number in range(count)]}


def _in_list(count: int) -> str:
    return ",".join(f"'{number}'" for number in range(count))


def _names(count: int) -> dict[str, Any]:
    return named(
        "small",
        ProjectionExpression="#a",
        ExpressionAttributeNames={"#a": "t", **{f"#n{n}": "x" for n in range(count)}},
    )


def _wide_and_deep() -> bytes:
    """As many values as there may be, below more levels than there may be."""
    return put(b'{"L":[' * 90 + string_list(400_000) + b"]}" * 90)


def _create() -> dict[str, Any]:
    return {
        **schema(),
        "TableName": "x" * 100_000,
        "AttributeDefinitions": [
            {"AttributeName": f"a{number}", "AttributeType": "S"} for number in range(50_000)
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": f"i{number}",
                "KeySchema": [{"AttributeName": f"a{number}", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
            for number in range(20_000)
        ],
    }


def _tags() -> dict[str, Any]:
    return {
        "ResourceArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{TABLE}",
        "Tags": [{"Key": f"k{number}", "Value": "v"} for number in range(100_000)],
    }


def _legacy_in(count: int) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "ScanFilter": {
            "t": {"ComparisonOperator": "IN", "AttributeValueList": [{"S": f"{n}"} for n in range(count)]}
        },
    }


def _legacy_updates(count: int) -> dict[str, Any]:
    return named(
        "legacy", AttributeUpdates={f"a{n}": {"Action": "PUT", "Value": {"S": ""}} for n in range(count)}
    )


def _expected(count: int) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "Item": key("legacy"),
        "Expected": {f"a{number}": {"Exists": False} for number in range(count)},
    }


def _query_by_condition(condition: str, pk: str, **values: Any) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk",
        "FilterExpression": condition,
        "ExpressionAttributeValues": {":pk": {"S": pk}, **values},
    }


_SAME = " OR ".join(["l <> m"] * 150)
_SIZES = " OR ".join(["size(t) < size(pk)"] * 60)

_BRANCHES = " AND ".join(["(sk > 1 OR sk < 0)"] * 9 + ["sk > 0"] * 300)

SHAPES: tuple[Shape, ...] = (
    Shape("nothing special", "GetItem", lambda: named("small")),
    Shape("gzip: 1.4 million values", "PutItem", lambda: put(string_list(1_400_000)), gzipped=True),
    Shape("gzip: 390,000 values", "PutItem", lambda: put(string_list(_DENSE_ELEMENTS)), gzipped=True),
    Shape("gzip: 5 million empty lists", "PutItem", lambda: put(string_list(5_000_000, b"[]")), gzipped=True),
    Shape(
        "gzip: 16 MB of one string",
        "PutItem",
        lambda: put(b'{"S":"%b"}' % (b"x" * 16_000_000)),
        gzipped=True,
    ),
    Shape(
        "gzip: 16 MB of commas in a string",
        "PutItem",
        lambda: put(b'{"S":"%b"}' % (b"," * 16_000_000)),
        gzipped=True,
    ),
    Shape(
        "gzip: 16 MB of backslashes",
        "PutItem",
        lambda: put(b'{"S":"%b"}' % (b"\\\\" * 8_000_000)),
        gzipped=True,
    ),
    Shape("gzip: 16 MB of blanks", "PutItem", lambda: b" " * 15_999_000 + put(_EMPTY), gzipped=True),
    Shape("gzip: 16 MB that end too soon", "PutItem", lambda: put(string_list(450_000))[:-3], gzipped=True),
    Shape("nested 400 deep", "PutItem", lambda: put(b'{"L":[' * 400 + b"]}" * 400)),
    Shape("900,000 values nested 180 deep", "PutItem", _wide_and_deep),
    Shape(
        "a wrong type behind 390,000 values", "PutItem", lambda: put(string_list(_DENSE_ELEMENTS) + b',"b":7')
    ),
    Shape(
        "a set of 100,000 numbers",
        "PutItem",
        lambda: put(_json({"NS": [str(n) for n in range(100_000, 0, -1)]})),
    ),
    Shape(
        "a set of 60,000 binaries",
        "PutItem",
        lambda: put(_json({"BS": [b64encode(b"%05d" % n).decode() for n in range(60_000)]})),
    ),
    Shape("a set with a repeat at its end", "PutItem", lambda: put(_json({"SS": [*_members(), "m00000"]}))),
    Shape(
        "a map of 60,000 names",
        "PutItem",
        lambda: put(_json({"M": {f"n{n}": {"S": ""} for n in range(60_000)}})),
    ),
    Shape("BatchWriteItem, 25 x 390 KB", "BatchWriteItem", _batch_puts),
    Shape("BatchWriteItem, delete 25 x 390 KB", "BatchWriteItem", _batch_deletes),
    Shape(
        "GetItem, 390,000 values projected",
        "GetItem",
        lambda: named("dense", ProjectionExpression="l[1],l[5]"),
    ),
    Shape(
        "GetItem, 700 paths",
        "GetItem",
        lambda: named("dense", ProjectionExpression=",".join(f"l[{n}]" for n in range(600))),
    ),
    Shape("GetItem, 100,000 names", "GetItem", lambda: _names(100_000)),
    Shape("BatchGetItem, 16 MB", "BatchGetItem", lambda: _batch_gets("flat", _FLAT_ROWS)),
    Shape("BatchGetItem, dense items", "BatchGetItem", lambda: _batch_gets("dense", _DENSE_ROWS)),
    Shape(
        "BatchGetItem, dense items projected",
        "BatchGetItem",
        lambda: _batch_gets("dense", _DENSE_ROWS, ProjectionExpression="l[3]"),
    ),
    Shape(
        "BatchGetItem, keys of 100 KB",
        "BatchGetItem",
        lambda: {
            "RequestItems": {
                TABLE: {
                    "Keys": [
                        {"pk": {"S": "x" * 100_000 + str(n)}, "sk": {"L": [{"S": ""}] * 1000}}
                        for n in range(100)
                    ]
                }
            }
        },
    ),
    Shape("Query, 30 rows, 150 contains", "Query", lambda: _filtered("Query", "middle", 150)),
    Shape("Query, dense rows, 150 contains", "Query", lambda: _filtered("Query", "dense", 150)),
    Shape("Query, large texts, 150 contains", "Query", lambda: _filtered("Query", "flat", 150, "t")),
    Shape("Query, dense row, 150 comparisons", "Query", lambda: _query_by_condition(_SAME, "half")),
    Shape("Query, large texts, 60 sizes", "Query", lambda: _query_by_condition(_SIZES, "flat")),
    Shape(
        "Query, dense rows as they are",
        "Query",
        lambda: {
            "TableName": TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "dense"}},
        },
    ),
    Shape(
        "Query, large rows as they are",
        "Query",
        lambda: {
            "TableName": TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "flat"}},
        },
    ),
    Shape("Scan, 150 contains", "Scan", lambda: _filtered("Scan", "", 150)),
    Shape("Scan, IN with 100,000 values", "Scan", lambda: _legacy_in(100_000)),
    Shape("Scan, COUNT of everything", "Scan", lambda: {"TableName": TABLE, "Select": "COUNT"}),
    Shape(
        "UpdateItem, a list copied 500 times",
        "UpdateItem",
        lambda: _updated("dense", "SET " + ",".join(f"a{n}=l" for n in range(500))),
    ),
    Shape(
        "UpdateItem, a list doubled 150 times",
        "UpdateItem",
        lambda: _updated("half", "SET " + ",".join(f"a{n}=list_append(l,l)" for n in range(150))),
    ),
    Shape(
        "UpdateItem, a value set 500 times",
        "UpdateItem",
        lambda: _updated(
            "new",
            "SET " + ",".join(f"a{n}=:v" for n in range(500)),
            ExpressionAttributeValues={":v": {"L": [{"S": ""}] * 300_000}},
        ),
    ),
    Shape(
        "UpdateItem, 500 elements of a list",
        "UpdateItem",
        lambda: _updated(
            "dense",
            "SET " + ",".join(f"l[{n}]=:v" for n in range(300)),
            ExpressionAttributeValues={":v": {"S": ""}},
        ),
    ),
    Shape(
        "UpdateItem, one more element",
        "UpdateItem",
        lambda: _updated(
            "dense", "SET l = list_append(l, :v)", ExpressionAttributeValues={":v": {"L": [{"S": ""}]}}
        ),
    ),
    Shape(
        "UpdateItem, 60,000 members out of a set",
        "UpdateItem",
        lambda: _updated(
            "sets", "DELETE ss :v", ExpressionAttributeValues={":v": {"SS": [f"o{n}" for n in range(60_000)]}}
        ),
    ),
    Shape(
        "UpdateItem, 40,000 numbers into a set",
        "UpdateItem",
        lambda: _updated(
            "numbers",
            "ADD ns :v",
            ExpressionAttributeValues={":v": {"NS": [str(n) for n in range(200_000, 240_000)]}},
        ),
    ),
    Shape("UpdateItem, 150 contains", "UpdateItem", lambda: _condition_on("dense", 150)),
    Shape("UpdateItem, 20,000 AttributeUpdates", "UpdateItem", lambda: _legacy_updates(20_000)),
    Shape("PutItem, 20,000 Expected", "PutItem", lambda: _expected(20_000)),
    Shape("TransactWriteItems, 8 x 100 contains", "TransactWriteItems", _transact_conditions),
    Shape("TransactWriteItems, 100 x 400 SETs", "TransactWriteItems", _transact_updates),
    Shape("TransactGetItems, 100 x 700 paths", "TransactGetItems", _transact_projections),
    Shape(
        "ExecuteStatement, IN with 1,300 values",
        "ExecuteStatement",
        lambda: {"Statement": f"SELECT * FROM stalls WHERE t IN [{_in_list(1_300)}]"},
    ),
    Shape(
        "ExecuteStatement, OR of 400",
        "ExecuteStatement",
        lambda: {"Statement": "SELECT * FROM stalls WHERE " + " OR ".join(["n = 0"] * 800)},
    ),
    Shape(
        "ExecuteStatement, AND of ORs",
        "ExecuteStatement",
        lambda: {"Statement": "SELECT * FROM stalls WHERE " + " AND ".join(["(pk='a' OR pk='b')"] * 400)},
    ),
    Shape(
        "ExecuteStatement, 512 branches",
        "ExecuteStatement",
        lambda: {"Statement": f"SELECT * FROM stalls WHERE pk = 'a' AND {_BRANCHES}"},
    ),
    Shape(
        "ExecuteStatement, 200 contains",
        "ExecuteStatement",
        lambda: {
            "Statement": "SELECT * FROM stalls WHERE pk='dense' AND ("
            + " OR ".join(["contains(l,'x')"] * 200)
            + ")"
        },
    ),
    Shape(
        "ExecuteStatement, INSERT of 8 KB",
        "ExecuteStatement",
        lambda: {
            "Statement": "INSERT INTO stalls VALUE {'pk':'a','sk':1,'l':"
            + "[" * 60
            + "1," * 3_900
            + "1"
            + "]" * 60
            + "}"
        },
    ),
    Shape(
        "ExecuteStatement, parameters by the 100,000",
        "ExecuteStatement",
        lambda: {"Statement": "SELECT * FROM stalls WHERE pk=?", "Parameters": [{"S": ""}] * 100_000},
    ),
    Shape(
        "BatchExecuteStatement, 25 x 8 KB",
        "BatchExecuteStatement",
        lambda: _statements(
            25, "SELECT * FROM stalls WHERE pk='a' AND sk=%d AND (" + " OR ".join(["n=0"] * 1_000) + ")"
        ),
    ),
    Shape("CreateTable, 50,000 attributes", "CreateTable", _create),
    Shape("TagResource, 100,000 tags", "TagResource", _tags),
    Shape("ListTables, a name of 10 MB", "ListTables", lambda: {"ExclusiveStartTableName": "x" * 10_000_000}),
    Shape("no such operation, 16 MB", "Nothing", lambda: put(string_list(450_000))),
)
