"""Shapes of keys: whether the keys that two templates make can meet, so that one entity's items lie among another's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from hashrange.modeling.model import Attribute, Entity, Field, Literally, Shard, Template
from hashrange.modeling.plans import Given, KeyOperand, Spread
from hashrange.modeling.templates import value_text
from hashrange.modeling.value_texts import value_texts

_ELEMENTS_MAX = 400  # what is behind so many is not looked at: the keys may meet
_FIXED_MAX = 64
_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Repeated:
    """One or more characters of an alphabet; None: any but delimiters."""

    alphabet: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of an alphabet."""

    alphabet: frozenset[str]


@dataclass(frozen=True, slots=True)
class Between:
    """One character from the first to the last of these."""

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Anything:
    """Any text, the empty one included."""


ANYTHING = Anything()
Element = str | Repeated | OneOf | Between | Anything
Shape = tuple[Element, ...]


def template_shape(entity: Entity, template: Template) -> Shape:
    """What all keys of the entity look like."""
    elements: list[Element] = []
    for piece in template.pieces:
        match piece:
            case Literally():
                elements.extend(piece.text)
            case Shard():
                elements.append(Repeated(_DIGITS))
            case _:
                elements.extend(_field_shape(entity.attributes.get(piece.attribute), piece))
    return tuple(elements)


def _field_shape(attribute: Attribute | None, field: Field) -> Shape:
    """What the values of a field look like."""
    if attribute is None:
        return (Repeated(),)
    texts = value_texts(attribute, field)
    if texts.alphabet is not None and texts.length is not None and texts.length <= _FIXED_MAX:
        return (OneOf(texts.alphabet),) * texts.length
    if attribute.format == "email" and not (attribute.values or field.cut):
        return (Repeated(texts.alphabet), "@", Repeated(texts.alphabet))
    return (Repeated(texts.alphabet),)


def operand_shape(operand: KeyOperand) -> Shape:
    """What the keys look like that an operand may stand for."""
    elements: list[Element] = []
    for piece in operand.pieces:
        match piece:
            case Literally():
                elements.extend(piece.text)
            case Spread():
                elements.append(Repeated(_DIGITS))
            case Given(operand=str() | int() | float() as value):
                elements.extend(value_text(value).zfill(piece.piece.pad)[: piece.piece.cut or None])
            case Given():
                elements.extend(_field_shape(piece.attribute, piece.piece))
    return tuple(elements)


def fixed_start(shape: Shape) -> str:
    """The text that every key of a shape begins with."""
    return "".join(takewhile(lambda element: isinstance(element, str), shape))  # type: ignore[arg-type]


@lru_cache(maxsize=65_536)
def may_meet(left: Shape, right: Shape) -> bool:
    """Whether some text has both shapes."""
    delimiters = frozenset(
        char
        for char in (*left, *right)
        if isinstance(char, str) and not char.isalnum() and char not in "_-. "
    )
    pending, seen = [(0, 0)], {(0, 0)}
    while pending:
        at_left, at_right = pending.pop()
        if at_left == len(left) and at_right == len(right):
            return True
        if at_left >= _ELEMENTS_MAX or at_right >= _ELEMENTS_MAX:
            return True
        for state in _next_states(left, right, at_left, at_right, delimiters):
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return False


def _next_states(
    left: Shape, right: Shape, at_left: int, at_right: int, delimiters: frozenset[str]
) -> list[tuple[int, int]]:
    """Where the two can be after one more character, or after an empty text."""
    states: list[tuple[int, int]] = []
    first = left[at_left] if at_left < len(left) else None
    second = right[at_right] if at_right < len(right) else None
    if isinstance(first, Anything):
        states.append((at_left + 1, at_right))
    if isinstance(second, Anything):
        states.append((at_left, at_right + 1))
    if first is None or second is None or not _share_a_character(first, second, delimiters):
        return states
    lefts = (at_left, at_left + 1) if isinstance(first, Repeated | Anything) else (at_left + 1,)
    rights = (at_right, at_right + 1) if isinstance(second, Repeated | Anything) else (at_right + 1,)
    return states + [(a, b) for a in lefts for b in rights]


def _share_a_character(first: Element, second: Element, delimiters: frozenset[str]) -> bool:
    some, others = _characters(first), _characters(second)
    if some is not None:
        return any(_accepts(second, char, delimiters) for char in some)
    return others is None or any(_accepts(first, char, delimiters) for char in others)


def _characters(element: Element) -> frozenset[str] | None:
    """The characters that an element may begin with; None: too many to list."""
    match element:
        case str():
            return frozenset(element)
        case Repeated() | OneOf():
            return element.alphabet
        case _:
            return None


def _accepts(element: Element, char: str, delimiters: frozenset[str]) -> bool:
    match element:
        case str():
            return element == char
        case Repeated(alphabet=None):
            return char not in delimiters
        case Repeated() | OneOf():
            return element.alphabet is not None and char in element.alphabet
        case Between():
            return element.first <= char <= element.last
        case _:
            return True
