"""Well-formed requests that cost far more than they look: many clauses, many values, large items, many copies."""

from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.seeds import BARE, TABLE, Request

_ELEMENTS_MAX = 20_000
_KEYS = 4  # of the large items, which stand beside all others

Heavy = tuple[str, Request]


def make(random: Random) -> Heavy:
    """One of them."""
    return random.choice(_KINDS)(random)


def _key(random: Random) -> Request:
    return {"pk": {"S": "heavy"}, "sk": {"N": str(random.randrange(_KEYS))}}


def _value(random: Random) -> Any:
    count = random.randrange(1, _ELEMENTS_MAX)
    match random.randrange(5):
        case 0:
            return {"L": [{"S": ""}] * count}
        case 1:
            return {"SS": [f"{number}" for number in range(count)]}
        case 2:
            return {"NS": [str(number) for number in range(count, 0, -1)]}
        case 3:
            return {"M": {f"n{number}": {"N": "1"} for number in range(count)}}
        case _:
            return {"S": random.choice("x,é{") * count}


def _put(random: Random) -> Heavy:
    names = ("l", "m", "text", "list")[: random.randrange(1, 4)]
    item = {**_key(random), **{name: _value(random) for name in names}}
    return "PutItem", {"TableName": BARE, "Item": item}


def _contains(random: Random) -> tuple[str, Request]:
    count = random.randrange(1, 150)
    clauses = [f"contains({random.choice(('l', 'm', 'text'))}, :v{number})" for number in range(count)]
    text = random.choice((" OR ", " AND NOT ")).join(clauses)
    return text, {f":v{number}": {"S": str(number)} for number in range(count)}


def _filtered(random: Random) -> Heavy:
    text, values = _contains(random)
    return "Scan", {"TableName": BARE, "FilterExpression": text, "ExpressionAttributeValues": values}


def _condition(random: Random) -> Heavy:
    text, values = _contains(random)
    request = {"TableName": BARE, "Key": _key(random), "ConditionExpression": f"NOT ({text})"}
    return "DeleteItem", {**request, "ExpressionAttributeValues": values}


def _copies(random: Random) -> Heavy:
    right = random.choice(("l", "list_append(l, l)", "if_not_exists(x, l)", "m", ":v"))
    text = "SET " + ", ".join(f"a{number} = {right}" for number in range(random.randrange(1, 100)))
    values = {"ExpressionAttributeValues": {":v": _value(random)}} if right == ":v" else {}
    return "UpdateItem", {"TableName": BARE, "Key": _key(random), "UpdateExpression": text, **values}


def _sets(random: Random) -> Heavy:
    text = random.choice(("ADD l :v", "DELETE l :v", "ADD m :v", "DELETE m :v"))
    request = {"TableName": BARE, "Key": _key(random), "UpdateExpression": text}
    return "UpdateItem", {**request, "ExpressionAttributeValues": {":v": _value(random)}}


def _paths(random: Random) -> Heavy:
    paths = random.sample(range(4000), random.randrange(1, 400))
    text = ",".join(f"l[{number}]" for number in paths)
    gets = [{"TableName": BARE, "Key": {"pk": {"S": "heavy"}, "sk": {"N": str(n)}}} for n in range(_KEYS)]
    return "TransactGetItems", {
        "TransactItems": [{"Get": {**get, "ProjectionExpression": text}} for get in gets]
    }


def _statement(random: Random) -> Heavy:
    clause = random.choice(("contains(l, 'x')", "text = 'a'", "m <> l", "size(l) > 3"))
    count = random.randrange(1, 400)
    text = f"SELECT * FROM {BARE} WHERE pk = 'heavy' AND (" + " OR ".join([clause] * count) + ")"
    return "ExecuteStatement", {"Statement": text}


def _names(random: Random) -> Heavy:
    names = {f"#n{number}": "x" for number in range(random.randrange(1, _ELEMENTS_MAX))}
    request = {"TableName": TABLE, "Key": _key(random), "ProjectionExpression": "#n0"}
    return "GetItem", {**request, "ExpressionAttributeNames": names}


def _legacy(random: Random) -> Heavy:
    count = random.randrange(1, _ELEMENTS_MAX)
    values = [{"S": str(number)} for number in range(count)]
    condition = {"ComparisonOperator": "IN", "AttributeValueList": values}
    return "Scan", {"TableName": BARE, "ScanFilter": {"text": condition}}


_KINDS: tuple[Callable[[Random], Heavy], ...] = (
    _put,
    _put,
    _filtered,
    _condition,
    _copies,
    _sets,
    _paths,
    _statement,
    _names,
    _legacy,
)
