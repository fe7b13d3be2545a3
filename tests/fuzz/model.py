"""Requests made from botocore's service model: each member of each operation, and the wrong type in its place."""

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

import botocore.session
from botocore.model import OperationModel, Shape

from fuzz.seeds import SPARE, Request

_DEPTH_MAX = 7  # AttributeValue holds itself
_PATH_MAX = 20  # deeper places are those of rubbish put in before
_WORDS = {"TableName": SPARE, "IndexName": "by-group", "AttributeName": "pk", "ResourceArn": "arn:aws:x"}


@lru_cache(maxsize=1)
def _models() -> dict[str, OperationModel]:
    session = botocore.session.get_session()
    services = [session.get_service_model(name) for name in ("dynamodb", "dynamodbstreams")]
    return {name: service.operation_model(name) for service in services for name in service.operation_names}


def operations() -> list[str]:
    """Every operation the service and its streams have, whether we serve it or not."""
    return list(_models())


def full_request(operation: str, random: Random) -> Request:
    """A request with every member there is, each of the right type if hardly ever of the right value."""
    shape = _models()[operation].input_shape
    made = _value(shape, "", random, 0)
    return made if isinstance(made, dict) else {}


def _value(shape: Shape, name: str, random: Random, depth: int) -> Any:
    if depth > _DEPTH_MAX:
        return None
    match shape.type_name:
        case "structure":
            if shape.name == "AttributeValue" and depth > _DEPTH_MAX - 3:
                return {"S": "a"}
            if shape.name == "AttributeValue":
                kind = random.choice(list(shape.members))
                return {kind: _value(shape.members[kind], kind, random, depth + 1)}
            return {
                member: _value(inner, member, random, depth + 1) for member, inner in shape.members.items()
            }
        case "list":
            return [_value(shape.member, name, random, depth + 1)]
        case "map":
            return {_WORDS["TableName"]: _value(shape.value, name, random, depth + 1)}
        case "string":
            return random.choice(shape.enum) if shape.enum else _WORDS.get(name, "1")
        case "blob":
            return "AAEC"
        case "boolean":
            return random.random() < 0.5
        case "timestamp":
            return 1_700_000_000
        case _:
            return 1


def paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a request, the request itself left out."""
    children: Any = ()
    if len(path) > _PATH_MAX:
        return
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    for step, child in children:
        yield (*path, step)
        yield from paths(child, (*path, step))


def replaced(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with something else in one place; what is off the path is shared."""
    if not path:
        return value
    copy: Any = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], value)
    return copy
