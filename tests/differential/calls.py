"""Random requests of every item operation, put together from random expressions."""

from collections.abc import Callable
from random import Random
from typing import Any

from differential.generator import RANGED, Expressions, Request, Values

_RETURN_VALUES = ("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")


def make(random: Random) -> tuple[str, Request]:
    """One request: the operation's name and its members."""
    _, operation, maker = random.choices(_MAKERS, [weight for weight, _, _ in _MAKERS])[0]
    return operation, maker(random)


def _common(values: Values, *, writes: bool = False) -> Request:
    found: Request = {}
    if values.chance(0.3):
        found["ReturnConsumedCapacity"] = values.random.choice(("TOTAL", "INDEXES", "NONE"))
    if writes and values.chance(0.1):
        found["ReturnItemCollectionMetrics"] = "SIZE"
    return found


def _put(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    request: Request = {"TableName": table, "Item": maker.item(table), **_common(maker, writes=True)}
    if maker.chance(0.3):
        request["ConditionExpression"] = maker.broken(maker.condition())
    if maker.chance(0.3):
        request["ReturnValues"] = random.choice(_RETURN_VALUES if maker.chance(0.1) else _RETURN_VALUES[:2])
    return request | maker.parameters()


def _expected(values: Values) -> Request:
    """Conditions of the older kind."""
    found: Request = {}
    for name in values.random.sample(("a", "b", "n", "g", "ss"), values.random.randrange(1, 3)):
        found[name] = values.random.choice(
            (
                {"Exists": False},
                {"Value": values.value()},
                {"ComparisonOperator": "NOT_NULL"},
                {"ComparisonOperator": "NULL"},
                _comparison(values),
                {"Exists": True},
            )
        )
    return {"Expected": found} | ({"ConditionalOperator": "OR"} if values.chance(0.2) else {})


def _comparison(values: Values) -> Request:
    operator = values.random.choice(
        ("EQ", "NE", "LT", "LE", "GT", "GE", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN", "BETWEEN")
    )
    count = 2 if operator == "BETWEEN" else values.random.randrange(1, 3) if operator == "IN" else 1
    scalar = values.random.choice(({"S": "ab"}, {"N": "2"}, {"B": "AAE="}))
    if operator in {"IN", "BETWEEN", "BEGINS_WITH"} or values.chance(0.8):
        return {"ComparisonOperator": operator, "AttributeValueList": [scalar] * count}
    return {"ComparisonOperator": operator, "AttributeValueList": [values.value() for _ in range(count)]}


def _legacy_put(random: Random) -> Request:
    values = Values(random)
    table = values.table()
    return {"TableName": table, "Item": values.item(table)} | _expected(values)


def _legacy_update(random: Random) -> Request:
    values = Values(random)
    table = values.table()
    updates: Request = {}
    for name in random.sample(("a", "b", "c", "n", "ss", "l"), random.randrange(1, 4)):
        action = random.choice(("PUT", "ADD", "DELETE"))
        updates[name] = {"Action": action}
        if action != "DELETE" or values.chance(0.4):
            added = random.choice(({"N": "1"}, {"SS": ["a"]}, {"NS": ["1"]}, values.value()))
            updates[name]["Value"] = added if action == "ADD" else values.value()
    request: Request = {"TableName": table, "Key": values.key(table), "AttributeUpdates": updates}
    if values.chance(0.5):
        request["ReturnValues"] = random.choice(_RETURN_VALUES)
    return request | (_expected(values) if values.chance(0.3) else {})


def _legacy_query(random: Random) -> Request:
    values = Values(random)
    conditions: Request = {
        "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": random.choice("pqr")}]}
    }
    if values.chance(0.5):
        operator = random.choice(("EQ", "LT", "LE", "GT", "GE", "NE"))
        conditions["sk"] = {"ComparisonOperator": operator, "AttributeValueList": [{"N": "1"}]}
    request: Request = {"TableName": RANGED, "KeyConditions": conditions}
    if values.chance(0.5):
        request["QueryFilter"] = {random.choice("abcn"): _comparison(values)}
    if values.chance(0.2):
        request["AttributesToGet"] = random.sample(("pk", "sk", "a", "b", "n"), 2)
    return request


def _legacy_scan(random: Random) -> Request:
    values = Values(random)
    filters = {name: _comparison(values) for name in random.sample("abcn", random.randrange(1, 3))}
    request: Request = {"TableName": RANGED, "ScanFilter": filters}
    return request | ({"ConditionalOperator": "OR"} if values.chance(0.3) else {})


