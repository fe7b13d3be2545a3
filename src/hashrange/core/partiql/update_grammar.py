"""The grammar of SET and REMOVE."""

import msgspec

from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved, value_checks
from hashrange.core.expressions.document_paths import PathTree
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import known_value
from hashrange.core.partiql import literals
from hashrange.core.partiql.cursor import Cursor
from hashrange.core.partiql.errors import NotWellFormed

_SETS = frozenset({"SS", "NS", "BS"})


class SetOperand(msgspec.Struct, frozen=True):
    """The second argument of SET_ADD and SET_DELETE must be a set."""

    function: str
    operand: resolved.Known
    position: str

    def run(self, values: resolved.Values) -> None:
        """The value must be a set."""
        if next(iter(known_value(self.operand, values))) not in _SETS:
            raise Flaw(not_a_set(self.function, self.position))


def not_a_set(function: str, position: str) -> str:
    """The service's words for a second argument that is no set; the position is that of the first argument."""
    return f"The second argument to {function} must be a value with type SET at {position}"


def actions(cursor: Cursor) -> tuple[resolved.Action, ...]:
    """All SET and REMOVE clauses, of which there must be at least one."""
    parsed: list[resolved.Action] = []
    while cursor.at_word("SET", "REMOVE"):
        read = _assignment if cursor.advance().word == "SET" else _removal
        parsed.append(read(cursor))
        while cursor.skip_symbol(","):
            parsed.append(read(cursor))
    if not parsed:
        raise NotWellFormed("Expected data manipulation")
    _check_paths(cursor, [action.path for action in parsed])
    return tuple(parsed)


def _check_paths(cursor: Cursor, paths: list[resolved.Path]) -> None:
    """No two paths may overlap or conflict; like in update expressions, the last one is checked first."""
    tree = PathTree()
    for path in reversed(paths):
        problem = tree.add(path)
        if problem is not None:
            cursor.checks.append(value_checks.Fault(problem))


def _removal(cursor: Cursor) -> resolved.Remove:
    return resolved.Remove(cursor.simple_path())


def _assignment(cursor: Cursor) -> resolved.Action:
    target = cursor.simple_path()
    if not cursor.skip_symbol("="):
        raise NotWellFormed("Expected '='")
    function = cursor.call("SET_ADD", "SET_DELETE")
    if function is None:
        return resolved.Set(target, _sum(cursor))
    argument = cursor.token
    if cursor.path() != target:
        raise Invalid(
            f"The first argument to {function.word} must equal the assignment value at {function.position}"
        )
    cursor.expect_symbol(",")
    if not literals.at_value(cursor):
        raise Invalid(not_a_set(function.word, argument.position))
    members = literals.value(cursor)
    cursor.expect_symbol(")")
    cursor.checks.append(SetOperand(function.word, members, argument.position))
    return resolved.Add(target, members) if function.word == "SET_ADD" else resolved.Delete(target, members)


def _sum(cursor: Cursor) -> resolved.Assigned:
    total = _assigned(cursor)
    levels = 0
    while cursor.at_symbol("+", "-"):
        cursor.nest()
        levels += 1
        operator = "+" if cursor.advance().text == "+" else "-"
        cursor.expect_right_side()
        right = _assigned(cursor)
        _check_types(cursor, operator, (total, right), value_checks.NUMBER_TYPES)
        total = resolved.Arithmetic("+" if operator == "+" else "-", total, right)
    cursor.unnest(levels)
    return total


def _check_types(
    cursor: Cursor, operator: str, operands: tuple[resolved.Assigned, ...], allowed: frozenset[str]
) -> None:
    """Note checks for the types that the request fixes; those of paths and functions depend on the item."""
    cursor.checks += [
        value_checks.Typed(operator, operand, allowed)
        for operand in operands
        if isinstance(operand, resolved.Known)
    ]


def _assigned(cursor: Cursor) -> resolved.Assigned:
    if literals.at_value(cursor):
        return literals.value(cursor)
    cursor.nest()
    if cursor.skip_symbol("("):
        assigned = _sum(cursor)
        cursor.expect_symbol(")")
    else:
        function = cursor.call("LIST_APPEND", "IF_NOT_EXISTS")
        assigned = cursor.path() if function is None else _call(cursor, function.word)
    cursor.unnest()
    if isinstance(assigned, resolved.Path) and cursor.at_symbol("("):
        raise Invalid(f"Invalid function name; function: {assigned.parts[-1]}")
    return assigned


def _call(cursor: Cursor, function: str) -> resolved.Assigned:
    first = _sum(cursor)
    cursor.expect_symbol(",")
    second = _sum(cursor)
    cursor.expect_symbol(")")
    if function == "LIST_APPEND":
        _check_types(cursor, "list_append", (first, second), value_checks.LIST_TYPES)
        return resolved.ListAppend(first, second)
    if not isinstance(first, resolved.Path):
        raise Invalid("Operator or function requires a document path; operator or function: if_not_exists")
    return resolved.IfNotExists(first, second)
