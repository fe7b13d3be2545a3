"""Bounds: a range of an attribute's values as one range of keys, with the text before and behind the attribute in them.

`placed_at >= ?since` under `ORDER#{placed_at}#{order_id}` is BETWEEN `ORDER#` + since AND the end of all that begins
with `ORDER#`. The end is a text and the highest character that there is; right behind a text is the text and the
lowest character. So open and closed ends both have an exact BETWEEN.
"""

from __future__ import annotations

from dataclasses import dataclass

from hashrange.modeling.key_pieces import Leading, following_text
from hashrange.modeling.key_shapes import ANYTHING, Between, Shape, operand_shape
from hashrange.modeling.model import Attribute, Comparison, Field, KeyAttribute, Literally, Operand
from hashrange.modeling.plans import Edge, Given, KeyCondition, KeyOperand, KeyPiece
from hashrange.modeling.value_texts import ends_clearly, keeps_order, value_texts


@dataclass(frozen=True, slots=True)
class End:
    """One end of a range."""

    operand: Operand
    is_inside: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """Comparisons of the attribute that comes next in a key: two ends, or a beginning of its text."""

    field: Field
    attribute: Attribute
    known: Leading  # what stands before the attribute
    used: frozenset[int]
    low: End | None = None
    high: End | None = None
    prefix: Operand = None

    @property
    def following(self) -> str | None:
        return following_text(self.known.rest[1:])

    def condition(self, key: KeyAttribute) -> KeyCondition | None:
        """The one condition on the key that says the same; None if there is none."""
        if self.field.cut:
            return None
        if self.prefix is not None:
            return self._beginning(key)
        return self._text_range(key) if key.type == "S" else self._plain_range(key)

    def region(self, condition: KeyCondition) -> Shape:
        """Where the keys lie."""
        before = operand_shape(KeyOperand(self.known.pieces))
        if condition.operator == "begins_with":
            return (*operand_shape(condition.operands[0]), ANYTHING)
        texts = value_texts(self.attribute, self.field)
        starts = texts.starts or texts.alphabet
        if self.low is None or self.high is None or not starts:
            return (*before, ANYTHING)
        return (*before, Between(min(starts), max(starts)), ANYTHING)

    def _operand(self, operand: Operand, edge: Edge, behind: str | None = None) -> KeyOperand:
        pieces: tuple[KeyPiece, ...] = (*self.known.pieces, Given(self.field, operand, self.attribute))
        return KeyOperand((*pieces, Literally(behind)) if behind else pieces, edge)

    def _beginning(self, key: KeyAttribute) -> KeyCondition | None:
        is_text = key.type == "S" and self.attribute.type == "S" and not self.field.pad
        if not is_text or not ends_clearly(value_texts(self.attribute, self.field), self.following):
            return None
        return KeyCondition(key, "begins_with", (self._operand(self.prefix, "at"),))

    def _plain_range(self, key: KeyAttribute) -> KeyCondition | None:
        """A key of type N or B is the attribute itself. BETWEEN includes its ends."""
        if self.low is not None and self.high is not None:
            if not (self.low.is_inside and self.high.is_inside):
                return None
            ends = (self._operand(self.low.operand, "at"), self._operand(self.high.operand, "at"))
            return KeyCondition(key, "between", ends)
        if self.low is not None:
            low = (self._operand(self.low.operand, "at"),)
            return KeyCondition(key, ">=" if self.low.is_inside else ">", low)
        if self.high is not None:
            high = (self._operand(self.high.operand, "at"),)
            return KeyCondition(key, "<=" if self.high.is_inside else "<", high)
        return None

    def _text_range(self, key: KeyAttribute) -> KeyCondition | None:
        texts = value_texts(self.attribute, self.field)
        if not keeps_order(texts, self.following) or not ends_clearly(texts, self.following):
            return None
        low, high = self._low_end(), self._high_end()
        if low is not None and high is not None:
            return KeyCondition(key, "between", (low, high))
        if low is not None:
            is_open = self.low is not None and not self.low.is_inside and low.edge == "at"
            return KeyCondition(key, ">" if is_open else ">=", (low,))
        if high is not None:
            is_open = self.high is not None and not self.high.is_inside and high.edge == "at"
            return KeyCondition(key, "<" if is_open else "<=", (high,))
        return None

    def _low_end(self) -> KeyOperand | None:
        """Text before the attribute bounds the range where no condition does."""
        if self.low is None:
            return KeyOperand(self.known.pieces) if self.known.pieces else None
        if self.low.is_inside:
            return self._operand(self.low.operand, "at")
        if self.following is not None:
            return self._operand(self.low.operand, "end", self.following)
        alone = not self.known.pieces and self.high is None
        return self._operand(self.low.operand, "at" if alone else "after")

    def _high_end(self) -> KeyOperand | None:
        if self.high is None:
            return KeyOperand(self.known.pieces, "end") if self.known.pieces else None
        if self.high.is_inside:
            edge: Edge = "at" if self.following is None else "end"
            return self._operand(self.high.operand, edge, self.following)
        # With more behind the attribute no key is the bound itself, so that a bound at it leaves out what it should.
        alone = not self.known.pieces and self.low is None
        return self._operand(self.high.operand, "before" if self.following is None and not alone else "at")


def bounds_of(about: list[tuple[int, Comparison]], known: Leading, attribute: Attribute) -> Bounds | None:
    """The first lower and the first upper bound, or the first prefix; None if there is neither."""
    low: End | None = None
    high: End | None = None
    used: set[int] = set()
    field = known.free or Field(attribute.name)
    for at, comparison in about:
        operator, operands = comparison.operator, comparison.operands
        if operator == "begins_with" and not used:
            return Bounds(field, attribute, known, frozenset({at}), prefix=operands[0])
        if operator == "between" and not used:
            low, high = (End(operand, is_inside=True) for operand in operands[:2])
        elif operator in (">", ">=") and low is None:
            low = End(operands[0], is_inside=operator == ">=")
        elif operator in ("<", "<=") and high is None:
            high = End(operands[0], is_inside=operator == "<=")
        else:
            continue
        used.add(at)
    return Bounds(field, attribute, known, frozenset(used), low, high) if used else None
