"""Pieces of keys: how far a template is known from what a pattern says, and whether the text shows its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hashrange.modeling.model import (
    Attribute,
    Comparison,
    Condition,
    Entity,
    Field,
    Literally,
    Name,
    Operand,
    Piece,
    Shard,
    Template,
)
from hashrange.modeling.plans import Given, KeyPiece, PlanProblem, Spread
from hashrange.modeling.value_texts import ends_clearly, value_texts


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions of a pattern as one entity sees them; they are known by their position."""

    entity: Entity
    conditions: tuple[Condition, ...]

    @property
    def equal(self) -> Mapping[str, tuple[int, Operand]]:
        """Attributes that have one value, which the application or the pattern gives."""
        return {
            condition.attribute: (at, condition.operands[0])
            for at, condition in enumerate(self.conditions)
            if isinstance(condition, Comparison)
            and (condition.operator == "=" or (condition.operator == "in" and len(condition.operands) == 1))
            and not isinstance(condition.operands[0], Name)
            and condition.operands[0] is not None
        }

    def about(self, attribute: str) -> list[tuple[int, Comparison]]:
        return [
            (at, condition)
            for at, condition in enumerate(self.conditions)
            if isinstance(condition, Comparison)
            and condition.attribute == attribute
            and not any(isinstance(operand, Name) for operand in condition.operands)
        ]

    def alternatives(self, attribute: str) -> Comparison | None:
        """The condition that gives an attribute several values, `in (?a, ?b)`, if there is one."""
        about = (condition for _, condition in self.about(attribute))
        return next((condition for condition in about if condition.operator == "in"), None)

    def attribute(self, name: str) -> Attribute:
        return self.entity.attributes.get(name, Attribute(name))


@dataclass(frozen=True, slots=True)
class Leading:
    """What is known of a key from its beginning: pieces, the condition that each enforces, and what is not known."""

    pieces: tuple[KeyPiece, ...]
    enforced: tuple[int | None, ...]
    rest: tuple[Piece, ...]

    @property
    def used(self) -> frozenset[int]:
        return frozenset(at for at in self.enforced if at is not None)

    @property
    def free(self) -> Field | None:
        """The attribute that the keys sort by, behind what is known."""
        first = self.rest[0] if self.rest else None
        return first if isinstance(first, Field) else None


NOTHING_KNOWN = Leading((), (), ())


def leading(template: Template, terms: Terms, *, spread: bool = False) -> Leading:
    """Go through a template as far as values are known; `spread` takes each shard that is not."""
    equal = terms.equal
    pieces: list[KeyPiece] = []
    enforced: list[int | None] = []
    for position, piece in enumerate(template.pieces):
        known = _known(piece, terms, equal, spread=spread)
        if known is None:
            return Leading(tuple(pieces), tuple(enforced), template.pieces[position:])
        pieces.append(known)
        enforced.append(_enforced(piece, terms, equal))
    return Leading(tuple(pieces), tuple(enforced), ())


def _known(
    piece: Piece, terms: Terms, equal: Mapping[str, tuple[int, Operand]], *, spread: bool
) -> KeyPiece | None:
    match piece:
        case Literally():
            return piece
        case Field() if piece.attribute in equal:
            return Given(piece, equal[piece.attribute][1], terms.attribute(piece.attribute))
        case Shard(attribute=str() as name) if name in equal:
            return Spread(piece, equal[name][1], terms.attribute(name))
        case Shard() if spread or piece.shards == 1:
            return Spread(piece)
        case _:
            return None


def _enforced(piece: Piece, terms: Terms, equal: Mapping[str, tuple[int, Operand]]) -> int | None:
    """The condition that a piece takes care of: a text that is cut does not tell one value from the next."""
    if not isinstance(piece, Field) or piece.attribute not in equal:
        return None
    length = value_texts(terms.attribute(piece.attribute), Field(piece.attribute, piece.pad)).length
    if piece.cut and (length is None or piece.cut < length):
        return None
    return equal[piece.attribute][0]


def following_text(rest: Sequence[Piece]) -> str | None:
    """What stands behind a field: None for the end, "" for something that varies."""
    if not rest:
        return None
    return rest[0].text if isinstance(rest[0], Literally) else ""


def common_pieces(all_pieces: Sequence[tuple[KeyPiece, ...]]) -> tuple[KeyPiece, ...]:
    """What several keys begin with alike. A fixed text is cut behind a delimiter, not in the middle of a word."""
    shared: list[KeyPiece] = []
    for pieces in zip(*all_pieces, strict=False):
        if all(piece == pieces[0] for piece in pieces):
            shared.append(pieces[0])
            continue
        texts = [piece.text for piece in pieces if isinstance(piece, Literally)]
        same = _same_start(texts) if len(texts) == len(pieces) else ""
        while same and same[-1].isalnum():
            same = same[:-1]
        if same:
            shared.append(Literally(same))
        break
    return tuple(shared)


def _same_start(texts: Sequence[str]) -> str:
    length = 0
    for chars in zip(*texts, strict=False):
        if len(set(chars)) > 1:
            break
        length += 1
    return texts[0][:length]


def prefix_problems(pieces: Sequence[KeyPiece]) -> tuple[PlanProblem, ...]:
    """Whether a value at the end of a prefix can be the beginning of another: ORDER#1 and ORDER#10."""
    last = pieces[-1]
    if not isinstance(last, Given) or value_texts(last.attribute, last.piece).length is not None:
        return mixing_problems(pieces)
    name = last.piece.attribute
    problem = PlanProblem(
        "prefix",
        f"a key that begins with one {name} may belong to a longer one, as ORDER#10 begins with ORDER#1",
        f"put a delimiter behind {{{name}}}, or pad it to one length",
    )
    return (*mixing_problems(pieces), problem)


def mixing_problems(pieces: Sequence[KeyPiece]) -> tuple[PlanProblem, ...]:
    """Whether two sets of values make the same text, because nothing marks where one of them ends."""
    problems: list[PlanProblem] = []
    for piece, following in pairwise(pieces):
        if not isinstance(piece, Given):
            continue
        text = following.text if isinstance(following, Literally) else ""
        if not ends_clearly(value_texts(piece.attribute, piece.piece), text):
            name = piece.piece.attribute
            message = f"a key does not show where {name} ends: different values make the same text"
            remedy = f"put a delimiter behind {{{name}}} that its values do not have, such as #"
            problems.append(PlanProblem("prefix", message, remedy))
    return tuple(problems)