def _delete(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    request: Request = {"TableName": table, "Key": maker.key(table), **_common(maker, writes=True)}
    if maker.chance(0.4):
        request["ConditionExpression"] = maker.broken(maker.condition())
    if maker.chance(0.3):
        request["ReturnValues"] = random.choice(_RETURN_VALUES[:2])
    return request | maker.parameters()


def _update(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    request: Request = {"TableName": table, "Key": maker.key(table), **_common(maker, writes=True)}
    if maker.chance(0.97):
        request["UpdateExpression"] = maker.broken(maker.update())
    if maker.chance(0.25):
        request["ConditionExpression"] = maker.broken(maker.condition())
    if maker.chance(0.6):
        request["ReturnValues"] = random.choice(_RETURN_VALUES)
    return request | maker.parameters()


def _get(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    request: Request = {"TableName": table, "Key": maker.key(table), **_common(maker)}
    if maker.chance(0.5):
        request["ProjectionExpression"] = maker.broken(maker.projection())
    if maker.chance(0.3):
        request["ConsistentRead"] = True
    return request | maker.parameters()


def _query(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    index = random.choice((None, None, "by-n", "by-g", "some-g")) if table == RANGED else None
    hash_name = "g" if index in {"by-g", "some-g"} else "pk"
    sort_name = {None: "sk", "by-n": "n", "by-g": "n"}.get(index) if table == RANGED else None
    hash_value = maker.placeholder({"S": random.choice("xy" if hash_name == "g" else "pqr")})
    condition = f"{hash_name} = {hash_value}"
    if sort_name and maker.chance(0.6):
        condition += " AND " + _sort_condition(maker, sort_name)
    if maker.chance(0.03):
        condition = maker.condition()
    request: Request = {
        "TableName": table,
        "KeyConditionExpression": maker.broken(condition),
        "ScanIndexForward": maker.chance(0.7),
        **({"IndexName": index} if index else {}),
        **_common(maker),
    }
    return request | _read_options(maker) | maker.parameters()


def _sort_condition(maker: Expressions, name: str) -> str:
    one = maker.placeholder({"N": str(maker.random.randrange(4))})
    if maker.chance(0.3):
        return f"{name} BETWEEN {one} AND {maker.placeholder({'N': str(maker.random.randrange(5))})}"
    return f"{name} {maker.random.choice(('=', '<', '<=', '>', '>=', '<>'))} {one}"


def _read_options(maker: Expressions) -> Request:
    found: Request = {}
    if maker.chance(0.4):
        found["FilterExpression"] = maker.broken(maker.condition())
    if maker.chance(0.3):
        found["ProjectionExpression"] = maker.broken(maker.projection())
    if maker.chance(0.15):
        found["Select"] = maker.random.choice(
            ("COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES")
        )
    if maker.chance(0.15):
        found["ConsistentRead"] = True
    if maker.chance(0.3):
        found["Limit"] = maker.random.randrange(1, 4)
    return found


def _scan(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    request: Request = {"TableName": table, **_common(maker)}
    if table == RANGED and maker.chance(0.4):
        request["IndexName"] = random.choice(("by-n", "by-g", "some-g"))
    return request | _read_options(maker) | maker.parameters()


def _batch_get(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    keys = [maker.key(table) for _ in range(random.randrange(1, 5))]
    if not maker.chance(0.1):
        keys = list({str(key): key for key in keys}.values())
    part: Request = {"Keys": keys}
    if maker.chance(0.4):
        part["ProjectionExpression"] = maker.broken(maker.projection())
        if maker.names:
            part["ExpressionAttributeNames"] = maker.names
    return {"RequestItems": {table: part}, **_common(maker)}


def _batch_write(random: Random) -> Request:
    values = Values(random)
    requests: Request = {}
    for _ in range(random.randrange(1, 5)):
        table = values.table()
        if values.chance(0.7):
            element: Request = {"PutRequest": {"Item": values.item(table)}}
        else:
            element = {"DeleteRequest": {"Key": values.key(table)}}
        requests.setdefault(table, []).append(element)
    return {"RequestItems": requests, **_common(values, writes=True)}


def _transact_write(random: Random) -> Request:
    return {
        "TransactItems": [_action(random) for _ in range(random.randrange(1, 4))],
        **_common(Values(random)),
    }


def _action(random: Random) -> Request:
    maker = Expressions(random)
    table = maker.table()
    kind = random.choice(("Put", "Update", "Delete", "ConditionCheck"))
    action: Request = {"TableName": table}
    action["Item" if kind == "Put" else "Key"] = maker.item(table) if kind == "Put" else maker.key(table)
    if kind == "Update":
        action["UpdateExpression"] = maker.broken(maker.update())
    if kind == "ConditionCheck" or maker.chance(0.4):
        action["ConditionExpression"] = maker.broken(maker.condition())
    if maker.chance(0.3):
        action["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {kind: action | maker.parameters()}


def _transact_get(random: Random) -> Request:
    gets: list[Any] = []
    for _ in range(random.randrange(1, 4)):
        maker = Expressions(random)
        table = maker.table()
        get: Request = {"TableName": table, "Key": maker.key(table)}
        if maker.chance(0.4):
            get["ProjectionExpression"] = maker.broken(maker.projection())
            if maker.names:
                get["ExpressionAttributeNames"] = maker.names
        gets.append({"Get": get})
    return {"TransactItems": gets, **_common(Values(random))}


_MAKERS: list[tuple[int, str, Callable[[Random], Request]]] = [
    (20, "PutItem", _put),
    (4, "PutItem", _legacy_put),
    (30, "UpdateItem", _update),
    (8, "UpdateItem", _legacy_update),
    (6, "DeleteItem", _delete),
    (12, "GetItem", _get),
    (20, "Query", _query),
    (4, "Query", _legacy_query),
    (10, "Scan", _scan),
    (4, "Scan", _legacy_scan),
    (4, "BatchGetItem", _batch_get),
    (5, "BatchWriteItem", _batch_write),
    (8, "TransactWriteItems", _transact_write),
    (3, "TransactGetItems", _transact_get),
]
