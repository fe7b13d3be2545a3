"""HCL, as far as definitions of tables need it: blocks, attributes, literals; other expressions stay texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hashrange.modeling.exchange.trees import Branch
from hashrange.modeling.model import Place
from hashrange.modeling.problems import ModelErrors, refused

TEXT_CHARS_MAX = 1_000_000
DEPTH_MAX = 20
_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|#[^\n]*|//[^\n]*|/\*.*?\*/)"
    r"|(?P<newline>\n)"
    r"|(?P<heredoc><<-?[A-Za-z_]+)"
    r"|\"(?P<string>(?:[^\"\\\n]|\\.)*)\""
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_.-]*)"
    r"|(?P<symbol>[^\s])",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_OPEN, _CLOSE = "{[(", "}])"


@dataclass(frozen=True, slots=True)
class Block:
    """`type "label" "label" { … }`; `members` has its attributes, and its inner blocks as lists by their type."""

    type: str
    labels: tuple[str, ...]
    members: Branch


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: Place

    def is_symbol(self, symbols: str) -> bool:
        return self.kind == "symbol" and self.text in symbols


def parse(text: str) -> list[Block]:
    """The blocks of a file."""
    if len(text) > TEXT_CHARS_MAX:
        raise refused(f"the file has more than {TEXT_CHARS_MAX:,} characters")
    return _Parser(text).blocks()


def _tokens(text: str) -> Iterator[_Token]:
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        if kind != "space":
            yield _Token(kind, match[kind], Place(line, match.start() - start + 1))
        lines = match[0].count("\n")
        if lines:
            line, start = line + lines, match.start() + match[0].rindex("\n") + 1
    yield _Token("end", "the end", Place(line, max(1, len(text) - start + 1)))


class _Parser:
    """Bodies within bodies, of bounded depth."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _wrong(self, wanted: str) -> ModelErrors:
        token = self._peek()
        return refused(f"`{token.text[:40]}` where {wanted} should be", "", token.place)

    def _skip_newlines(self, *, commas: bool = False) -> None:
        while self._peek().kind == "newline" or (commas and self._peek().is_symbol(",")):
            self._take()

    def blocks(self) -> list[Block]:
        blocks = []
        self._skip_newlines()
        while self._peek().kind != "end":
            name = self._name()
            if self._peek().is_symbol("="):  # an assignment, as in files of variables
                self._take()
                self._expression(0)
            else:
                blocks.append(self._block(name, 0))
            self._skip_newlines()
        return blocks

    def _name(self) -> str:
        if self._peek().kind not in ("word", "string"):
            raise self._wrong("a name")
        return self._take().text

    def _block(self, name: str, depth: int) -> Block:
        labels = []
        while self._peek().kind in ("word", "string"):
            labels.append(self._take().text)
        if not self._peek().is_symbol("{"):
            raise self._wrong("`{`")
        self._take()
        return Block(name, tuple(labels), self._body(depth + 1))

    def _body(self, depth: int) -> Branch:
        if depth > DEPTH_MAX:
            raise refused(f"nested more than {DEPTH_MAX} deep", "", self._peek().place)
        members: Branch = {}
        self._skip_newlines(commas=True)
        while not self._peek().is_symbol("}"):
            name = self._name()
            if self._peek().is_symbol("=:"):
                self._take()
                members[name] = self._expression(depth)
            else:
                inner = self._block(name, depth)
                members.setdefault(name, [])
                if isinstance(members[name], list):
                    members[name].append(inner.members)
            self._skip_newlines(commas=True)
        self._take()
        return members

    def _expression(self, depth: int) -> object:
        """A literal, or the text of what is more than that."""
        self._skip_newlines()
        start = self._at
        value = self._literal(depth)
        if self._is_over():
            return value
        depths = 0
        while depths or not self._is_over():
            token = self._take()
            if token.kind == "end":
                raise self._wrong("the rest of an expression")
            depths += token.is_symbol(_OPEN) - token.is_symbol(_CLOSE)
        return "".join(token.text for token in self._tokens[start : self._at])

    def _is_over(self) -> bool:
        token = self._peek()
        return token.kind in ("newline", "end") or token.is_symbol(",}])")

    def _literal(self, depth: int) -> object:
        token = self._peek()
        if token.kind == "heredoc":
            raise refused("heredocs are not read", "write the text in quotes", token.place)
        if token.is_symbol("["):
            return self._list(depth + 1)
        if token.is_symbol("{"):
            self._take()
            return self._body(depth + 1)
        if token.kind == "symbol" and not token.is_symbol("(!-"):
            raise self._wrong("a value")
        if token.is_symbol("("):
            return None
        self._take()
        match token.kind:
            case "string":
                return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), token.text)
            case "number":
                return float(token.text) if "." in token.text else int(token.text[:40])
            case "word" if token.text in ("true", "false"):
                return token.text == "true"
            case "word" if token.text == "null":
                return None
            case _:
                return token.text

    def _list(self, depth: int) -> list[object]:
        if depth > DEPTH_MAX:
            raise refused(f"nested more than {DEPTH_MAX} deep", "", self._peek().place)
        self._take()
        items: list[object] = []
        self._skip_newlines(commas=True)
        while not self._peek().is_symbol("]"):
            if self._peek().kind == "end":
                raise self._wrong("`]`")
            items.append(self._expression(depth))
            self._skip_newlines(commas=True)
        self._take()
        return items
