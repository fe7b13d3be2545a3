"""Cuts a PartiQL statement into tokens, and drops comments and white space."""

import re
from enum import Enum, auto
from typing import NamedTuple

from hashrange.core.partiql import decimals
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.keywords import KEYWORDS


class Kind(Enum):
    """What a token can be."""

    KEYWORD = auto()
    WORD = auto()  # a name without quotes
    NAME = auto()  # in double quotes
    TEXT = auto()  # in single quotes
    ION = auto()  # in back quotes
    NUMBER = auto()
    SYMBOL = auto()
    END = auto()


class Token(NamedTuple):
    """One token: quotes are taken off `text`; `word` is a keyword in capitals, or a symbol, or nothing."""

    kind: Kind
    text: str
    word: str
    line: int
    column: int
    length: int

    @property
    def position(self) -> str:
        """Where the token stands, as the service's messages say it: line, column, length."""
        return f"{self.line}:{self.column}:{self.length}"


_TOKEN = re.compile(
    r"""
      (?P<SPACE> \s+ | --[^\r\n]* | /\*.*?\*/ )
    | (?P<WORD> [^\W\d][\w$]* | \$[\w$]* )
    | (?P<NAME> "(?:[^"]|"")*" )
    | (?P<TEXT> '(?:[^']|'')*' )
    | (?P<ION> `[^`]*` )
    | (?P<NUMBER> (?: [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<SYMBOL> << | >> | <> | <= | >= | != | \|\| | /(?!\*) | [-+*%=<>(){}\[\],.:;?@] )
    """,
    re.VERBOSE
    | re.DOTALL
    | re.ASCII,  # outside quotes and comments the service knows no other white space or letters
)
_QUOTES = {"NAME": '"', "TEXT": "'"}
_KINDS = {kind.name: kind for kind in Kind}
_EXPONENT_CHARS_MIN = 9  # a number too short for an exponent that does not convert


def tokenize(statement: str) -> list[Token]:
    """All tokens of the statement, the last one being the end of it."""
    tokens = []
    line, line_start, at = 1, 0, 0
    match_next = _TOKEN.scanner(statement).match  # type: ignore[attr-defined]
    while (match := match_next()) is not None:
        group, written = match.lastgroup, match.group()
        if group != "SPACE":
            tokens.append(_token(group, written, line, at - line_start + 1))
        if "\n" in written:
            line += written.count("\n")
            line_start = at + written.rindex("\n") + 1
        at = match.end()
    if at < len(statement):
        # The service's lexer gives no detail (recorded for a comment that never ends).
        raise NotWellFormed
    tokens.append(Token(Kind.END, "", "", line, at - line_start + 1, 0))
    return tokens


def _token(group: str, written: str, line: int, column: int) -> Token:
    length = len(written)
    if group == "SYMBOL":
        return Token(Kind.SYMBOL, written, written, line, column, length)
    if group == "WORD":
        word = written.upper()
        if word in KEYWORDS:
            return Token(Kind.KEYWORD, written, word, line, column, length)
    elif group == "NUMBER":
        # A literal that is no number at all stops the service's lexer, before any other error of the text (recorded).
        if length > _EXPONENT_CHARS_MIN and not decimals.converts(written):
            raise NotWellFormed
    elif group != "ION":
        quote = _QUOTES[group]
        written = written[1:-1].replace(quote * 2, quote)
    return Token(_KINDS[group], written, "", line, column, length)
