"""Expressions of requests: conditions and updates in DynamoDB's words, with placeholders for every name and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from hashrange.modeling.key_values import operand_text
from hashrange.modeling.model import (
    All,
    AnyOf,
    Assignment,
    Attribute,
    Comparison,
    Condition,
    KeyAttribute,
    Name,
    Not,
    Operand,
)
from hashrange.modeling.plans import KeyCondition
from hashrange.modeling.templates import value_text
from hashrange.modeling.wire_values import WireValue, operand_value, wire_value


class Expressions:
    """The expressions of one request. They share the placeholders of names; every value has one of its own."""

    def __init__(
        self, attributes: Mapping[str, Attribute], parameters: Mapping[str, object], *, now: int
    ) -> None:
        self._attributes = attributes
        self._parameters = parameters
        self._now = now
        self._names: dict[str, str] = {}
        self.values: dict[str, WireValue] = {}

    @property
    def names(self) -> dict[str, str]:
        """From placeholder to attribute, as ExpressionAttributeNames has them."""
        return {placeholder: name for name, placeholder in self._names.items()}

    def name(self, attribute: str) -> str:
        return self._names.setdefault(attribute, f"#n{len(self._names)}")

    def value(self, value: WireValue) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def key_condition(self, condition: KeyCondition, shard: int) -> str:
        name = self.name(condition.attribute.name)
        values = [
            self.value(
                key_wire(
                    operand_text(operand, self._parameters, now=self._now, shard=shard), condition.attribute
                )
            )
            for operand in condition.operands
        ]
        match condition.operator:
            case "between":
                return f"{name} BETWEEN {values[0]} AND {values[1]}"
            case "begins_with":
                return f"begins_with({name}, {values[0]})"
            case operator:
                return f"{name} {operator} {values[0]}"

    def condition(self, condition: Condition) -> str:
        match condition:
            case All():
                return " AND ".join(self._bracketed(part) for part in condition.parts)
            case AnyOf():
                return " OR ".join(self._bracketed(part) for part in condition.parts)
            case Not():
                return f"NOT ({self.condition(condition.part)})"
            case Comparison():
                return self._comparison(condition)
            case _:
                assert_never(condition)

    def _bracketed(self, condition: Condition) -> str:
        text = self.condition(condition)
        return text if isinstance(condition, Comparison | Not) else f"({text})"

    def _comparison(self, comparison: Comparison) -> str:
        name = self.name(comparison.attribute)
        operands = [self.operand(operand, comparison.attribute) for operand in comparison.operands]
        match comparison.operator:
            case "exists":
                return f"attribute_exists({name})"
            case "not_exists":
                return f"attribute_not_exists({name})"
            case "begins_with" | "contains":
                return f"{comparison.operator}({name}, {operands[0]})"
            case "between":
                return f"{name} BETWEEN {operands[0]} AND {operands[1]}"
            case "in":
                return f"{name} IN ({', '.join(operands)})"
            case operator:
                return f"{name} {operator} {operands[0]}"

    def operand(self, operand: Operand, beside: str) -> str:
        """An operand that is compared with an attribute, or assigned to it."""
        if isinstance(operand, Name):
            return self.name(operand.attribute)
        attribute = self._attributes.get(beside)
        value = operand_value(operand, attribute, self._parameters, self._now)
        return self.value(wire_value(value, None if attribute is None else attribute.type))

    def update(self, assignments: tuple[Assignment, ...], keys: Mapping[KeyAttribute, object]) -> str:
        """An UpdateExpression: the assignments, and the index keys that follow from them (None: the key goes)."""
        clauses: dict[str, list[str]] = {"SET": [], "ADD": [], "REMOVE": []}
        for assignment in assignments:
            clause, text = self._assignment(assignment)
            clauses[clause].append(text)
        for key, value in keys.items():
            if value is None:
                clauses["REMOVE"].append(self.name(key.name))
            else:
                clauses["SET"].append(f"{self.name(key.name)} = {self.value(key_wire(value, key))}")
        return " ".join(f"{clause} {', '.join(texts)}" for clause, texts in clauses.items() if texts)

    def _assignment(self, assignment: Assignment) -> tuple[str, str]:
        name = self.name(assignment.attribute)
        if assignment.action == "remove":
            return "REMOVE", name
        if assignment.action == "append":
            return "SET", self._append(assignment, name)
        operand = self.operand(assignment.operand, assignment.attribute)
        match assignment.action:
            case "set":
                return "SET", f"{name} = {operand}"
            case "subtract":
                return "SET", f"{name} = {name} - {operand}"
            case "add":
                # Unlike SET, ADD takes an attribute that is not there yet for zero.
                return "ADD", f"{name} {operand}"
            case _:
                assert_never(assignment.action)

    def _append(self, assignment: Assignment, name: str) -> str:
        value = operand_value(assignment.operand, None, self._parameters, self._now)
        members = list(value) if isinstance(value, list | tuple) else [value]
        empty, tail = self.value({"L": []}), self.value(wire_value(members))
        return f"{name} = list_append(if_not_exists({name}, {empty}), {tail})"


def key_wire(value: object, key: KeyAttribute) -> WireValue:
    """The value of a key in the type that its schema has."""
    if key.type == "S" and not isinstance(value, bytes):
        return {"S": value_text(value)}
    return wire_value(value, key.type)
