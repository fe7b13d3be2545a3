"""Reads the tokens of one statement, and collects the checks that need its parameters."""

from hashrange.core.errors import Invalid
from hashrange.core.expressions.resolved import Parameter, Path
from hashrange.core.limits import LIST_INDEX_MAX
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.lexer import Kind, Token, tokenize
from hashrange.core.partiql.syntax import Check

_INDEX_DIGITS_MAX = len(str(LIST_INDEX_MAX))
SIMPLE_PATH = "Expected identifier for simple path"
# Statements are written by hand or by tools; the bound keeps hostile text from exhausting the stack.
_DEPTH_MAX = 64
_OPERATORS = frozenset({"AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE"})
_RESERVED = _OPERATORS | {
    *("SELECT", "FROM", "WHERE", "INSERT", "INTO", "UPDATE", "SET", "REMOVE", "DELETE", "RETURNING"),
    *("ORDER", "BY", "AS", "MISSING", "NULL", "TRUE", "FALSE"),
}
# The names of symbols in the messages of the PartiQL parser that the service uses.
_SYMBOL_NAMES = {
    "(": "LEFT_PAREN",
    ")": "RIGHT_PAREN",
    "[": "LEFT_BRACKET",
    "]": "RIGHT_BRACKET",
    "{": "LEFT_CURLY",
    "}": "RIGHT_CURLY",
    "<<": "LEFT_DOUBLE_ANGLE_BRACKET",
    ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
    ":": "COLON",
    ",": "COMMA",
}
_OPERATOR_SYMBOLS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">=", "/", "%", "||"})


def named(name: str) -> str:
    """The name itself; like everywhere else it cannot be empty, but PartiQL has other words for that."""
    if not name:
        raise Invalid("Path component cannot be an empty string")
    return name


class Cursor:
    """A position in the tokens of one statement."""

    def __init__(self, statement: str) -> None:
        self._tokens = tokenize(statement)
        self._at = 0
        self._depth = 0
        self.parameters = 0
        self.checks: list[Check] = []

    @property
    def token(self) -> Token:
        """The token under the cursor."""
        return self._tokens[self._at]

    @property
    def following(self) -> Token:
        """The token after the one under the cursor; the end stays the end."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Step over the token under the cursor and return it."""
        token = self._tokens[self._at]
        if token.kind is not Kind.END:
            self._at += 1
        return token

    def unexpected(self) -> NotWellFormed:
        """The error where the cursor should stand on an expression."""
        token = self.token
        if token.word == "FROM":
            # The parser takes it for the start of FROM … SET.
            return NotWellFormed("Expected data manipulation")
        if token.word in _OPERATORS or (token.kind is Kind.SYMBOL and token.text in _OPERATOR_SYMBOLS):
            return NotWellFormed("Unexpected operator")
        return NotWellFormed("Unexpected keyword" if token.word in _RESERVED else "Unexpected term")

    def expect_right_side(self) -> None:
        """Something must follow an operator."""
        if self.token.kind is Kind.END:
            raise NotWellFormed("Missing right-hand side expression of infix operator")

    def at_symbol(self, *symbols: str) -> bool:
        """Whether the cursor stands on one of these symbols."""
        return self.token.kind is Kind.SYMBOL and self.token.text in symbols

    def at_word(self, *words: str) -> bool:
        """Whether the cursor stands on one of these words."""
        return self.token.word in words if self.token.kind is Kind.WORD else False

    def skip_symbol(self, symbol: str) -> bool:
        """Step over the symbol if the cursor stands on it."""
        if self.at_symbol(symbol):
            self._at += 1
            return True
        return False

    def skip_word(self, word: str) -> bool:
        """Step over the word if the cursor stands on it."""
        if self.at_word(word):
            self._at += 1
            return True
        return False

    def expect_symbol(self, symbol: str) -> None:
        """Step over the symbol, which must be here."""
        if not self.skip_symbol(symbol):
            raise NotWellFormed(f"Expected {_SYMBOL_NAMES[symbol]}")

    def expect_word(self, word: str, message: str) -> None:
        """Step over the word, which must be here."""
        if not self.skip_word(word):
            raise NotWellFormed(message)

    def call(self, *functions: str) -> Token | None:
        """Step over a function's name and its parenthesis, if one of these functions is called here."""
        token = self.token
        if (
            not self.at_word(*functions)
            or self.following.text != "("
            or self.following.kind is not Kind.SYMBOL
        ):
            return None
        self._at += 2
        return token

    def nest(self, levels: int = 1) -> None:
        """Enter some levels of nesting, up to the limit."""
        self._depth += levels
        if self._depth > _DEPTH_MAX:
            raise NotWellFormed

    def unnest(self, levels: int = 1) -> None:
        """Leave some levels of nesting."""
        self._depth -= levels

    def parameter(self) -> Parameter:
        """The parameter whose `?` the cursor stands on; they count from the left."""
        self._at += 1
        self.parameters += 1
        return Parameter(f"?{self.parameters}")

    def name(self, missing: str | None = None) -> str:
        """A name, quoted or a word that means nothing else; `missing` says what is wrong if there is none."""
        token = self.token
        if token.kind is not Kind.NAME and (token.kind is not Kind.WORD or token.word in _RESERVED):
            raise self.unexpected() if missing is None else NotWellFormed(missing)
        self._at += 1
        return named(token.text)

    def path(self, missing: str | None = None) -> Path:
        """A document path: a name, then any number of .name, ['name'] and [index]."""
        parts: list[str | int] = [self.name(missing)]
        while True:
            if self.skip_symbol("."):
                parts.append(self.name("Invalid path dot component"))
            elif self.skip_symbol("["):
                parts.append(self._step())
                self.expect_symbol("]")
            else:
                return Path(tuple(parts))

    def simple_path(self) -> Path:
        """The path that an action of an UPDATE writes to."""
        return self.path(SIMPLE_PATH)

    def _step(self) -> str | int:
        if self.token.kind is Kind.TEXT:
            return named(self.advance().text)
        sign = "-" if self.skip_symbol("-") else ""
        token = self.token
        if token.kind is not Kind.NUMBER or not token.text.isdigit():
            raise self.unexpected()
        self._at += 1
        digits = token.text.lstrip("0") or "0"
        # Python refuses to convert thousands of digits, which a statement may have.
        index = int(sign + digits) if len(digits) <= _INDEX_DIGITS_MAX else LIST_INDEX_MAX + 1
        if not 0 <= index <= LIST_INDEX_MAX:
            raise Invalid(
                f"List index is not within the allowable range; index: [{sign}{token.text}] at {token.position}"
            )
        return index
