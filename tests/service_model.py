"""botocore's own model of the service, and how a msgspec structure for a request differs from it.

    assert differences("DescribeTable", DescribeTableRequest) == []

A structure's fields are compared by the name under which they are encoded. `None` beside another type is taken for
"may be left out" and not compared. An attribute value is a leaf: a structure may keep it, and a map of attribute
values, as it came (`msgspec.Raw` or `Any`), or describe it in its own way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.session
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StringShape, StructureShape
from msgspec import inspect

LEAF = "AttributeValue"

_TEXT = (inspect.StrType, inspect.LiteralType, inspect.EnumType)
_NUMBER = (inspect.IntType, inspect.FloatType)
_LIST = (
    inspect.ListType,
    inspect.VarTupleType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.CollectionType,
)
_OPAQUE = (inspect.AnyType, inspect.RawType)
_TYPES: dict[str, tuple[type[inspect.Type], ...]] = {
    "string": _TEXT,
    "blob": (inspect.StrType, inspect.BytesType),
    "integer": (inspect.IntType,),
    "long": (inspect.IntType,),
    "float": _NUMBER,
    "double": _NUMBER,
    "timestamp": _NUMBER,
    "boolean": (inspect.BoolType,),
    "list": _LIST,
    "map": (inspect.DictType,),
    "structure": (inspect.StructType,),
}


@dataclass(frozen=True)
class Member:
    """What the model says of one member of a request; `[]` in its path are a list's items, `{}` a map's values."""

    path: str
    type_name: str
    required: bool = False
    enum: tuple[str, ...] = ()
    least: int | None = None  # of a number, of a text's length, of a list's or map's length
    most: int | None = None
    pattern: str | None = None


@cache
def dynamodb() -> ServiceModel:
    return botocore.session.get_session().get_service_model("dynamodb")


@cache
def dynamodb_streams() -> ServiceModel:
    return botocore.session.get_session().get_service_model("dynamodbstreams")


@cache
def application_auto_scaling() -> ServiceModel:
    return botocore.session.get_session().get_service_model("application-autoscaling")


def operations() -> list[str]:
    """Every operation of the service, in order."""
    return sorted(dynamodb().operation_names)


def input_shape(operation: str, model: ServiceModel | None = None) -> StructureShape:
    """The shape of a request; that of an operation without members is empty."""
    shape = (model or dynamodb()).operation_model(operation).input_shape
    return shape or StructureShape(f"{operation}Input", {"type": "structure", "members": {}})


def members(operation: str, model: ServiceModel | None = None) -> dict[str, Member]:
    """All members of a request by their paths, such as `KeySchema[].KeyType`."""
    return {member.path: member for member in _members(input_shape(operation, model), "", ())}


def output_shape(operation: str, model: ServiceModel | None = None) -> StructureShape:
    """The shape of an answer; that of an operation without members is empty."""
    shape = (model or dynamodb()).operation_model(operation).output_shape
    return shape or StructureShape(f"{operation}Output", {"type": "structure", "members": {}})


def differences(operation: str, structure: type, *, model: ServiceModel | None = None) -> list[str]:
    """How a structure differs from the request of an operation; in the order of the model's members."""
    return list(_differences(input_shape(operation, model), inspect.type_info(structure), operation, ()))


def output_differences(operation: str, structure: type, *, model: ServiceModel | None = None) -> list[str]:
    """How a structure differs from the answer of an operation; likewise."""
    return list(_differences(output_shape(operation, model), inspect.type_info(structure), operation, ()))


def _members(shape: Shape, path: str, above: tuple[str, ...]) -> Iterator[Member]:
    if shape.name in above:
        return
    above = (*above, shape.name)
    match shape:
        case StructureShape():
            for name, member in shape.members.items():
                where = f"{path}.{name}".lstrip(".")
                yield _member(member, where, required=name in shape.required_members)
                if member.name != LEAF:
                    yield from _members(member, where, above)
        case ListShape() if shape.member.name != LEAF:
            yield _member(shape.member, f"{path}[]")
            yield from _members(shape.member, f"{path}[]", above)
        case MapShape() if shape.value.name != LEAF:
            yield _member(shape.value, f"{path}{{}}")
            yield from _members(shape.value, f"{path}{{}}", above)


def _member(shape: Shape, path: str, *, required: bool = False) -> Member:
    enum = tuple(shape.enum) if isinstance(shape, StringShape) else ()
    facts = shape.metadata
    return Member(
        path, shape.type_name, required, enum, facts.get("min"), facts.get("max"), facts.get("pattern")
    )


