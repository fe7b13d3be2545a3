"""SET and REMOVE as the actions of an update expression."""

import msgspec

from hashrange.core.expressions import resolved, value_checks
from hashrange.core.expressions.document_paths import PathTree
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import known_value
from hashrange.core.partiql import condition_translation, literals, operands, tree
from hashrange.core.partiql.keywords import AGGREGATES
from hashrange.core.partiql.syntax import Check
from hashrange.core.partiql.translator import Translator
from hashrange.core.partiql.tree import Node

_SETS = frozenset({"SS", "NS", "BS"})
_NOTHING = resolved.Path(("",))


class SetOperand(msgspec.Struct, frozen=True):
    """The second argument of SET_ADD and SET_DELETE must be a set."""

    operand: resolved.Known
    message: str

    def run(self, values: resolved.Values) -> None:
        """The value must be a set."""
        if next(iter(known_value(self.operand, values))) not in _SETS:
            raise Flaw(self.message)


def actions(translator: Translator, parts: tuple[tree.Action, ...]) -> tuple[resolved.Action, ...]:
    """All actions; that paths do not meet is checked before the types of what is assigned."""
    before = translator.checks
    translator.checks = []
    translated = tuple(_action(translator, part) for part in parts)
    types: list[Check] = translator.checks
    translator.checks = before
    _check_paths(translator, [action.path for action in translated])
    translator.checks += types
    return translated


def _check_paths(translator: Translator, paths: list[resolved.Path]) -> None:
    """No two paths may overlap or conflict; like in update expressions, the last one is checked first."""
    known = PathTree()
    for path in reversed(paths):
        problem = known.add(path)
        if problem is not None:
            translator.refuse_later(problem)


def _action(translator: Translator, part: tree.Action) -> resolved.Action:
    match part:
        case tree.Removal(target):
            return resolved.Remove(translator.path(target))
        case tree.Assignment(target, tree.Call() as call) if call.name in ("set_add", "set_delete"):
            return _set_action(translator, translator.path(target), call)
        case tree.Assignment(target, value):
            return resolved.Set(translator.path(target), _assigned(translator, value))
        case tree.Insert(token):
            raise translator.fault(
                f"Unsupported FROM ... WHERE ... clause in INSERT statement. at {token.position}"
            )


def _set_action(translator: Translator, target: resolved.Path, call: tree.Call) -> resolved.Action:
    function = call.name.upper()
    if len(call.arguments) != 2:
        raise translator.fault(f"{function} must have exactly two arguments at {call.token.position}")
    first, second = call.arguments
    if not isinstance(first, tree.Name | tree.Path) or translator.path(first) != target:
        raise translator.fault(
            f"The first argument to {function} must equal the assignment value at {call.token.position}"
        )
    # The position is that of the first argument (measured).
    message = f"The second argument to {function} must be a value with type SET at {first.token.position}"
    members = _set_members(translator, second, message)
    return resolved.Add(target, members) if function == "SET_ADD" else resolved.Delete(target, members)


def _set_members(translator: Translator, node: Node, message: str) -> resolved.Known:
    if isinstance(node, tree.Placeholder):
        parameter = translator.parameter(node)
        translator.checks.append(SetOperand(parameter, message))
        return parameter
    if not isinstance(node, literals.Kinds):
        raise translator.fault(message)
    literal = literals.literal(translator, node)
    if not _SETS & literal.value.keys():
        raise translator.fault(message)
    return literal


def _assigned(translator: Translator, node: Node) -> resolved.Assigned:
    match node:
        case tree.Operation():
            return _arithmetic(translator, node)
        case tree.Call():
            return _call(translator, node)
        case _:
            return operands.operand(translator, node)


def _arithmetic(translator: Translator, node: tree.Operation) -> resolved.Assigned:
    if node.operator not in ("+", "-"):
        raise translator.fault(
            f"Unsupported operator in Update Expression. Operator: {node.operator.lower()}"
        )
    operands = [_assigned(translator, operand) for operand in node.operands]
    if len(operands) != 2:
        return _miscounted(translator, node.operator, len(operands))
    left, right = operands
    _check_types(translator, node.operator, (left, right), value_checks.NUMBER_TYPES)
    return resolved.Arithmetic("+" if node.operator == "+" else "-", left, right)


def _miscounted(translator: Translator, function: str, count: int) -> resolved.Assigned:
    translator.refuse_later(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {function}, number of operands: {count}"
    )
    return _NOTHING


def _check_types(
    translator: Translator, operator: str, operands: tuple[resolved.Assigned, ...], allowed: frozenset[str]
) -> None:
    """Note checks for the types that the request fixes; those of paths and functions depend on the item."""
    translator.checks += [
        value_checks.Typed(operator, operand, allowed)
        for operand in operands
        if isinstance(operand, resolved.Known)
    ]


def _call(translator: Translator, node: tree.Call) -> resolved.Assigned:
    if node.token.word in AGGREGATES:
        raise translator.fault(f"Unsupported token in expression: {node.name} at {node.token.position}")
    arguments = [_assigned(translator, argument) for argument in node.arguments]
    if node.name in condition_translation.FUNCTION_NAMES:
        translator.refuse_later(f"The function is not allowed in an update expression; function: {node.name}")
        return _NOTHING
    if node.name not in condition_translation.UPDATE_FUNCTIONS:
        raise translator.fault(f"Unrecognized function: {node.name} at {node.token.position}")
    if len(arguments) != 2:
        return _miscounted(translator, node.name, len(arguments))
    first, second = arguments
    if node.name == "list_append":
        _check_types(translator, "list_append", (first, second), value_checks.LIST_TYPES)
        return resolved.ListAppend(first, second)
    if not isinstance(first, resolved.Path):
        translator.refuse_later(
            "Operator or function requires a document path; operator or function: if_not_exists"
        )
        return _NOTHING
    translator.distinct("if_not_exists", first, (second,))
    return resolved.IfNotExists(first, second)
