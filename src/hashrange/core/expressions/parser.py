"""Parses conditions, updates and projections, with every check that needs the text alone."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from hashrange.core.expressions import syntax, syntax_checks
from hashrange.core.expressions.condition_grammar import condition
from hashrange.core.expressions.cursor import Cursor, redundant_parentheses
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.lexer import Kind

_CACHED_TEXTS = 512
# A tree takes a hundred times the room of its text: 512 trees of 4 KB would take 200 MB.
_CACHED_CHARS_MAX = 256

Parsed = TypeVar("Parsed")


def _cached(parse: Callable[[str], Parsed]) -> Callable[[str], Parsed]:
    """Remember the trees of short texts."""
    cached = lru_cache(maxsize=_CACHED_TEXTS)(parse)

    @wraps(parse)
    def parsed(text: str) -> Parsed:
        return cached(text) if len(text) <= _CACHED_CHARS_MAX else parse(text)

    return parsed


@_cached
def parse_condition(text: str) -> syntax.ConditionText:
    """A condition, filter or key condition expression."""
    cursor = Cursor(text)
    tree = condition(cursor)
    cursor.expect_end()
    syntax_checks.check_condition(tree)
    return syntax.ConditionText(tree, syntax_checks.count_operators(tree))


@_cached
def parse_projection(text: str) -> syntax.ProjectionText:
    """A projection expression."""
    cursor = Cursor(text)
    paths = [cursor.path()]
    while cursor.skip_symbol(","):
        paths.append(cursor.path())
    cursor.expect_end()
    for path in paths:
        syntax_checks.check_path(path)
    return syntax.ProjectionText(tuple(paths))


@_cached
def parse_update(text: str) -> syntax.UpdateText:
    """An update expression."""
    cursor = Cursor(text)
    sections = [_section(cursor)]
    while cursor.token.kind is not Kind.END:
        sections.append(_section(cursor))
    seen: set[str] = set()
    actions: list[syntax.ActionSyntax] = []
    for name, section_actions in sections:
        if name in seen:
            raise Flaw(f'The "{name}" section can only be used once in an update expression;')
        seen.add(name)
        for action in section_actions:
            syntax_checks.check_action(action)
        actions += section_actions
    return syntax.UpdateText(
        tuple(actions), sum(syntax_checks.count_action_operators(action) for action in actions)
    )


def _section(cursor: Cursor) -> tuple[syntax.Section, list[syntax.ActionSyntax]]:
    token = cursor.token
    if token.kind is not Kind.KEYWORD:
        raise cursor.error()
    match token.text:
        case "SET" | "REMOVE" | "ADD" | "DELETE" as name:
            cursor.advance()
            actions = [_action(cursor, name)]
            while cursor.skip_symbol(","):
                actions.append(_action(cursor, name))
            return name, actions
        case _:
            raise cursor.error()


def _action(cursor: Cursor, section: syntax.Section) -> syntax.ActionSyntax:
    target = cursor.path()
    match section:
        case "SET":
            cursor.expect_symbol("=")
            return syntax.ActionSyntax(section, target, _assigned(cursor))
        case "REMOVE":
            return syntax.ActionSyntax(section, target, None)
        case "ADD" | "DELETE":
            return syntax.ActionSyntax(section, target, cursor.value())


def _assigned(cursor: Cursor) -> syntax.Operand | syntax.Sum:
    """The right-hand side of SET: an operand, or the sum of two, in at most one pair of parentheses."""
    opened = 0
    while cursor.skip_symbol("("):
        opened += 1
    value: syntax.Operand | syntax.Sum = cursor.bare_operand()
    closed = 0
    grouped = False
    while True:
        if closed < opened and cursor.skip_symbol(")"):
            closed += 1
            if grouped:
                raise redundant_parentheses()
            grouped = True
        elif cursor.at_symbol("+") or cursor.at_symbol("-"):
            if isinstance(value, syntax.Sum):
                raise cursor.error()
            sign = cursor.advance().text
            value = syntax.Sum("+" if sign == "+" else "-", value, cursor.operand())
            grouped = False
        elif closed < opened:
            raise cursor.error()
        else:
            return value
