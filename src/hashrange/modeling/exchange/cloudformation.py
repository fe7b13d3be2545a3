"""CloudFormation templates, in JSON or YAML: the tables in them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from hashrange.modeling.exchange.descriptions import TableDescription, TargetTracking, converted, table_of
from hashrange.modeling.exchange.placeholders import model_of, table_name
from hashrange.modeling.exchange.scaling_reading import FoundScaling, ScalableTarget, ScalingPolicy
from hashrange.modeling.exchange.trees import json_tree
from hashrange.modeling.loading import DEFAULT_REGION
from hashrange.modeling.model import Model, Table
from hashrange.modeling.problems import Problems, refused
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode, parse

_TABLE_TYPES = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
_TARGET_TYPE = "AWS::ApplicationAutoScaling::ScalableTarget"
_POLICY_TYPE = "AWS::ApplicationAutoScaling::ScalingPolicy"
_VARIABLE = re.compile(r"\$\{!?([^}]{1,200})\}")
_NAMING = {"Ref", "Fn::Sub", "Fn::GetAtt", "Fn::ImportValue", "Fn::Join"}


class _Target(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    resource_id: str = ""
    scalable_dimension: str = ""
    min_capacity: int = 1
    max_capacity: int = 1


class _Policy(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    scaling_target_id: str | None = None
    resource_id: str | None = None
    scalable_dimension: str | None = None
    target_tracking_scaling_policy_configuration: TargetTracking | None = None


def read(text: str, name: str = "imported") -> Model:
    """The tables of a template, with placeholder entities."""
    template = _template(text)
    resources = template.get("Resources") if isinstance(template, dict) else None
    if not isinstance(resources, dict):
        raise refused("there are no Resources in it", "this is no CloudFormation template")
    parameters = _defaults(template.get("Parameters")) if isinstance(template, dict) else {}
    scaling = _scaling(resources, parameters)
    tables = [
        scaling.applied(_table(logical, properties), logical)
        for logical, properties in _properties(resources, parameters, _TABLE_TYPES)
    ]
    # A global table lists its own region with the others; the first is the stack's, as far as one can tell.
    region = next((table.replicas[0] for table in tables if table.replicas), DEFAULT_REGION)
    return model_of([replace(table, replicas=_others(table, region)) for table in tables], name, region)


def _properties(
    resources: Mapping[str, Any], parameters: Mapping[str, object], kinds: tuple[str, ...]
) -> Iterator[tuple[str, object]]:
    """The properties of all resources of some types, by their logical ids."""
    for logical, resource in resources.items():
        if isinstance(resource, dict) and resource.get("Type") in kinds:
            yield logical, _resolved(resource.get("Properties"), parameters)


def _scaling(resources: Mapping[str, Any], parameters: Mapping[str, object]) -> FoundScaling:
    """Targets may name their table by its logical id, and policies their target by its own."""
    found = {
        logical: converted(properties, _Target, f"target {logical}")
        for logical, properties in _properties(resources, parameters, (_TARGET_TYPE,))
    }
    targets = {
        logical: ScalableTarget(
            target.resource_id, target.scalable_dimension, target.min_capacity, target.max_capacity
        )
        for logical, target in found.items()
    }
    policies = []
    for logical, properties in _properties(resources, parameters, (_POLICY_TYPE,)):
        policy = converted(properties, _Policy, f"policy {logical}")
        target = targets.get(policy.scaling_target_id or "")
        resource = policy.resource_id or (target.resource if target else "")
        dimension = policy.scalable_dimension or (target.dimension if target else "")
        tracking = policy.target_tracking_scaling_policy_configuration
        if tracking is not None:
            policies.append(ScalingPolicy(resource, dimension, tracking.target_value))
    return FoundScaling(targets.values(), policies)


def _others(table: Table, region: str) -> tuple[str, ...]:
    return tuple(replica for replica in table.replicas if replica != region)


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
