"""Reads the tree of a key condition as the clauses that a range of keys is made of."""

from typing import Literal as OneOf
from typing import assert_never

import msgspec

from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.tree import (
    And,
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Between,
    Compare,
    Contains,
    In,
    Literal,
    Node,
    Not,
    Operand,
    Or,
    Parameter,
    Path,
    Size,
)
from hashrange.core.values import Value

KeyOperator = OneOf["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]

_MIRRORED: dict[str, KeyOperator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_UPRIGHT: dict[str, KeyOperator] = {"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class KeyClause(msgspec.Struct, frozen=True):
    """What a key condition asks of one attribute."""

    attribute: str
    operator: KeyOperator
    operands: tuple[Value, ...]


# The same before the values are known.
OpenClause = tuple[str, KeyOperator, tuple[Literal | Parameter, ...]]


def key_clauses(root: Node) -> tuple[OpenClause, ...]:
    """The clauses of a key condition, left to right; the first that no key condition may have is refused."""
    clauses: list[OpenClause] = []
    _gather(root, clauses)
    return tuple(clauses)


def _gather(node: Node, clauses: list[OpenClause]) -> None:
    if isinstance(node, And):
        for inner in node.conditions:
            _gather(inner, clauses)
        return
    clause = _clause(node)
    if any(clause[0] == other[0] for other in clauses):
        raise ExpressionInvalid(
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
        )
    clauses.append(clause)


def _clause(node: Node) -> OpenClause:
    match node:
        case Compare("<>"):
            raise _operator_refused("<>")
        case Compare(comparator, left, right):
            return _comparison(comparator, left, right)
        case Between(operand, lower, upper):
            return _named_first("BETWEEN", operand, (lower, upper))
        case BeginsWith(operand, prefix):
            return _named_first("begins_with", operand, (prefix,))
        case Or():
            raise _operator_refused("OR")
        case Not():
            raise _operator_refused("NOT")
        case In():
            raise _operator_refused("IN")
        case AttributeExists():
            raise _operator_refused("attribute_exists")
        case AttributeNotExists():
            raise _operator_refused("attribute_not_exists")
        case AttributeType():
            raise _operator_refused("attribute_type")
        case Contains():
            raise _operator_refused("contains")
        case And():
            raise AssertionError(node)
        case _:
            assert_never(node)


def _comparison(comparator: str, left: Operand, right: Operand) -> OpenClause:
    if isinstance(left, Path):
        return _key_name(left), _UPRIGHT[comparator], (_key_value(right),)
    value = _key_value(left)
    if isinstance(right, Path):
        return _key_name(right), _MIRRORED[comparator], (value,)
    _key_value(right)
    raise ExpressionInvalid("Invalid condition in KeyConditionExpression: No key attribute specified")


def _named_first(operator: KeyOperator, operand: Operand, rest: tuple[Operand, ...]) -> OpenClause:
    if not isinstance(operand, Path):
        raise ExpressionInvalid(
            f"Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute as its "
            "first operand"
        )
    return _key_name(operand), operator, tuple(_key_value(each) for each in rest)


def _key_name(path: Path) -> str:
    if len(path.parts) > 1:
        raise ExpressionInvalid(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
        )
    return str(path.parts[0])


def _key_value(operand: Operand) -> Literal | Parameter:
    match operand:
        case Parameter() | Literal():
            return operand
        case Path():
            raise ExpressionInvalid(
                "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
            )
        case Size():
            raise ExpressionInvalid("KeyConditionExpressions cannot contain nested operations")
        case _:
            assert_never(operand)


def _operator_refused(operator: str) -> ExpressionInvalid:
    return ExpressionInvalid(f"Invalid operator used in KeyConditionExpression: {operator}")
