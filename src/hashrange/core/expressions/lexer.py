"""Cuts the text of an expression into tokens. It never fails: the parser says what is wrong."""

import re
from enum import Enum, auto
from typing import NamedTuple

from hashrange.core.expressions.errors import Flaw


class Kind(Enum):
    """What a token can be; OTHER is text that no expression can use: the parser refuses it with its position."""

    NAME = auto()
    NAME_PLACEHOLDER = auto()
    VALUE_PLACEHOLDER = auto()
    NUMBER = auto()
    KEYWORD = auto()
    SYMBOL = auto()
    OTHER = auto()
    END = auto()


class Token(NamedTuple):
    """One token and its position; the `text` of a keyword is always in capitals."""

    kind: Kind
    text: str
    start: int
    end: int


KEYWORDS = frozenset({"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"})

# A quoted string is one token (and never a legal one); digits after a leading zero start a new token.
_TOKEN = re.compile(
    r"""
      (?P<SPACE> [ \t\r\n]+ )
    | (?P<NAME> [A-Za-z][A-Za-z0-9_]* )
    | (?P<NAME_PLACEHOLDER> \#[A-Za-z0-9_]+ )
    | (?P<VALUE_PLACEHOLDER> :[A-Za-z0-9_]+ )
    | (?P<NUMBER> 0 | [1-9][0-9]* )
    | (?P<SYMBOL> <> | <= | >= | [=<>(),.\[\]+-] )
    | (?P<OTHER> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def utf16_units(text: str) -> str:
    """The text with two characters for each that has two units in UTF-16: the service's lexer takes them one by one."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[at] | units[at + 1] << 8) for at in range(0, len(units), 2))


def _rejoined(text: str) -> str:
    """The text with its pairs of UTF-16 units made one character again; a unit cut off from its pair stays one."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    )


def tokenize(text: str) -> list[Token]:
    """All tokens of the text, the last one being the end of it.

    No expression goes on behind OTHER: only the token beside it is read, for the message. Quotes that never end would
    make the rest of the text be looked through once for each of them.
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "SPACE" or group is None:
            continue
        word = match.group()
        kind = Kind[group]
        if kind is Kind.NAME and word.upper() in KEYWORDS:
            kind, word = Kind.KEYWORD, word.upper()
        tokens.append(Token(kind, word, match.start(), match.end()))
        if len(tokens) > 1 and tokens[-2].kind is Kind.OTHER:
            break
    tokens.append(Token(Kind.END, "<EOF>", len(text), len(text)))
    return tokens


def syntax_error(text: str, tokens: list[Token], at: int) -> Flaw:
    """The service shows the offending token and the text from its left to its right neighbour."""
    token = tokens[at]
    shown = token.text if token.kind is Kind.END else text[token.start : token.end]
    left = tokens[at - 1].start if at else 0
    right = tokens[at + 1].end if at + 1 < len(tokens) else token.end
    return Flaw(f'Syntax error; token: "{_rejoined(shown)}", near: "{_rejoined(text[left:right])}"')
