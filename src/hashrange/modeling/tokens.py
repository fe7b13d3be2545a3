"""The words of conditions and assignments: names, parameters, literals, operators."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hashrange.modeling.texts import TextInvalid

TEXT_CHARS_MAX = 4000
Kind = Literal["name", "parameter", "number", "text", "symbol", "end"]
_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z_][A-Za-z0-9_]*)*)"
    r"|`(?P<quoted>[^`]{1,255})`"
    r"|\?(?P<parameter>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)"
    r"|\"(?P<double>(?:[^\"\\]|\\[\"\\])*)\""
    r"|'(?P<single>(?:[^'\\]|\\['\\])*)'"
    r"|(?P<symbol><=|>=|<>|!=|==|[=<>(),+-])"
)
_SYMBOLS = {"!=": "<>", "==": "="}


@dataclass(frozen=True, slots=True)
class Token:
    """A word and where it begins. A name in backquotes is never a keyword."""

    kind: Kind
    text: str
    offset: int
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        return self.kind == "name" and not self.quoted and self.text.lower() in words

    def is_symbol(self, symbol: str) -> bool:
        return self.kind == "symbol" and self.text == symbol


def tokens(text: str) -> list[Token]:
    """All words of a text and an end; raise `TextInvalid` where there is none."""
    if len(text) > TEXT_CHARS_MAX:
        raise TextInvalid(f"more than {TEXT_CHARS_MAX} characters", "split the pattern into several")
    return [*_tokens(text), Token("end", "", len(text))]


def _tokens(text: str) -> Iterator[Token]:
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise TextInvalid(
                f"`{text[offset]}` has no meaning here",
                'texts are in quotes ("PAID"), parameters begin with a question mark (?since), '
                "odd attribute names are in backquotes",
                offset=offset,
            )
        if match.lastgroup != "space":
            yield _token(match)
        offset = match.end()


def _token(match: re.Match[str]) -> Token:
    word = match[match.lastgroup or 0]
    match match.lastgroup:
        case "quoted":
            return Token("name", word, match.start(), quoted=True)
        case "double" | "single":
            return Token("text", re.sub(r"\\(.)", r"\1", word), match.start())
        case "parameter":
            return Token("parameter", word, match.start())
        case "number":
            return Token("number", word, match.start())
        case "symbol":
            return Token("symbol", _SYMBOLS.get(word, word), match.start())
        case _:
            return Token("name", word, match.start())


def number(token: Token) -> int | float:
    """The number that a word is; conditions have no others than finite ones."""
    text = token.text
    if len(text) > 40:
        raise TextInvalid("DynamoDB's numbers have 38 digits", offset=token.offset)
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise TextInvalid("a number too large for DynamoDB", offset=token.offset)
    return value
