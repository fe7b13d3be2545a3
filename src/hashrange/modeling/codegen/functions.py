"""Functions of generated code: the requests of patterns, with calls where the application's values go.

What a request has beside values is taken from the builders that `prove` runs (`read_requests`, `expressions`), so that
code and proof cannot differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hashrange.modeling.codegen.nodes import Call, Names, Node, Variable
from hashrange.modeling.codegen.values import condition_values, key_condition_values
from hashrange.modeling.conditions import comparisons
from hashrange.modeling.data.values import nth_value
from hashrange.modeling.model import (
    Attribute,
    AttributeType,
    Comparison,
    Condition,
    Model,
    Now,
    Operand,
    Parameter,
    ReadOperation,
    ReadPattern,
)
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import Given, ReadPlan, Spread
from hashrange.modeling.read_requests import request_for

ArgumentType = AttributeType | str  # one of DynamoDB's, or "any", "key", "keys", or the name of an entity
_SETS = ("L", "M", "SS", "NS", "BS")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function."""

    name: str
    type: ArgumentType


KEYS = Argument("keys", "keys")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that makes a request of an operation."""

    name: str
    text: str
    arguments: tuple[Argument, ...]
    operation: str
    members: Node


@dataclass(frozen=True, slots=True)
class Omission:
    """A pattern that no function is made for, and why."""

    pattern: str
    reason: str


class Arguments:
    """The arguments of a function, by the parameters of its pattern."""

    def __init__(self) -> None:
        self.names = Names({"item", "now", "shard", "keys"})
        self.by_parameter: dict[str, Argument] = {}

    def note(self, condition: Condition | None, attributes: Mapping[str, Attribute]) -> None:
        """Take in the parameters of a condition."""
        for comparison in comparisons(condition):
            for operand in comparison.operands:
                if isinstance(operand, Parameter):
                    self.add(operand.name, _type(comparison, attributes))

    def add(self, parameter: str, kind: ArgumentType) -> None:
        if parameter not in self.by_parameter:
            self.by_parameter[parameter] = Argument(self.names.take(parameter), kind)

    def __call__(self, parameter: str) -> Variable:
        return Variable(self.by_parameter[parameter].name)


def _type(comparison: Comparison, attributes: Mapping[str, Attribute]) -> ArgumentType:
    attribute = attributes.get(comparison.attribute)
    if attribute is None or (comparison.operator == "contains" and attribute.type in _SETS):
        return "any"
    return attribute.type


def one_line(text: str) -> str:
    """Text that can stand in a comment."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def read_function(model: Model, pattern: ReadPattern, name: str) -> Function | Omission:
    """The function of a read pattern."""
    plan = plan_read(model, pattern)
    if not plan.served:
        return Omission(pattern.id, plan.problems[0].message)
    attributes = plan_attributes(plan, model)
    arguments = Arguments()
    arguments.note(pattern.where, attributes)
    arguments.note(pattern.filter, attributes)
    request = request_for(plan, _placeholders(pattern, attributes), model)
    members: dict[str, Node] = dict(request.members())
    if plan.operation in (ReadOperation.QUERY, ReadOperation.SCAN):
        _put_values(members, plan, attributes, arguments)
        listed = (*arguments.by_parameter.values(), *_extra(plan))
    elif plan.operation is ReadOperation.GET_ITEM:
        members["Key"] = _key(plan, arguments)
        listed = (*arguments.by_parameter.values(), *_extra(plan))
    else:
        return Function(
            name, _title(pattern, plan), (KEYS,), plan.operation.value, _keyed(members, plan.table.name)
        )
    return Function(name, _title(pattern, plan), tuple(listed), plan.operation.value, members)


def _keyed(members: Mapping[str, Any], table: str) -> Mapping[str, Node]:
    """BatchGetItem or TransactGetItems for any keys, from the members of one for some."""
    keys = Variable(KEYS.name)
    if "RequestItems" in members:
        return {
            "RequestItems": {table: {**members["RequestItems"][table], "Keys": Call("_distinct", (keys,))}}
        }
    get = {name: value for name, value in members["TransactItems"][0]["Get"].items() if name != "Key"}
    return {"TransactItems": Call("_gets", (keys, get))}


def plan_attributes(plan: ReadPlan, model: Model) -> dict[str, Attribute]:
    """The attributes of a plan's entities; the first entity's go before the others'."""
    return {
        name: attribute
        for entity in reversed(plan.pattern.entities)
        for name, attribute in model.entities[entity].attributes.items()
    }


def _placeholders(pattern: ReadPattern, attributes: Mapping[str, Attribute]) -> dict[str, object]:
    """Values that stand for the application's, while everything else of a request is made."""
    return {
        operand.name: any_value(attributes.get(comparison.attribute))
        for condition in (pattern.where, pattern.filter)
        for comparison in comparisons(condition)
        for operand in comparison.operands
        if isinstance(operand, Parameter)
    }


def any_value(attribute: Attribute | None) -> object:
    """A value that stands for the application's."""
    return "x" if attribute is None else nth_value(attribute, 1, random.Random(0), in_key=True)  # noqa: S311


def _put_values(
    members: dict[str, Node], plan: ReadPlan, attributes: dict[str, Attribute], arguments: Arguments
) -> None:
    values = [
        value
        for condition in (*plan.partition, *plan.sort)
        for value in key_condition_values(condition, arguments)
    ]
    values += condition_values(plan.filter, attributes, arguments)
    if values:
        members["ExpressionAttributeValues"] = {f":v{at}": value for at, value in enumerate(values)}


def _key(plan: ReadPlan, arguments: Arguments) -> Node:
    return {
        condition.attribute.name: next(key_condition_values(condition, arguments))
        for condition in (*plan.partition, *plan.sort)
    }


def _extra(plan: ReadPlan) -> Iterator[Argument]:
    operands = [operand for comparison in comparisons(plan.filter) for operand in comparison.operands]
    pieces = [
        piece
        for condition in (*plan.partition, *plan.sort)
        for operand in condition.operands
        for piece in operand.pieces
    ]
    operands += [piece.operand for piece in pieces if isinstance(piece, Given | Spread)]
    if has_now(operands):
        yield Argument("now", "N")
    if any(isinstance(piece, Spread) and piece.is_each for piece in pieces):
        yield Argument("shard", "N")


def has_now(operands: list[Operand]) -> bool:
    """Whether the time of the request is among them."""
    return any(isinstance(operand, Now) for operand in operands)


def _title(pattern: ReadPattern, plan: ReadPlan) -> str:
    where = plan.table.name if plan.index is None else plan.index.name
    shards = f"; one request for each shard from 0 to {plan.shards - 1}" if plan.shards > 1 else ""
    return one_line(f"{pattern.id}: {pattern.name or 'read'}. {plan.operation.value} on {where}{shards}.")
