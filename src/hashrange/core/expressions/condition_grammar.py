"""The grammar of conditions: NOT binds tighter than AND, and AND tighter than OR."""

from hashrange.core import limits
from hashrange.core.expressions import syntax
from hashrange.core.expressions.cursor import Cursor, redundant_parentheses
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.lexer import Kind

_COMPARATORS: dict[str, syntax.Comparator] = {
    "=": "=",
    "<>": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}


class _Group:
    """The conditions read so far between one pair of parentheses, or in the whole expression."""

    __slots__ = ("alternatives", "bare_group", "negations", "terms")

    def __init__(self) -> None:
        self.alternatives: list[syntax.ConditionSyntax] = []
        self.terms: list[syntax.ConditionSyntax] = []
        self.negations = 0
        self.bare_group = False

    @property
    def fresh(self) -> bool:
        """Whether nothing has been read in it yet."""
        return not (self.negations or self.terms or self.alternatives)

    def add(self, condition: syntax.ConditionSyntax, *, parenthesized: bool) -> None:
        """Add the next condition, behind the NOTs before it."""
        self.bare_group = parenthesized and self.fresh
        for _ in range(self.negations):
            condition = syntax.Negation(condition)
        self.negations = 0
        self.terms.append(condition)

    def connect(self, connective: syntax.Connective) -> None:
        """Note the connective before the next condition."""
        self.bare_group = False
        if connective == "OR":
            self.alternatives.append(_join("AND", self.terms))
            self.terms = []

    def finish(self) -> syntax.ConditionSyntax:
        """Everything in the group as one condition."""
        return _join("OR", [*self.alternatives, _join("AND", self.terms)])


def _join(connective: syntax.Connective, conditions: list[syntax.ConditionSyntax]) -> syntax.ConditionSyntax:
    return conditions[0] if len(conditions) == 1 else syntax.Junction(connective, tuple(conditions))


def condition(cursor: Cursor) -> syntax.ConditionSyntax:
    """Read a condition to its end, on a stack of our own: a text may open thousands of parentheses."""
    groups = [_Group()]
    connectives = 0
    while True:
        connectives += _open(cursor, groups)
        _term(cursor, groups)
        _close(cursor, groups)
        if not (cursor.at_keyword("AND") or cursor.at_keyword("OR")):
            break
        groups[-1].connect("OR" if cursor.advance().text == "OR" else "AND")
        connectives += 1
    if len(groups) > 1:
        raise cursor.error()
    if connectives > limits.EXPRESSION_OPERATORS_MAX:
        # A deeper tree would exhaust Python's stack below; the service may report another flaw of the text first.
        raise too_many_operators()
    return groups[0].finish()


def too_many_operators() -> Flaw:
    """The service stops counting at the first operator too many."""
    return Flaw(
        f"The expression contains too many operators; operator count: {limits.EXPRESSION_OPERATORS_MAX + 1}"
    )


def _open(cursor: Cursor, groups: list[_Group]) -> int:
    """Step over NOTs and opening parentheses, and count the NOTs."""
    negations = 0
    while True:
        if cursor.at_keyword("NOT"):
            cursor.advance()
            groups[-1].negations += 1
            negations += 1
        elif cursor.skip_symbol("("):
            groups.append(_Group())
        else:
            return negations


def _term(cursor: Cursor, groups: list[_Group]) -> None:
    """One condition without connectives; parentheses opened before it may hold its left operand only."""
    left = cursor.bare_operand()
    parentheses = 0
    while len(groups) > 1 and groups[-1].fresh and cursor.at_symbol(")"):
        cursor.advance()
        groups.pop()
        parentheses += 1
    compared = _at_predicate(cursor)
    if not compared and not isinstance(left, syntax.Call):
        raise cursor.error()
    if parentheses > 1:
        raise redundant_parentheses()
    if compared:
        groups[-1].add(_predicate(cursor, left), parenthesized=False)
    elif isinstance(left, syntax.Call):
        groups[-1].add(left, parenthesized=parentheses == 1)


def _at_predicate(cursor: Cursor) -> bool:
    token = cursor.token
    if token.kind is Kind.SYMBOL:
        return token.text in _COMPARATORS
    return token.kind is Kind.KEYWORD and token.text in ("BETWEEN", "IN")


def _predicate(cursor: Cursor, left: syntax.Operand) -> syntax.ConditionSyntax:
    token = cursor.token
    if token.kind is Kind.SYMBOL:
        cursor.advance()
        return syntax.Comparison(_COMPARATORS[token.text], left, cursor.operand())
    if cursor.at_keyword("BETWEEN"):
        cursor.advance()
        lower = cursor.operand()
        cursor.expect_keyword("AND")
        return syntax.Range(left, lower, cursor.operand())
    cursor.expect_keyword("IN")
    return syntax.Membership(left, cursor.operands())


def _close(cursor: Cursor, groups: list[_Group]) -> None:
    """Step over the closing parentheses after a condition."""
    while len(groups) > 1 and cursor.at_symbol(")"):
        cursor.advance()
        group = groups.pop()
        if group.bare_group:
            raise redundant_parentheses()
        groups[-1].add(group.finish(), parenthesized=True)
