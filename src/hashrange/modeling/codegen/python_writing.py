"""A model as a Python module."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.codegen.entities import EntityCode
from hashrange.modeling.codegen.functions import Argument, Function
from hashrange.modeling.codegen.nodes import Constants, Node, text_literal, written
from hashrange.modeling.codegen.python_helpers import HEAD
from hashrange.modeling.model import Attribute

_CONSTANTS = Constants("True", "False", "None")
_TYPES = {
    "S": "str",
    "N": "Number",
    "B": "bytes",
    "BOOL": "bool",
    "NULL": "None",
    "L": "list[Any]",
    "M": "dict[str, Any]",
    "SS": "set[str]",
    "NS": "set[Number]",
    "BS": "set[bytes]",
    "any": "Any",
    "key": "Key",
    "keys": "Sequence[Key]",
    "items": "Sequence[dict[str, Any]]",
}


def python_module(entities: Sequence[EntityCode], functions: Sequence[Function]) -> str:
    """The text of the module."""
    parts = [HEAD, *map(_entity, entities), *map(_function, functions)]
    return "\n\n".join(parts)


def _type(attribute: Attribute) -> str:
    texts = [value for value in attribute.values if isinstance(value, str)]
    if attribute.type == "S" and texts and len(texts) == len(attribute.values):
        return f"Literal[{', '.join(map(text_literal, texts))}]"
    return _TYPES[attribute.type]


def _member_type(attribute: Attribute) -> str:
    return f"NotRequired[{_type(attribute)}]" if attribute.optional else _type(attribute)


def _entity(code: EntityCode) -> str:
    members = "".join(
        f"        {text_literal(attribute.name)}: {_member_type(attribute)},\n"
        for attribute in code.attributes
    )
    now = ", now: int" if code.has_now else ""
    return (
        f"{code.type_name} = TypedDict(\n    {text_literal(code.type_name)},\n    {{\n{members}    }},\n)\n\n\n"
        f"def {code.key_name}({_signature(code.key_arguments)}) -> Key:\n    return {_body(code.key)}\n\n\n"
        f"def {code.item_name}(item: {code.type_name}{now}) -> dict[str, Any]:\n    return {_body(code.item)}\n"
    )


def _function(function: Function) -> str:
    return (
        f"def {function.name}({_signature(function.arguments)}) -> Request:\n"
        f"    {text_literal(function.text)}\n"
        f"    return Request({text_literal(function.operation)}, {_body(function.members)})\n"
    )


def _body(node: Node) -> str:
    return written(node, _CONSTANTS, 4)


def _signature(arguments: Sequence[Argument]) -> str:
    listed = ", ".join(f"{argument.name}: {_argument_type(argument)}" for argument in arguments)
    return f"*, {listed}" if listed else ""


def _argument_type(argument: Argument) -> str:
    if argument.name in ("now", "shard"):
        return "int"
    return _TYPES.get(argument.type, argument.type)
