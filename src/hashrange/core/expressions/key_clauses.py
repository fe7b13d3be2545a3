"""Reads a resolved key condition as clauses, one per key attribute, from which a key range is made."""

from typing import Literal as OneOf
from typing import assert_never

import msgspec

from hashrange.core.expressions import resolved
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.values import Value

KeyOperator = OneOf["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]

# What a comparator says about the key attribute on its left, and about one on its right.
OF_LEFT: dict[str, KeyOperator] = {"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
OF_RIGHT: dict[str, KeyOperator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class KeyClause(msgspec.Struct, frozen=True):
    """The condition on one key attribute."""

    attribute: str
    operator: KeyOperator
    operands: tuple[Value, ...]


# A clause without its values: attribute, operator, operands.
OpenClause = tuple[str, KeyOperator, tuple[resolved.Known, ...]]


def key_clauses(root: resolved.Node) -> tuple[OpenClause, ...]:
    """The clauses of a key condition, left to right; the first illegal one is refused."""
    clauses: list[OpenClause] = []
    _gather(root, clauses)
    return tuple(clauses)


def _gather(node: resolved.Node, clauses: list[OpenClause]) -> None:
    if isinstance(node, resolved.And):
        for inner in node.conditions:
            _gather(inner, clauses)
        return
    clause = _clause(node)
    if any(clause[0] == other[0] for other in clauses):
        raise ExpressionInvalid(
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
        )
    clauses.append(clause)


def _clause(node: resolved.Node) -> OpenClause:
    match node:
        case resolved.Compare("<>"):
            raise _operator_refused("<>")
        case resolved.Compare(comparator, left, right):
            return _comparison(comparator, left, right)
        case resolved.Between(operand, lower, upper):
            return _named_first("BETWEEN", operand, (lower, upper))
        case resolved.BeginsWith(operand, prefix):
            return _named_first("begins_with", operand, (prefix,))
        case resolved.Or():
            raise _operator_refused("OR")
        case resolved.Not():
            raise _operator_refused("NOT")
        case resolved.In():
            raise _operator_refused("IN")
        case resolved.AttributeExists():
            raise _operator_refused("attribute_exists")
        case resolved.AttributeNotExists():
            raise _operator_refused("attribute_not_exists")
        case resolved.AttributeType():
            raise _operator_refused("attribute_type")
        case resolved.Contains():
            raise _operator_refused("contains")
        case resolved.And() | resolved.Equivalent():
            raise AssertionError(node)
        case _:
            assert_never(node)


def _comparison(comparator: str, left: resolved.Operand, right: resolved.Operand) -> OpenClause:
    if isinstance(left, resolved.Path):
        return _key_name(left), OF_LEFT[comparator], (_key_value(right),)
    value = _key_value(left)
    if isinstance(right, resolved.Path):
        return _key_name(right), OF_RIGHT[comparator], (value,)
    _key_value(right)
    raise ExpressionInvalid("Invalid condition in KeyConditionExpression: No key attribute specified")


def _named_first(
    operator: KeyOperator, operand: resolved.Operand, rest: tuple[resolved.Operand, ...]
) -> OpenClause:
    if not isinstance(operand, resolved.Path):
        raise ExpressionInvalid(
            f"Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute as its "
            "first operand"
        )
    return _key_name(operand), operator, tuple(_key_value(value) for value in rest)


def _key_name(path: resolved.Path) -> str:
    if len(path.parts) > 1:
        raise ExpressionInvalid(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
        )
    return str(path.parts[0])


def _key_value(operand: resolved.Operand) -> resolved.Known:
    match operand:
        case resolved.Parameter() | resolved.Literal():
            return operand
        case resolved.Path():
            raise ExpressionInvalid(
                "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
            )
        case resolved.Size():
            raise ExpressionInvalid("KeyConditionExpressions cannot contain nested operations")
        case _:
            assert_never(operand)


def _operator_refused(operator: str) -> ExpressionInvalid:
    return ExpressionInvalid(f"Invalid operator used in KeyConditionExpression: {operator}")
