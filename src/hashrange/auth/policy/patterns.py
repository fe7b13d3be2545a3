"""Patterns: text with wildcards and with variables that take their values from the request.

What a variable stands for is never a wildcard, whatever characters it has.
"""

import enum
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hashrange.auth.policy.keys import ConditionKeys

# Blanks are taken off afterwards: a client that sends thousands of them must not make the expression try every split.
_VARIABLE = re.compile(r"\$\{(?P<content>[^{}]*)\}")
_ESCAPES = frozenset("*?$")
_QUOTED = re.compile(r"'[^']*'")
_MISSES_MAX = 32  # places of a run that are tried one by one


class Wildcard(enum.Enum):
    """A piece of a pattern that stands for other text."""

    ONE = "?"
    MANY = "*"


class Variable(NamedTuple):
    """A piece of a pattern that the request fills in."""

    key: str  # in lower case
    default: str | None


Piece = str | Wildcard | Variable


class Pattern:
    """A compiled pattern. One without wildcards and variables is compared as it is."""

    __slots__ = ("_literal", "_pieces", "_prefix", "_runs", "_template", "varies")

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = tuple(_merged(pieces))
        self.varies = any(type(piece) is Variable for piece in self._pieces)  # from request to request
        self._runs = None if self.varies else _runs(self._pieces)
        self._literal = _literal(self._pieces)
        self._prefix = _prefix(self._pieces)
        self._template = _template(self._pieces) if self.varies else None

    def matches(self, text: str, keys: ConditionKeys) -> bool:
        """Whether the whole text fits. With a variable that has neither value nor default, none does."""
        if self._literal is not None:
            return text == self._literal
        if self._prefix is not None:
            return text.startswith(self._prefix)
        if self._template is not None:
            pieces, is_beginning = self._template
            filled = _filled(pieces, keys)
            return filled is not None and (text.startswith(filled) if is_beginning else text == filled)
        runs = self._runs
        if runs is None:
            resolved = _resolved(self._pieces, keys)
            if resolved is None:
                return False
            runs = _runs(resolved)
        return _fits(runs, text)

    def resolved(self, keys: ConditionKeys) -> str | None:
        """The text of a pattern without wildcards; None if a variable has no value."""
        if self._literal is not None:
            return self._literal
        return _filled([piece for piece in self._pieces if not isinstance(piece, Wildcard)], keys)


def compiled(text: str, *, wildcards: bool, variables: bool) -> Pattern:
    """The pattern that a text means, where wildcards or variables have a meaning."""
    return Pattern(list(_pieces(text, wildcards=wildcards, variables=variables)))


def _pieces(text: str, *, wildcards: bool, variables: bool) -> Iterable[Piece]:
    at = 0
    for found in _VARIABLE.finditer(text) if variables else ():
        yield from _wild(text[at : found.start()], wildcards=wildcards)
        content = found["content"].strip()
        yield content if content in _ESCAPES else _variable(content)
        at = found.end()
    yield from _wild(text[at:], wildcards=wildcards)


def _variable(content: str) -> Variable:
    key, comma, default = content.partition(",")
    default = default.strip()
    if comma and "'" not in key and _QUOTED.fullmatch(default):
        return Variable(key.rstrip().lower(), default[1:-1])
    return Variable(content.lower(), None)


def _wild(text: str, *, wildcards: bool) -> Iterable[Piece]:
    if not wildcards:
        yield text
        return
    for part in re.split(r"([*?])", text):
        yield Wildcard(part) if part in {"*", "?"} else part


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The same pieces with neighbouring texts as one, and without empty ones or stars that follow a star."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if piece == "" or (piece is Wildcard.MANY and last is Wildcard.MANY):
            continue
        if isinstance(piece, str) and isinstance(last, str):
            merged[-1] = last + piece
        else:
            merged.append(piece)
    return merged


def _literal(pieces: Sequence[Piece]) -> str | None:
    if not pieces:
        return ""
    only = pieces[0]
    return only if len(pieces) == 1 and isinstance(only, str) else None


def _prefix(pieces: Sequence[Piece]) -> str | None:
    """What a text begins with, if that is all the pattern says."""
    match pieces:
        case [Wildcard.MANY]:
            return ""
        case [str(text), Wildcard.MANY]:
            return text
        case _:
            return None


