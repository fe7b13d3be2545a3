"""Expressions of generated code, before they are written in a language.

Both languages write calls, names and JSON alike but for true, false and null; what else they do differently is in
the helpers that each generated file begins with.
"""

from __future__ import annotations

import builtins
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_TYPESCRIPT_WORDS = """
    any arguments await boolean break case catch class const continue debugger default delete do
    else enum eval export extends false finally for function if implements import in instanceof
    interface let never new null number object package private protected public return static
    string super switch symbol this throw true try type typeof undefined unknown var void while
    with yield
"""
_OWN_WORDS = frozenset(
    ["Any", "Decimal", "Key", "Literal", "Number", "Request", "Sequence", "TypedDict", "Uint8Array"]
)
_WORDS = _OWN_WORDS | {*_TYPESCRIPT_WORDS.split(), *keyword.kwlist, *dir(builtins)}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a helper."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """An argument of the function around it."""

    name: str


Node = Call | Variable | str | int | float | bool | Sequence["Node"] | Mapping[str, "Node"] | None


@dataclass
class Names:
    """Names of one scope: each an identifier in both languages, and none twice."""

    taken: set[str] = field(default_factory=set)

    def take(self, text: str) -> str:
        """A name like the text."""
        words = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "value"
        name = f"n{words}" if words[0].isdigit() else words
        while name in self.taken or name in _WORDS:
            name += "_"
        self.taken.add(name)
        return name


def text_literal(text: str) -> str:
    """A text in double quotes, as both languages read it."""
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff]", lambda char: f"\\u{ord(char[0]):04x}", quoted)


@dataclass(frozen=True, slots=True)
class Constants:
    """What a language calls true, false and nothing."""

    true: str
    false: str
    nothing: str


def written(node: Node, constants: Constants, indent: int = 0) -> str:
    """The code of an expression; mappings and lists have a line for each member."""
    match node:
        case None:
            return constants.nothing
        case bool():
            return constants.true if node else constants.false
        case int() | float():
            return repr(node)
        case str():
            return text_literal(node)
        case Variable():
            return node.name
        case Call():
            inside = ", ".join(written(part, constants, indent) for part in node.arguments)
            return f"{node.function}({inside})"
        case Mapping():
            members = [
                f"{text_literal(key)}: {written(part, constants, indent + 4)}" for key, part in node.items()
            ]
            return _lines("{", members, "}", indent)
        case _:
            return _lines("[", [written(part, constants, indent + 4) for part in node], "]", indent)


def _lines(first: str, members: list[str], last: str, indent: int) -> str:
    if not members:
        return first + last
    inside = "".join(f"{' ' * (indent + 4)}{member},\n" for member in members)
    return f"{first}\n{inside}{' ' * indent}{last}"
