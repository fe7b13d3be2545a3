"""Ion text as values of DynamoDB JSON, a thousand times as fast as the library's parser, which goes by characters.

A type that DynamoDB has nothing for is noted and read over: the values behind it are good. Symbol numbers (`$10`) are
refused: they need a table of symbols, which no text that exports write has.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import orjson

from hashrange.core.limits import NESTING_LEVELS_MAX
from hashrange.core.values import TOO_DEEP, Item, Value
from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.ion_values import FALSE, NOT_ION, NULL, TRUE, Unmapped, no_type, number_text, set_of

# Quantifiers are possessive: what is read is never given back, so that a long string takes no memory.
_TOKEN = re.compile(
    r"""
    [ \t\n\r\v\f]*+
    (?: (?P<string> "[^"\\\n\r]*+ (?:\\.[^"\\\n\r]*+)*+" )
      | (?P<long> '''[^'\\]*+ (?:(?:\\.|'(?!''))[^'\\]*+)*+''' )
      | (?P<quoted> '(?!'')[^'\\\n\r]*+ (?:\\.[^'\\\n\r]*+)*+' )
      | (?P<blob> \{\{ [A-Za-z0-9+/=\s]*+ \}\} )
      | (?P<clob> \{\{ \s*+ (?: "[^"\\]*+(?:\\.[^"\\]*+)*+"
                              | (?:'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''\s*+)++ ) \s*+ \}\} )
      | (?: (?P<based> -?0(?:[xX][0-9a-fA-F_]++|[bB][01_]++) )
          | (?P<timestamp> \d{4} (?:T|-\d\d) [0-9T:.Z+-]*+ )
          | (?P<float> -? (?:0|[1-9](?:_?\d)*+) (?:\.(?:\d(?:_?\d)*+)?)? [eE][+-]?\d++ | [+-]inf )
          | (?P<number> -? (?:0|[1-9](?:_?\d)*+) (?:\.(?:\d(?:_?\d)*+)?)? (?:[dD][+-]?\d++)? )
        ) (?![^{}\[\](),"'\s])
      | (?P<null> null\.[a-z]++ )
      | (?P<name> [A-Za-z_$][A-Za-z0-9_$]*+ )
      | (?P<mark> ::|[{}\[\](:,] )
      | (?P<comment> //[^\n\r]*+ | /\*.*?\*/ )
      | (?P<end> \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)
# What an s-expression may have in it.
_SEXP = re.compile(
    r"""[^()"'{/]++ | [({)/] | "[^"\\]*+(?:\\.[^"\\]*+)*+" | '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''
    | '(?!'')[^'\\]*+(?:\\.[^'\\]*+)*+'""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r\n|.))", re.DOTALL)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "v": "\v", "?": "?",
    '"': '"', "'": "'", "\\": "\\", "/": "/", "\n": "", "\r": "", "\r\n": "",
}  # fmt: skip
_NULL_TYPES = (
    "bool", "int", "float", "decimal", "timestamp", "symbol", "string", "clob", "blob", "list", "sexp", "struct",
    "null",
)  # fmt: skip
_RESERVED = re.compile(r"\$\d+|\$ion_\d+_\d+")  # numbers of symbols, and other versions
_TABLE = "$ion_symbol_table"
_MARKER = "$ion_1_0"
_KEYWORDS = {"null": NULL, "true": TRUE, "false": FALSE}


def values(document: str) -> Iterator[Value | Unmapped]:
    """The top-level values of a text, and in place of those that no item can have why that is so."""
    return _Parser(document).values()


class _Parser:
    """A position in a text, and the token that stands there."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._kind = ""
        self._word = ""
        self._unmapped: str | None = None  # the first thing that no item can have
        self._next()

    def values(self) -> Iterator[Value | Unmapped]:
        while self._kind != "end":
            if self._kind == "name" and self._word == _MARKER:
                self._next()
                continue
            self._unmapped = None
            yield self._outcome(self._value(-1))

    def _outcome(self, value: Value) -> Value | Unmapped:
        return value if self._unmapped is None else Unmapped(self._unmapped)

    def _next(self) -> None:
        """Go on to the next token that is no comment."""
        while True:
            match = _TOKEN.match(self._text, self._at)
            if match is None:
                raise Garbage(NOT_ION)
            self._at = match.end()
            self._kind = match.lastgroup or ""
            if self._kind != "comment":
                self._word = match[self._kind]
                return

    def _take(self) -> str:
        word = self._word
        self._next()
        return word

    def _note(self, message: str) -> Value:
        self._unmapped = self._unmapped or message
        return NULL

    def _value(self, level: int) -> Value:
        """A value with its annotations; the members of an item are at level 1."""
        annotations: list[str] = []
        while True:
            kind = self._kind
            if kind not in ("name", "quoted"):
                return self._plain_value(kind, annotations, level)
            word = self._take()
            if (self._kind, self._word) != ("mark", "::"):
                return self._symbol(kind, word)
            self._next()
            annotations.append(_unquoted(kind, word))
            if annotations == [_TABLE] or len(annotations) > limits.ION_ANNOTATIONS_MAX:
                raise Garbage(NOT_ION)

    def _plain_value(self, kind: str, annotations: list[str], level: int) -> Value:
        if kind == "mark":
            return self._container(annotations, level)
        if kind == "long":
            return {"S": self._long_string()}
        word = self._take()
        match kind:
            case "string":
                return {"S": _unescaped(word[1:-1])}
            case "number":
                return {"N": number_text(word)}
            case "based":
                return {"N": number_text(int(word.replace("_", ""), 0))}
            case "blob":
                return {"B": _blob(word[2:-2])}
            case "null" if word.removeprefix("null.") in _NULL_TYPES:
                return NULL
            case "clob" | "float" | "timestamp":
                return self._note(no_type(kind.upper()))
            case _:
                raise Garbage(NOT_ION)

    def _symbol(self, kind: str, word: str) -> Value:
        if kind == "name":
            if word in _KEYWORDS:
                return _KEYWORDS[word]
            if word == "nan":
                return self._note(no_type("FLOAT"))
        _unquoted(kind, word)
        return self._note(no_type("SYMBOL"))

    def _container(self, annotations: list[str], level: int) -> Value:
        if level > limits.ION_LEVELS_MAX:
            raise Garbage(NOT_ION)
        if level > NESTING_LEVELS_MAX + 1:
            self._note(TOO_DEEP)
        match self._word:
            case "{":
                self._next()
                return {"M": self._struct(level + 1)}
            case "[":
                self._next()
                return self._list_or_set(annotations, self._list(level + 1))
            case "(":
                self._skip_sexp()
                return self._note(no_type("SEXP"))
            case _:
                raise Garbage(NOT_ION)

    def _list_or_set(self, annotations: list[str], members: list[Value]) -> Value:
        try:
            return set_of(annotations, members)
        except Unmapped as unmapped:
            return self._note(str(unmapped))

    def _struct(self, level: int) -> Item:
        members: Item = {}
        while self._word != "}" or self._kind != "mark":
            name = self._field_name()
            if (self._kind, self._word) != ("mark", ":"):
                raise Garbage(NOT_ION)
            self._next()
            unmapped = self._unmapped
            members[name] = value = self._value(level)
            if level == 0 and "M" not in value:
                self._unmapped = unmapped  # no member that a record has
            self._separator("}")
        self._next()
        return members

    def _list(self, level: int) -> list[Value]:
        members = []
        while self._word != "]" or self._kind != "mark":
            members.append(self._value(level))
            self._separator("]")
        self._next()
        return members

    def _separator(self, end: str) -> None:
        """A comma, unless the end comes."""
        if self._kind != "mark" or self._word not in (",", end):
            raise Garbage(NOT_ION)
        if self._word == ",":
            self._next()

    def _field_name(self) -> str:
        kind = self._kind
        if kind == "long":
            return self._long_string()
        word = self._take()
        if kind == "string":
            return _unescaped(word[1:-1])
        if kind == "name" and word in {*_KEYWORDS, "nan"}:
            raise Garbage(NOT_ION)
        return _unquoted(kind, word)

    def _long_string(self) -> str:
        parts = []
        while self._kind == "long":
            parts.append(_unescaped(re.sub("\r\n?", "\n", self._take()[3:-3])))
        return "".join(parts)

    def _skip_sexp(self) -> None:
        depth = 1
        while depth:
            match = _SEXP.match(self._text, self._at)
            if match is None:
                raise Garbage(NOT_ION)
            self._at = match.end()
            depth += {"(": 1, ")": -1}.get(match[0], 0)
        self._next()


def _unquoted(kind: str, word: str) -> str:
    """The name that a symbol is."""
    if kind == "quoted":
        return _unescaped(word[1:-1])
    if kind != "name" or _RESERVED.fullmatch(word):
        raise Garbage(NOT_ION)
    return word


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return str(orjson.loads(f'"{text}"'))  # every escape of JSON is one of Ion
    except orjson.JSONDecodeError:
        pass
    try:
        return _ESCAPE.sub(_character, text).encode("utf-16", "surrogatepass").decode("utf-16")
    except (KeyError, ValueError):
        raise Garbage(NOT_ION) from None


def _blob(text: str) -> str:
    """Base64 as DynamoDB JSON has it: without white space, and with zeros for the bits that say nothing."""
    try:
        return b64encode(b64decode("".join(text.split()), validate=True)).decode("ascii")
    except ValueError:
        raise Garbage(NOT_ION) from None


def _character(match: re.Match[str]) -> str:
    code: Any = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPES[match[4]]