def _template(pieces: Sequence[Piece]) -> tuple[Sequence[str | Variable], bool] | None:
    """What a text is or begins with once the variables are filled in, if that is all the pattern says."""
    is_beginning = pieces[-1] is Wildcard.MANY
    fixed = [piece for piece in pieces if not isinstance(piece, Wildcard)]
    return (fixed, is_beginning) if len(fixed) + is_beginning == len(pieces) else None


def _filled(pieces: Sequence[str | Variable], keys: ConditionKeys) -> str | None:
    """The text; None if a variable has neither value nor default."""
    texts: list[str] = []
    for piece in pieces:
        text = piece if isinstance(piece, str) else _value(piece, keys)
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


def _value(variable: Variable, keys: ConditionKeys) -> str | None:
    value = keys.get(variable.key)
    # A multivalued key has no one value to stand in a text.
    return value if isinstance(value, str) else variable.default


def _resolved(pieces: Sequence[Piece], keys: ConditionKeys) -> list[Piece] | None:
    resolved: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Variable):
            text = _value(piece, keys)
            if text is None:
                return None
            resolved.append(text)
        else:
            resolved.append(piece)
    return _merged(resolved)


class _Run(NamedTuple):
    """What stands between two stars: texts at fixed offsets."""

    length: int
    texts: tuple[tuple[int, str], ...]

    def fits_at(self, text: str, at: int) -> bool:
        return all(text.startswith(literal, at + offset) for offset, literal in self.texts)

    def found(self, text: str, start: int, end: int) -> int:
        """The first place from `start` on where it fits and ends by `end`; -1 if there is none."""
        if not self.texts:
            return start if start + self.length <= end else -1
        offset, literal = self.texts[0]
        at = start
        for _ in range(_MISSES_MAX):
            at = text.find(literal, at + offset, end) - offset
            if at < start or at + self.length > end:
                return -1
            if self.fits_at(text, at):
                return at
            at += 1
        return self._found_by_bits(text, at, end)

    def _found_by_bits(self, text: str, start: int, end: int) -> int:
        """The same with one step for each character, however many places begin well (the shift-and algorithm).

        Bit n of the state says that the n + 1 characters up to here fit the beginning of the run.
        """
        masks = self._masks()
        anything = masks[""]
        last = 1 << (self.length - 1)
        state = 0
        for at in range(start, end):
            state = (state << 1 | 1) & masks.get(text[at], anything)
            if state & last:
                return at - self.length + 1
        return -1

    def _masks(self) -> dict[str, int]:
        """For each character the places of the run where it may stand; under "" those where any may."""
        places: dict[str, bytearray] = {}
        size = self.length // 8 + 1
        fixed = bytearray(size)
        for offset, literal in self.texts:
            for place, character in enumerate(literal, offset):
                bit = 1 << (place & 7)
                places.setdefault(character, bytearray(size))[place >> 3] |= bit
                fixed[place >> 3] |= bit
        anything = ((1 << self.length) - 1) & ~int.from_bytes(fixed, "little")
        masks = {character: int.from_bytes(bits, "little") | anything for character, bits in places.items()}
        return {**masks, "": anything}


def _runs(pieces: Sequence[Piece]) -> tuple[_Run, ...]:
    """The runs of a pattern without variables: one more than it has stars."""
    runs: list[_Run] = []
    length, texts = 0, list[tuple[int, str]]()
    for piece in pieces:
        if piece is Wildcard.MANY:
            runs.append(_Run(length, tuple(texts)))
            length, texts = 0, []
        elif isinstance(piece, str):
            texts.append((length, piece))
            length += len(piece)
        else:
            length += 1
    return (*runs, _Run(length, tuple(texts)))


def _fits(runs: Sequence[_Run], text: str) -> bool:
    """Whether the runs follow each other in the text, the first at its beginning and the last at its end.

    Taking the first place where a run fits is enough, so that nothing is tried twice.
    """
    first, *middle = runs
    if not middle:
        return len(text) == first.length and first.fits_at(text, 0)
    *middle, last = middle
    end = len(text) - last.length
    if end < first.length or not first.fits_at(text, 0) or not last.fits_at(text, end):
        return False
    at = first.length
    for run in middle:
        at = run.found(text, at, end)
        if at < 0:
            return False
        at += run.length
    return True
