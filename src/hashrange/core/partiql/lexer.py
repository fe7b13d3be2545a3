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
    """One token: quotes are taken off `text`, and `word` has a keyword in capitals."""

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
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {Kind.NAME: '"', Kind.TEXT: "'"}


def tokenize(statement: str) -> list[Token]:
    """All tokens of the statement, the last one being the end of it."""
    tokens = []
    at, line, line_start = 0, 1, 0
    while at < len(statement):
        match = _TOKEN.match(statement, at)
        if match is None or match.lastgroup is None:
            # The service's lexer gives no detail (recorded for a comment that never ends).
            raise NotWellFormed
        if match.lastgroup != "SPACE":
            tokens.append(_token(Kind[match.lastgroup], match.group(), line, at - line_start + 1))
        newlines = match.group().count("\n")
        if newlines:
            line += newlines
            line_start = at + match.group().rindex("\n") + 1
        at = match.end()
    tokens.append(Token(Kind.END, "", "", line, at - line_start + 1, 0))
    return tokens


def _token(kind: Kind, written: str, line: int, column: int) -> Token:
    if kind is Kind.WORD and written.upper() in KEYWORDS:
        return Token(Kind.KEYWORD, written, written.upper(), line, column, len(written))
    if kind is Kind.NUMBER and not decimals.converts(written):
        # A literal that is no number at all stops the service's lexer, before any other error of the text (recorded).
        raise NotWellFormed
    quote = _QUOTES.get(kind)
    text = written if quote is None else written[1:-1].replace(quote * 2, quote)
    return Token(kind, text, "", line, column, len(written))
