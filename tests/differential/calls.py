"""Random requests of every item operation, put together from random expressions."""

from collections.abc import Callable
from random import Random
from typing import Any

from differential.generator import RANGED, Expressions, Request, Values

_RETURN_VALUES = ("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")


def make(random: Random) -> tuple[str, Request]:
    """One request: the operation's name and its members."""
    chosen = random.choices(list(_MAKERS), [weight for weight, _ in _MAKERS.values()])[0]
    return chosen, _MAKERS[chosen][1](random)


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


_MAKERS: dict[str, tuple[int, Callable[[Random], Request]]] = {
    "PutItem": (20, _put),
    "UpdateItem": (30, _update),
    "DeleteItem": (6, _delete),
    "GetItem": (12, _get),
    "Query": (20, _query),
    "Scan": (10, _scan),
    "BatchGetItem": (4, _batch_get),
    "BatchWriteItem": (5, _batch_write),
    "TransactWriteItems": (8, _transact_write),
    "TransactGetItems": (3, _transact_get),
}
