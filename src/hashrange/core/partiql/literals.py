"""Literals of a statement: text, numbers, booleans, null, lists, maps and bags, in canonical form."""

from collections.abc import Iterator

from hashrange.core import limits, numbers, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions.resolved import Known, Literal
from hashrange.core.partiql import decimals
from hashrange.core.partiql.cursor import Cursor, named
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.lexer import Kind
from hashrange.core.values import Value

ROOT = "root"  # the service's name for the literal as a whole
_WORDS: dict[str, Value] = {"TRUE": {"BOOL": True}, "FALSE": {"BOOL": False}, "NULL": {"NULL": True}}


def at_value(cursor: Cursor) -> bool:
    """Whether a literal or a parameter starts under the cursor."""
    return (
        cursor.token.kind in (Kind.TEXT, Kind.NUMBER)
        or cursor.at_symbol("?", "[", "{", "<<", "+", "-")
        or cursor.at_word(*_WORDS)
    )


def value(cursor: Cursor) -> Known:
    """A literal or a parameter."""
    if cursor.at_symbol("?"):
        return cursor.parameter()
    return Literal(_literal(cursor, ROOT, 0))


def fields(cursor: Cursor) -> Iterator[str]:
    """The names in a map literal: yields each when the cursor is before its value, which the caller must read."""
    cursor.expect_symbol("{")
    while not cursor.at_symbol("}"):
        if cursor.token.kind not in (Kind.TEXT, Kind.NAME):
            raise cursor.unexpected()
        name = named(cursor.advance().text)
        cursor.expect_symbol(":")
        yield name
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol("}")


def _literal(cursor: Cursor, path: str, depth: int) -> Value:
    if depth == limits.NESTING_LEVELS_MAX:
        raise Invalid(f"Nesting Levels have exceeded supported limits under {path}")
    token = cursor.token
    if cursor.at_symbol("?"):
        raise Invalid(f"Unsupported data type: Parameter under key {path} at {token.position}")
    if token.kind is Kind.TEXT:
        return {"S": cursor.advance().text}
    if token.kind is Kind.NUMBER or cursor.at_symbol("+", "-"):
        return {"N": _number(_signed(cursor))}
    if cursor.at_word(*_WORDS):
        return _WORDS[cursor.advance().word]
    if cursor.at_symbol("["):
        return {"L": _members(cursor, path, depth)}
    if cursor.at_symbol("{"):
        return {"M": {name: _literal(cursor, f"{path}.{name}", depth + 1) for name in fields(cursor)}}
    if cursor.at_symbol("<<"):
        return _bag(cursor, path, depth)
    raise cursor.unexpected()


def _number(text: str) -> str:
    try:
        decimals.check(text)
    except Invalid:
        # A literal that is no number at all stops the service's lexer, which gives no detail.
        raise NotWellFormed from None
    return numbers.canonical(text)


def _signed(cursor: Cursor) -> str:
    """A number with any signs before it; nothing else can have a sign."""
    sign, negative = "", False
    while cursor.at_symbol("+", "-"):
        sign = cursor.advance().text
        negative ^= sign == "-"
    if cursor.token.kind is not Kind.NUMBER:
        raise unsupported_operator(sign)
    return ("-" if negative else "") + cursor.advance().text


def unsupported_operator(operator: str) -> Invalid:
    """An operator where the service allows none."""
    return Invalid(f"Unsupported operator in Condition Expression. Operator: {operator}")


def _members(cursor: Cursor, path: str, depth: int) -> list[Value]:
    cursor.expect_symbol("[")
    members: list[Value] = []
    while not cursor.at_symbol("]"):
        members.append(_literal(cursor, f"{path}[{len(members)}]", depth + 1))
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol("]")
    return members


def _bag(cursor: Cursor, path: str, depth: int) -> Value:
    """A set: strings or numbers, all different."""
    cursor.expect_symbol("<<")
    members: list[Value] = []
    written: list[str] = []
    while not cursor.at_symbol(">>"):
        written.append(cursor.token.text)
        members.append(_literal(cursor, path, depth + 1))
        if not cursor.skip_symbol(","):
            break
    cursor.expect_symbol(">>")
    if not members:
        raise Invalid("Empty bags are not supported")
    kinds = {kind for member in members for kind in member}
    if kinds == {"S"}:
        return {"SS": values.sort_strings(_distinct([member["S"] for member in members], written, "."))}
    if kinds == {"N"}:
        distinct = _distinct([member["N"] for member in members], written, "! under root")
        return {"NS": values.sort_numbers(distinct)}
    raise Invalid("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags")


def _distinct(members: list[str], written: list[str], end: str) -> list[str]:
    if len(set(members)) < len(members):
        raise Invalid(
            "One or more parameter values were invalid: "
            f"Input collection [{', '.join(written)}] contains duplicates{end}"
        )
    return members
