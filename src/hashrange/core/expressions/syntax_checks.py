"""The checks that need the text alone: known functions in their places, no reserved words, how many operators."""

from typing import assert_never

from hashrange.core.expressions import syntax
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.reserved import is_reserved
from hashrange.core.limits import LIST_INDEX_MAX, NESTING_LEVELS_MAX

CONDITION_FUNCTIONS = frozenset(
    {"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"}
)
CONDITION_OPERANDS = frozenset({"size"})
UPDATE_FUNCTIONS = frozenset({"if_not_exists", "list_append"})


def check_path(path: syntax.PathRef) -> None:
    """No reserved word as a bare name, no index beyond 32 bits, no more levels than a document has."""
    for part in path.parts:
        if isinstance(part, int):
            if part > LIST_INDEX_MAX:
                raise Flaw(f"List index is not within the allowable range; index: [{part}]")
        elif part[0] != "#" and is_reserved(part):
            raise Flaw(f"Attribute name is a reserved keyword; reserved keyword: {part}")
    if len(path.parts) > NESTING_LEVELS_MAX:
        raise Flaw(f"The document path has too many nesting levels; nesting levels: {len(path.parts)}")


def check_condition(condition: syntax.ConditionSyntax) -> None:
    """Every word of a condition, in the order of the text: the first flaw is the one reported."""
    match condition:
        case syntax.Junction(_, conditions):
            for inner in conditions:
                check_condition(inner)
        case syntax.Negation(inner):
            check_condition(inner)
        case syntax.Comparison(_, left, right):
            _check_operands((left, right))
        case syntax.Range(operand, lower, upper):
            _check_operands((operand, lower, upper))
        case syntax.Membership(operand, candidates):
            _check_operands((operand, *candidates))
        case syntax.Call(function, arguments):
            _check_function(function, CONDITION_FUNCTIONS)
            _check_operands(arguments)
        case _:
            assert_never(condition)


def _check_operands(operands: tuple[syntax.Operand, ...]) -> None:
    for operand in operands:
        match operand:
            case syntax.PathRef():
                check_path(operand)
            case syntax.ValueRef():
                pass
            case syntax.Call(function, arguments):
                _check_function(function, CONDITION_OPERANDS)
                _check_operands(arguments)
            case _:
                assert_never(operand)


def _check_function(function: str, allowed: frozenset[str]) -> None:
    if function in allowed:
        return
    if function in CONDITION_FUNCTIONS or function in CONDITION_OPERANDS:
        raise misplaced(function)
    if function in UPDATE_FUNCTIONS:
        raise Flaw(f"The function is not allowed in a condition expression; function: {function}")
    raise Flaw(f"Invalid function name; function: {function}")


def misplaced(function: str) -> Flaw:
    """A function of this kind of expression, in a place where it means nothing."""
    return Flaw(f"The function is not allowed to be used this way in an expression; function: {function}")


def check_action(action: syntax.ActionSyntax) -> None:
    """Every word of one action of an update expression."""
    check_path(action.target)
    match action.operand:
        case None:
            pass
        case syntax.Sum(_, left, right):
            _check_assigned(left, nested=True)
            _check_assigned(right, nested=True)
        case operand:
            _check_assigned(operand, nested=False)


def _check_assigned(operand: syntax.Operand, *, nested: bool) -> None:
    match operand:
        case syntax.PathRef():
            check_path(operand)
        case syntax.ValueRef():
            pass
        case syntax.Call(function, arguments):
            _check_update_function(function, nested=nested)
            for argument in arguments:
                _check_assigned(argument, nested=True)
        case _:
            assert_never(operand)


def _check_update_function(function: str, *, nested: bool) -> None:
    if function in UPDATE_FUNCTIONS:
        # list_append is the whole right-hand side or nothing (seen on the service, not in the guide).
        if nested and function == "list_append":
            raise misplaced(function)
        return
    if function in CONDITION_FUNCTIONS or function in CONDITION_OPERANDS:
        raise Flaw(f"The function is not allowed in an update expression; function: {function}")
    raise Flaw(f"Invalid function name; function: {function}")


def count_operators(condition: syntax.ConditionSyntax) -> int:
    """How many operators and functions a condition spends."""
    match condition:
        case syntax.Junction(_, conditions):
            total = len(conditions) - 1
            for inner in conditions:
                total += count_operators(inner)
            return total
        case syntax.Negation(inner):
            return 1 + count_operators(inner)
        case syntax.Comparison(_, left, right):
            return 1 + _count_calls((left, right))
        case syntax.Range(operand, lower, upper):
            return 1 + _count_calls((operand, lower, upper))
        case syntax.Membership(operand, candidates):
            return 1 + _count_calls((operand, *candidates))
        case syntax.Call(_, arguments):
            return 1 + _count_calls(arguments)
        case _:
            assert_never(condition)


def count_action_operators(action: syntax.ActionSyntax) -> int:
    """How many operators and functions one action of an update expression spends."""
    match action.operand:
        case None:
            return 0
        case syntax.Sum(_, left, right):
            return 1 + _count_calls((left, right))
        case operand:
            return _count_calls((operand,))


def _count_calls(operands: tuple[syntax.Operand, ...]) -> int:
    return sum(
        1 + _count_calls(operand.arguments) for operand in operands if isinstance(operand, syntax.Call)
    )
