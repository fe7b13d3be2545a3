"""A model as a TypeScript module."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.codegen.entities import EntityCode
from hashrange.modeling.codegen.functions import Argument, Function
from hashrange.modeling.codegen.nodes import Constants, Node, text_literal, written
from hashrange.modeling.codegen.typescript_helpers import HEAD
from hashrange.modeling.model import Attribute

_CONSTANTS = Constants("true", "false", "null")
_TYPES = {
    "S": "string",
    "N": "number",
    "B": "Uint8Array",
    "BOOL": "boolean",
    "NULL": "null",
    "L": "unknown[]",
    "M": "Record<string, unknown>",
    "SS": "Set<string>",
    "NS": "Set<number>",
    "BS": "Set<Uint8Array>",
    "any": "unknown",
    "key": "Key",
    "keys": "Key[]",
    "items": "Record<string, Wire>[]",
}


def typescript_module(entities: Sequence[EntityCode], functions: Sequence[Function]) -> str:
    """The text of the module."""
    return "\n".join([HEAD, *map(_entity, entities), *map(_function, functions)])


def _type(attribute: Attribute) -> str:
    texts = [value for value in attribute.values if isinstance(value, str)]
    if attribute.type == "S" and texts and len(texts) == len(attribute.values):
        return " | ".join(map(text_literal, texts))
    return _TYPES[attribute.type]


def _entity(code: EntityCode) -> str:
    members = "".join(
        f"    {text_literal(attribute.name)}{'?' if attribute.optional else ''}: {_type(attribute)};\n"
        for attribute in code.attributes
    )
    now = ", now: number" if code.has_now else ""
    return (
        f"export type {code.type_name} = {{\n{members}}};\n\n"
        f"export function {code.key_name}({_signature(code.key_arguments)}): Key {{\n"
        f"    return {_body(code.key)};\n}}\n\n"
        f"export function {code.item_name}(item: {code.type_name}{now}): Record<string, Wire> {{\n"
        f"    return {_body(code.item)};\n}}\n"
    )


def _function(function: Function) -> str:
    return (
        f"// {function.text}\n"
        f"export function {function.name}({_signature(function.arguments)}): Request {{\n"
        f"    return {{ operation: {text_literal(function.operation)}, members: {_body(function.members)} }};\n}}\n"
    )


def _body(node: Node) -> str:
    return written(node, _CONSTANTS, 4)


def _signature(arguments: Sequence[Argument]) -> str:
    if not arguments:
        return ""
    names = ", ".join(argument.name for argument in arguments)
    types = ", ".join(f"{argument.name}: {_argument_type(argument)}" for argument in arguments)
    return f"{{ {names} }}: {{ {types} }}"


def _argument_type(argument: Argument) -> str:
    return _TYPES.get(argument.type, argument.type)
