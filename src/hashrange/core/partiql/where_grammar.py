"""The grammar of WHERE. To PartiQL a condition is a boolean value, so that it can itself be compared."""

from collections.abc import Callable
from typing import Literal as OneOf

from hashrange.core import limits
from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved, value_checks
from hashrange.core.partiql import literals
from hashrange.core.partiql.cursor import Cursor
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.lexer import Kind
from hashrange.core.partiql.type_names import TYPE_CODES, TypeName

Term = resolved.Operand | resolved.Node
Bracket = OneOf["[", "("]

_COMPARATORS: dict[str, resolved.Comparator] = {
    "=": "=",
    "<>": "<>",
    "!=": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_TRUE, _FALSE = resolved.Literal({"BOOL": True}), resolved.Literal({"BOOL": False})


def condition(cursor: Cursor) -> resolved.Node:
    """A whole condition."""
    return _holds(cursor, _any(cursor))


def _holds(cursor: Cursor, term: Term) -> resolved.Node:
    if isinstance(term, resolved.Operand):
        raise cursor.unexpected()
    return term


def _any(cursor: Cursor) -> Term:
    first = _all(cursor)
    if not cursor.at_word("OR"):
        return first
    conditions = [_holds(cursor, first)]
    while cursor.skip_word("OR"):
        cursor.expect_right_side()
        conditions.append(_holds(cursor, _all(cursor)))
    return resolved.Or(tuple(conditions))


def _all(cursor: Cursor) -> Term:
    """Conditions with AND between them; those in parentheses join in, so that key equalities are seen."""
    first = _negated(cursor)
    if not cursor.at_word("AND"):
        return first
    conditions = _spliced(_holds(cursor, first))
    while cursor.skip_word("AND"):
        cursor.expect_right_side()
        conditions += _spliced(_holds(cursor, _negated(cursor)))
    return resolved.And(tuple(conditions))


def _spliced(node: resolved.Node) -> list[resolved.Node]:
    return list(node.conditions) if isinstance(node, resolved.And) else [node]


def _negated(cursor: Cursor) -> Term:
    negations = 0
    while cursor.skip_word("NOT"):
        negations += 1
        cursor.nest()
    term = _compared(cursor)
    for _ in range(negations):
        term = resolved.Not(_holds(cursor, term))
    cursor.unnest(negations)
    return term


def _compared(cursor: Cursor) -> Term:
    """One term and any number of comparisons behind it."""
    term = _term(cursor)
    levels = 0
    while True:
        if cursor.token.kind is Kind.SYMBOL and cursor.token.text in _COMPARATORS:
            term = _comparison(cursor, term)
        elif cursor.at_word("NOT") and cursor.following.word in ("BETWEEN", "IN", "LIKE"):
            cursor.advance()
            term = resolved.Not(_negatable(cursor, term))
        elif cursor.at_word("BETWEEN", "IN", "LIKE"):
            term = _negatable(cursor, term)
        elif cursor.at_word("IS"):
            term = _of_type(cursor, term)
        elif cursor.at_symbol("+", "-", "*", "/", "%", "||"):
            raise literals.unsupported_operator(cursor.token.text)
        else:
            cursor.unnest(levels)
            return term
        cursor.nest()
        levels += 1


def _negatable(cursor: Cursor, term: Term) -> resolved.Node:
    """BETWEEN or IN, before which NOT may stand."""
    match cursor.advance().word:
        case "BETWEEN":
            return _span(cursor, term)
        case "IN":
            return _membership(cursor, term)
        case word:
            raise literals.unsupported_operator(word.lower())


def _comparison(cursor: Cursor, left: Term) -> resolved.Node:
    comparator = _COMPARATORS[cursor.advance().text]
    cursor.expect_right_side()
    if cursor.at_word("MISSING"):
        return _missing(cursor, left, negated=comparator == "<>")
    right = _term(cursor)
    if isinstance(left, resolved.Operand) and isinstance(right, resolved.Operand):
        return _plain(cursor, comparator, left, right)
    if comparator not in ("=", "<>"):
        raise Invalid(value_checks.wrong_type(comparator, "BOOL").detail)
    same = _same_truth(left, right)
    return same if comparator == "=" else resolved.Not(same)


def _plain(
    cursor: Cursor, comparator: resolved.Comparator, left: resolved.Operand, right: resolved.Operand
) -> resolved.Compare:
    if comparator not in ("=", "<>"):
        cursor.checks += value_checks.type_checks(comparator, (left, right), value_checks.ORDERED_TYPES)
    return resolved.Compare(comparator, left, right)


def _same_truth(left: Term, right: Term) -> resolved.Node:
    """Both are true or both are false; a value that is no boolean is neither."""
    if left in (_TRUE, _FALSE):
        left, right = right, left
    if right in (_TRUE, _FALSE):
        return _truth(left, right)
    return resolved.Or(
        (
            resolved.And((_truth(left, _TRUE), _truth(right, _TRUE))),
            resolved.And((_truth(left, _FALSE), _truth(right, _FALSE))),
        )
    )


def _truth(term: Term, expected: resolved.Literal) -> resolved.Node:
    if isinstance(term, resolved.Operand):
        return resolved.Compare("=", term, expected)
    return term if expected == _TRUE else resolved.Not(term)


def _span(cursor: Cursor, term: Term) -> resolved.Between:
    cursor.expect_right_side()
    lower = _term(cursor)
    cursor.expect_word("AND", "Expected AND keyword")
    upper = _term(cursor)
    operand, low, high = (_operand(part, "BETWEEN") for part in (term, lower, upper))
    cursor.checks += value_checks.type_checks("BETWEEN", (low, high), value_checks.ORDERED_TYPES)
    if isinstance(low, resolved.Known) and isinstance(high, resolved.Known):
        cursor.checks.append(value_checks.Bounds(low, high))
    return resolved.Between(operand, low, high)


def _membership(cursor: Cursor, term: Term) -> resolved.Node:
    cursor.expect_right_side()
    candidates = _candidates(cursor)
    if len(candidates) > limits.IN_OPERANDS_MAX:
        cursor.checks.append(
            value_checks.Fault(
                f"The IN operator is provided with too many operands; number of operands: {len(candidates)}"
            )
        )
    operands = tuple(candidate for candidate in candidates if isinstance(candidate, resolved.Operand))
    if len(operands) == len(candidates) and isinstance(
        term, resolved.Path | resolved.Literal | resolved.Parameter | resolved.Size
    ):
        return resolved.In(term, operands)
    return resolved.Or(tuple(_same_truth(term, candidate) for candidate in candidates))


def _candidates(cursor: Cursor) -> list[Term]:
    closing = "]" if cursor.skip_symbol("[") else ")"
    if closing == ")" and not cursor.skip_symbol("("):
        raise cursor.unexpected()
    candidates = [_term(cursor)]
    while cursor.skip_symbol(","):
        candidates.append(_term(cursor))
    cursor.expect_symbol(closing)
    return candidates


def _of_type(cursor: Cursor, term: Term) -> resolved.Node:
    """IS [NOT] followed by MISSING, NULL or another type; a missing attribute has no type."""
    cursor.advance()
    negated = cursor.skip_word("NOT")
    if cursor.at_word("MISSING"):
        return _missing(cursor, term, negated=negated)
    codes = TYPE_CODES.get(cursor.token.word)
    if codes is None:
        raise NotWellFormed("Expected type name")
    cursor.advance()
    path = _only_path(term, "IS")
    tests: list[resolved.Node] = [
        resolved.AttributeType(path, resolved.Literal({"S": code})) for code in codes
    ]
    node = tests[0] if len(tests) == 1 else resolved.Or(tuple(tests))
    return resolved.Not(node) if negated else node


def _missing(cursor: Cursor, term: Term, *, negated: bool) -> resolved.Node:
    cursor.advance()
    path = _only_path(term, "MISSING")
    return resolved.AttributeExists(path) if negated else resolved.AttributeNotExists(path)


def _only_path(term: Term, function: str) -> resolved.Path:
    if not isinstance(term, resolved.Path):
        raise Invalid(f"Operator or function requires a document path; operator or function: {function}")
    return term


def _term(cursor: Cursor) -> Term:
    if literals.at_value(cursor):
        return literals.value(cursor)
    if cursor.skip_symbol("("):
        cursor.nest()
        term = _any(cursor)
        cursor.expect_symbol(")")
        cursor.unnest()
        return term
    function = cursor.call(*_FUNCTIONS)
    if function is not None:
        return _FUNCTIONS[function.word](cursor)
    path = cursor.path()
    if cursor.at_symbol("("):
        raise Invalid(f"Invalid function name; function: {path.parts[-1]}")
    return path


def _arguments(cursor: Cursor, function: str, count: int) -> list[Term]:
    arguments = [] if cursor.at_symbol(")") else [_term(cursor)]
    while arguments and cursor.skip_symbol(","):
        arguments.append(_term(cursor))
    cursor.expect_symbol(")")
    if len(arguments) != count:
        raise Invalid(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {function}, number of operands: {len(arguments)}"
        )
    return arguments


def _operand(term: Term, function: str) -> resolved.Operand:
    if isinstance(term, resolved.Operand):
        return term
    raise Invalid(value_checks.wrong_type(function, "BOOL").detail)


def _begins_with(cursor: Cursor) -> resolved.Node:
    operand, prefix = (_operand(term, "begins_with") for term in _arguments(cursor, "begins_with", 2))
    cursor.checks += value_checks.type_checks("begins_with", (operand, prefix), value_checks.PREFIX_TYPES)
    return resolved.BeginsWith(operand, prefix)


def _contains(cursor: Cursor) -> resolved.Node:
    operand, member = (_operand(term, "contains") for term in _arguments(cursor, "contains", 2))
    return resolved.Contains(operand, member)


def _attribute_type(cursor: Cursor) -> resolved.Node:
    operand, name = (_operand(term, "attribute_type") for term in _arguments(cursor, "attribute_type", 2))
    if not isinstance(name, resolved.Known):
        raise Invalid(
            value_checks.wrong_type(
                "attribute_type", "N" if isinstance(name, resolved.Size) else "PATH"
            ).detail
        )
    cursor.checks += [value_checks.Typed("attribute_type", name, value_checks.STRING_TYPES), TypeName(name)]
    return resolved.AttributeType(operand, name)


def _exists(cursor: Cursor) -> resolved.Node:
    (term,) = _arguments(cursor, "attribute_exists", 1)
    return resolved.AttributeExists(_only_path(term, "attribute_exists"))


def _not_exists(cursor: Cursor) -> resolved.Node:
    (term,) = _arguments(cursor, "attribute_not_exists", 1)
    return resolved.AttributeNotExists(_only_path(term, "attribute_not_exists"))


def _size(cursor: Cursor) -> resolved.Operand:
    (term,) = _arguments(cursor, "size", 1)
    return resolved.Size(_only_path(term, "size"))


_FUNCTIONS: dict[str, Callable[[Cursor], Term]] = {
    "BEGINS_WITH": _begins_with,
    "CONTAINS": _contains,
    "ATTRIBUTE_TYPE": _attribute_type,
    "ATTRIBUTE_EXISTS": _exists,
    "ATTRIBUTE_NOT_EXISTS": _not_exists,
    "SIZE": _size,
}
