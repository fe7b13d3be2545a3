"""From the text of an expression to its tree."""

import re
from typing import NamedTuple, cast

from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.tree import (
    Array,
    Binary,
    BinaryOperator,
    FunctionCall,
    Name,
    Negation,
    Node,
    Number,
    String,
)

_LEVELS_MAX = 40  # of parentheses, functions and signs
_TOKENS_MAX = 800  # a chain of operators is as deep as it is long
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<mark>&&|\|\||<=|>=|==|!=|[-+*/^<>(),\[\]]))"
)
_WORDS = {"AND": "AND", "OR": "OR", "&&": "AND", "||": "OR"}
# How tightly operators bind, all of them to the left. The power, which binds to the right, is apart.
_PRECEDENCES: dict[str, int] = {
    "OR": 1,
    "AND": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/"), 5),
}


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


def parse(expression: str) -> Node:
    """The tree; MathError if there is none."""
    parser = _Parser(_tokens(expression))
    node = parser.expression(0, 0)
    parser.expect_end()
    return node


def _tokens(expression: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, end = 0, len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        if match is None or len(tokens) >= _TOKENS_MAX:
            raise MathError(f"Unexpected character at position {at}")
        kind = str(match.lastgroup)
        text = match[kind]
        word = _WORDS.get(text.upper()) if kind in {"name", "mark"} else None
        tokens.append(_Token(kind, text) if word is None else _Token("mark", word))
        at = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def _next(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take(self) -> _Token:
        token = self._next()
        self._at += 1
        return token

    def _takes(self, mark: str) -> bool:
        if self._next() == _Token("mark", mark):
            self._at += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise MathError(f"Expected '{mark}' but found '{self._next().text or 'the end'}'")

    def expect_end(self) -> None:
        if self._next() is not _END:
            raise MathError(f"Unexpected '{self._next().text}'")

    def expression(self, precedence: int, level: int) -> Node:
        """Operands with the operators between them that bind more tightly than `precedence`."""
        left = self._signed(level)
        while (binding := self._binding()) > precedence:
            operator = cast("BinaryOperator", self._take().text)
            left = Binary(operator, left, self.expression(binding, level))
        return left

    def _binding(self) -> int:
        token = self._next()
        return _PRECEDENCES.get(token.text, 0) if token.kind == "mark" else 0

    def _signed(self, level: int) -> Node:
        if level > _LEVELS_MAX:
            raise MathError("The expression is nested too deep")
        if self._takes("-"):
            return Negation(self._signed(level + 1))
        if self._takes("+"):
            return self._signed(level + 1)
        base = self._operand(level)
        if self._takes("^"):
            return Binary("^", base, self._signed(level + 1))
        return base

    def _operand(self, level: int) -> Node:
        token = self._take()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "text":
            return String(token.text[1:-1])
        if token.kind == "name":
            return self._named(token.text, level)
        if token == _Token("mark", "("):
            inner = self.expression(0, level + 1)
            self._expect(")")
            return inner
        if token == _Token("mark", "["):
            return Array(self._list("]", level))
        raise MathError(f"Unexpected '{token.text or 'end'}'")

    def _named(self, name: str, level: int) -> Node:
        if self._takes("("):
            return FunctionCall(name.upper(), self._list(")", level))
        return Name(name)

    def _list(self, end: str, level: int) -> tuple[Node, ...]:
        if self._takes(end):
            return ()
        elements = [self.expression(0, level + 1)]
        while self._takes(","):
            elements.append(self.expression(0, level + 1))
        self._expect(end)
        return tuple(elements)
