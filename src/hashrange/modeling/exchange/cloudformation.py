"""CloudFormation templates, in JSON or YAML: their tables, read and written."""

import re
from collections.abc import Mapping
from typing import Any

from hashrange.modeling.exchange.descriptions import TableDescription, converted, table_of
from hashrange.modeling.exchange.placeholders import model_of, table_name
from hashrange.modeling.exchange.trees import Branch, json_tree
from hashrange.modeling.model import Model, Table
from hashrange.modeling.problems import Problems, refused
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode, parse

_TABLE_TYPES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
_VARIABLE = re.compile(r"\$\{!?([^}]{1,200})\}")
_NAMING = {"Ref", "Fn::Sub", "Fn::GetAtt", "Fn::ImportValue", "Fn::Join"}


def read(text: str, name: str = "imported") -> Model:
    """The tables of a template, with placeholder entities."""
    template = _template(text)
    resources = template.get("Resources") if isinstance(template, dict) else None
    if not isinstance(resources, dict):
        raise refused("there are no Resources in it", "this is no CloudFormation template")
    parameters = _defaults(template.get("Parameters")) if isinstance(template, dict) else {}
    tables = [
        _table(logical, _resolved(resource.get("Properties"), parameters))
        for logical, resource in resources.items()
        if isinstance(resource, dict) and resource.get("Type") in _TABLE_TYPES
    ]
    return model_of(tables, name)


def _template(text: str) -> object:
    if text.lstrip().startswith("{"):
        return json_tree(text)
    problems = Problems()
    template = _tree(parse(text, problems, tags=True))
    problems.refuse("")
    return template


def _table(logical: str, properties: object) -> Table:
    described = converted(properties, TableDescription, f"table {logical}")
    return table_of(described, table_name(described.table_name or logical))


def _tree(node: Node) -> Any:
    """A node as lists and dictionaries; short forms (`!Ref X`) as long ones."""
    plain: Any
    match node:
        case ScalarNode():
            plain = node.value
        case SequenceNode():
            plain = [_tree(item) for item in node.items]
        case MappingNode():
            plain = {name: _tree(member) for name, member in node.members.items()}
    if node.tag is None or not node.tag.startswith("!") or node.tag == "!":
        return plain
    function = node.tag[1:]
    return {function if function in ("Ref", "Condition") else f"Fn::{function}": plain}


def _defaults(parameters: object) -> Mapping[str, object]:
    """What parameters are if nobody says otherwise."""
    if not isinstance(parameters, dict):
        return {}
    return {
        name: parameter["Default"]
        for name, parameter in parameters.items()
        if isinstance(parameter, dict) and "Default" in parameter
    }


def _resolved(tree: object, parameters: Mapping[str, object]) -> object:
    """A tree in which functions are the texts that one would read them as."""
    match tree:
        case dict():
            if len(tree) == 1 and (function := next(iter(tree))) in _NAMING:
                return _called(function, tree[function], parameters)
            if tree.keys() == {"Fn::If"} and isinstance(tree["Fn::If"], list) and len(tree["Fn::If"]) == 3:
                return _resolved(tree["Fn::If"][1], parameters)
            resolved = {name: _resolved(value, parameters) for name, value in tree.items()}
            return {name: value for name, value in resolved.items() if value != "AWS::NoValue"}
        case list():
            return [_resolved(value, parameters) for value in tree]
        case _:
            return tree


def _called(function: str, argument: object, parameters: Mapping[str, object]) -> object:
    match function, argument:
        case ("Ref", str()):
            return parameters.get(argument, argument)
        case ("Fn::Sub", str()):
            return _VARIABLE.sub(
                lambda match: str(parameters.get(match[1], match[1].rpartition("::")[2])), argument
            )
        case ("Fn::Sub", [str() as text, *_]):
            return _called("Fn::Sub", text, parameters)
        case ("Fn::Join", [str() as separator, list() as parts]):
            return separator.join(str(_resolved(part, parameters)) for part in parts)
        case (_, list()):
            return "-".join(str(part) for part in argument)
        case _:
            return str(argument)


def write(tables: Mapping[str, Branch]) -> Branch:
    """A template of tables, whose properties are given by their name."""
    resources = {
        _logical_name(name): {
            "Type": _TABLE_TYPES[0],
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": properties,
        }
        for name, properties in tables.items()
    }
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def _logical_name(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", name)) + "Table"
