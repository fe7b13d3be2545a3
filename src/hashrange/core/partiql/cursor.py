"""A position in the tokens of one statement."""

from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.lexer import Kind, Token, tokenize

# Statements are written by hand or by tools; the bound keeps hostile text from exhausting the stack.
_DEPTH_MAX = 64
# The names of symbols in the messages of the PartiQL parser that the service uses.
_SYMBOL_NAMES = {
    "(": "LEFT_PAREN",
    ")": "RIGHT_PAREN",
    "]": "RIGHT_BRACKET",
    "}": "RIGHT_CURLY",
    ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
    ":": "COLON",
}


class Cursor:
    """Reads the tokens of one statement from left to right."""

    def __init__(self, statement: str) -> None:
        self._tokens = tokenize(statement)
        self._at = 0
        self._depth = 0
        self.token = self._tokens[0]  # the token under the cursor
        self.parameters = 0

    @property
    def following(self) -> Token:
        """The token after the one under the cursor; the end stays the end."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Step over the token under the cursor and return it."""
        token = self.token
        if token.kind is not Kind.END:
            self._at += 1
            self.token = self._tokens[self._at]
        return token

    def at(self, *words: str) -> bool:
        """Whether the cursor stands on one of these keywords or symbols."""
        return self.token.word in words

    def at_name(self) -> bool:
        """Whether the cursor stands on a name, with quotes or without."""
        return self.token.kind in (Kind.WORD, Kind.NAME)

    def skip(self, *words: str) -> bool:
        """Step over one of the keywords or symbols if the cursor stands on it."""
        if self.token.word in words:
            self.advance()
            return True
        return False

    def expect_symbol(self, symbol: str) -> None:
        """Step over the symbol, which must be here."""
        if not self.skip(symbol):
            raise NotWellFormed(f"Expected {_SYMBOL_NAMES[symbol]}")

    def expect_word(self, word: str, message: str) -> None:
        """Step over the keyword, which must be here."""
        if not self.skip(word):
            raise NotWellFormed(message)

    def expect_right_side(self) -> None:
        """Something must follow an operator."""
        if self.token.kind is Kind.END:
            raise NotWellFormed("Missing right-hand side expression of infix operator")

    def nest(self, levels: int = 1) -> None:
        """Enter some levels of nesting, up to the limit."""
        self._depth += levels
        if self._depth > _DEPTH_MAX:
            raise NotWellFormed

    def unnest(self, levels: int = 1) -> None:
        """Leave some levels of nesting."""
        self._depth -= levels

    def count_parameter(self) -> int:
        """The number of the parameter under the cursor; they count from the left."""
        self.parameters += 1
        return self.parameters