def _differences(shape: Shape, declared: inspect.Type, path: str, above: tuple[str, ...]) -> Iterator[str]:
    alternatives = list(_alternatives(declared))
    if len(alternatives) > 1:
        each = [list(_differences(shape, alternative, path, above)) for alternative in alternatives]
        yield from min(each, key=len)
        return
    (declared,) = alternatives
    if _is_leaf(shape):
        kept = _LIST if shape.type_name == "list" else (inspect.DictType, inspect.StructType)
        if not isinstance(declared, (*_OPAQUE, *kept, inspect.CustomType)):
            yield f"{path}: the model has {shape.name}, the structure {_name(declared)}"
        return
    if shape.name in above:
        return
    if not isinstance(declared, _TYPES[shape.type_name]):
        yield f"{path}: the model has {shape.type_name}, the structure {_name(declared)}"
        return
    yield from _limits(shape, declared, path)
    yield from _parts(shape, declared, path, (*above, shape.name))


def _parts(shape: Shape, declared: inspect.Type, path: str, above: tuple[str, ...]) -> Iterator[str]:
    match shape, declared:
        case StructureShape(), inspect.StructType():
            yield from _fields(shape, declared, path, above)
        case MapShape(), inspect.DictType():
            yield from _differences(shape.key, declared.key_type, f"{path} key", above)
            yield from _differences(shape.value, declared.value_type, f"{path}{{}}", above)
        case ListShape(), _:
            yield from _differences(shape.member, declared.item_type, f"{path}[]", above)  # type: ignore[attr-defined]


def _fields(
    shape: StructureShape, declared: inspect.StructType, path: str, above: tuple[str, ...]
) -> Iterator[str]:
    fields = {field.encode_name: field for field in declared.fields}
    if declared.forbid_unknown_fields:
        yield f"{path}: the structure refuses members it does not know"
    if declared.array_like:
        yield f"{path}: the structure is encoded as a list"
    for name, member in shape.members.items():
        if name not in fields:
            yield f"{path}.{name}: the structure does not have it"
            continue
        field = fields.pop(name)
        if field.required and name not in shape.required_members:
            yield f"{path}.{name}: the model lets it be left out, the structure does not"
        if not field.required and name in shape.required_members:
            yield f"{path}.{name}: the model requires it, the structure does not"
        yield from _differences(member, field.type, f"{path}.{name}", above)
    for name in fields:
        yield f"{path}.{name}: the model does not have it"


def _limits(shape: Shape, declared: inspect.Type, path: str) -> Iterator[str]:
    facts = shape.metadata
    enum = set(shape.enum) if isinstance(shape, StringShape) else set()
    values = set(_values(declared))
    if enum != values:
        yield f"{path}: the model has the values {sorted(enum) or 'of any text'}, the structure {sorted(values)}"
    elif not enum:
        least, most = _range(declared)
        for what, modelled, limit in (("least", facts.get("min"), least), ("most", facts.get("max"), most)):
            if modelled != limit:
                yield f"{path}: {what}: the model has {modelled}, the structure {limit}"
        pattern = getattr(declared, "pattern", None)
        if not _same_pattern(facts.get("pattern"), pattern):
            yield f"{path}: pattern: the model has {facts.get('pattern')}, the structure {pattern}"


def _is_leaf(shape: Shape) -> bool:
    """An attribute value, or a map or list of them."""
    parts = {"map": "value", "list": "member"}
    inner = getattr(shape, parts[shape.type_name]) if shape.type_name in parts else shape
    return bool(inner.name == LEAF)


def _alternatives(declared: inspect.Type) -> Iterator[inspect.Type]:
    """The types of a union, without what only says that a member may be left out."""
    match declared:
        case inspect.Metadata():
            yield from _alternatives(declared.type)
        case inspect.UnionType():
            for part in declared.types:
                if not isinstance(part, inspect.NoneType):
                    yield from _alternatives(part)
        case _:
            yield declared


def _values(declared: inspect.Type) -> list[Any]:
    match declared:
        case inspect.LiteralType():
            return list(declared.values)
        case inspect.EnumType():
            return [member.value for member in declared.cls]
        case _:
            return []


def _range(declared: inspect.Type) -> tuple[int | None, int | None]:
    """The least and the most that a number, or the length of anything else, may be."""
    if isinstance(declared, _NUMBER):
        least = declared.ge if declared.gt is None else declared.gt + 1
        most = declared.le if declared.lt is None else declared.lt - 1
        return (None if least is None else int(least)), (None if most is None else int(most))
    return getattr(declared, "min_length", None), getattr(declared, "max_length", None)


def _same_pattern(modelled: str | None, declared: str | None) -> bool:
    """The model's patterns mean the whole text; msgspec's are searched for, and must say so."""
    if modelled is None or declared is None:
        return modelled == declared
    return (
        modelled.strip("^$") == declared.removeprefix("^").removesuffix("$")
        and declared[:1] + declared[-1:] == "^$"
    )


def _name(declared: inspect.Type) -> str:
    return type(declared).__name__.removesuffix("Type").lower()
