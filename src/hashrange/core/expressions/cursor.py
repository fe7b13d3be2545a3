"""Reads the tokens of one expression, and the operands that all kinds of expressions share."""

from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.lexer import Kind, Token, syntax_error, tokenize, utf16_units
from hashrange.core.expressions.syntax import Call, Operand, PathRef, ValueRef

# No legal expression nests calls deeper than two; the bound keeps hostile text from exhausting the stack.
_CALL_DEPTH_MAX = 64


class Cursor:
    """A position in the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._text = utf16_units(text)
        self._tokens = tokenize(self._text)
        self._at = 0

    @property
    def token(self) -> Token:
        """The token under the cursor."""
        return self._tokens[self._at]

    @property
    def following(self) -> Token:
        """The token after the one under the cursor, which must not be the end."""
        return self._tokens[self._at + 1]

    def advance(self) -> Token:
        """Step over the token under the cursor and return it."""
        token = self._tokens[self._at]
        self._at += 1
        return token

    def error(self) -> Flaw:
        """A syntax error at the token under the cursor."""
        return syntax_error(self._text, self._tokens, self._at)

    def at_symbol(self, symbol: str) -> bool:
        """Whether the cursor stands on this symbol."""
        token = self.token
        return token.kind is Kind.SYMBOL and token.text == symbol

    def at_keyword(self, word: str) -> bool:
        """Whether the cursor stands on this keyword."""
        token = self.token
        return token.kind is Kind.KEYWORD and token.text == word

    def skip_symbol(self, symbol: str) -> bool:
        """Step over the symbol if the cursor stands on it."""
        if self.at_symbol(symbol):
            self._at += 1
            return True
        return False

    def expect_symbol(self, symbol: str) -> None:
        """Step over the symbol, which must be here."""
        if not self.skip_symbol(symbol):
            raise self.error()

    def expect_keyword(self, word: str) -> None:
        """Step over the keyword, which must be here."""
        if not self.at_keyword(word):
            raise self.error()
        self._at += 1

    def expect_end(self) -> None:
        """Nothing may be left."""
        if self.token.kind is not Kind.END:
            raise self.error()

    def path(self) -> PathRef:
        """A document path: a name, then any number of .name and [index]."""
        parts: list[str | int] = [self._path_name()]
        while True:
            if self.skip_symbol("."):
                parts.append(self._path_name())
            elif self.skip_symbol("["):
                if self.token.kind is not Kind.NUMBER:
                    raise self.error()
                parts.append(int(self.advance().text))
                self.expect_symbol("]")
            else:
                return PathRef(tuple(parts))

    def _path_name(self) -> str:
        if self.token.kind not in (Kind.NAME, Kind.NAME_PLACEHOLDER):
            raise self.error()
        return self.advance().text

    def value(self) -> ValueRef:
        """A :placeholder."""
        if self.token.kind is not Kind.VALUE_PLACEHOLDER:
            raise self.error()
        return ValueRef(self.advance().text)

    def operand(self, depth: int = 0) -> Operand:
        """A path, a value or a function call, in at most one pair of parentheses."""
        opened = 0
        while self.skip_symbol("("):
            opened += 1
        operand = self.bare_operand(depth)
        for closed in range(opened):
            self.expect_symbol(")")
            if closed:
                raise redundant_parentheses()
        return operand

    def bare_operand(self, depth: int = 0) -> Operand:
        """A path, a value or a function call, without parentheses around it."""
        token = self.token
        if token.kind is Kind.VALUE_PLACEHOLDER:
            return self.value()
        if token.kind is Kind.NAME and self.following.text == "(" and self.following.kind is Kind.SYMBOL:
            return self._call(depth)
        return self.path()

    def _call(self, depth: int) -> Call:
        function = self.advance().text
        if depth > _CALL_DEPTH_MAX:
            raise Flaw(f"Invalid function name; function: {function}")
        return Call(function, self.operands(depth + 1))

    def operands(self, depth: int = 0) -> tuple[Operand, ...]:
        """Operands in parentheses, one at least."""
        self.expect_symbol("(")
        operands = [self.operand(depth)]
        while self.skip_symbol(","):
            operands.append(self.operand(depth))
        self.expect_symbol(")")
        return tuple(operands)


def redundant_parentheses() -> Flaw:
    """Two pairs of parentheses directly around the same thing."""
    return Flaw("The expression has redundant parentheses;")
