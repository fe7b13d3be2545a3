"""Key templates: how `ORDER#{placed_at}#{order_id}` is read, and what it gives for an item.

A template is fixed text with pieces in braces: `{name}` is an attribute's value, `{name:08}` pads it with zeros to
eight characters, `{name:.10}` keeps the first ten, `{shard(name, 10)}` is a number from 0 to 9 that follows from the
attribute, and `{shard(random, 10)}` one that is drawn at each write. `{{` and `}}` are braces.
"""

import random
import re
from collections.abc import Mapping
from decimal import Decimal
from math import prod

from hashrange.modeling.model import NOWHERE, Field, Literally, Piece, Place, Shard, Template
from hashrange.modeling.texts import TextInvalid
from hashrange.patterns.values import shard_of

TEMPLATE_CHARS_MAX = 1024  # a sort key has no more bytes
PIECES_MAX = 50
SHARDS_MAX = 10_000
PAD_MAX = 100
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|([{}])|([^{}]+)")
_FIELD = re.compile(r"\s*([^\s:(),{}]+)\s*(?::(?:0([0-9]{1,4})|\.([0-9]{1,4})))?\s*")
_SHARD = re.compile(r"\s*shard\(\s*([^\s(),{}]+)\s*,\s*([0-9]{1,9})\s*\)\s*")
_FORMS = "write {attribute}, {attribute:08}, {attribute:.10} or {shard(attribute, 10)}"

Value = str | int | float | Decimal | bytes


def parse_template(text: str, place: Place = NOWHERE) -> Template:
    """Read a template; raise `TextInvalid` for one that cannot be meant."""
    if not text:
        raise TextInvalid("a key template is empty", "DynamoDB refuses empty keys; give it some text")
    if len(text) > TEMPLATE_CHARS_MAX:
        raise TextInvalid(f"a key template has more than {TEMPLATE_CHARS_MAX} characters", "keys are shorter")
    pieces: list[Piece] = []
    for token in _TOKEN.finditer(text):
        _add(pieces, _piece(token))
        if len(pieces) > PIECES_MAX:
            raise TextInvalid(f"a key template has more than {PIECES_MAX} pieces", offset=token.start())
    return Template(text, tuple(pieces), place)


def _add(pieces: list[Piece], piece: Piece) -> None:
    """Add a piece; fixed texts beside each other become one."""
    if isinstance(piece, Literally) and pieces and isinstance(pieces[-1], Literally):
        pieces[-1] = Literally(pieces[-1].text + piece.text)
    else:
        pieces.append(piece)


def _piece(token: re.Match[str]) -> Piece:
    if token[0] in ("{{", "}}"):
        return Literally(token[0][0])
    if token[3]:
        return Literally(token[3])
    if token[2]:
        raise TextInvalid(
            f"`{token[2]}` without its counterpart", "write {{ or }} for a brace itself", offset=token.start()
        )
    return _braced(token[1], token.start())


def _braced(text: str, offset: int) -> Piece:
    if shard := _SHARD.fullmatch(text):
        shards = int(shard[2])
        if not 1 <= shards <= SHARDS_MAX:
            raise TextInvalid(f"{shards} shards", f"choose a number from 1 to {SHARDS_MAX}", offset=offset)
        return Shard(None if shard[1] == "random" else shard[1], shards)
    field = _FIELD.fullmatch(text)
    if field is None:
        raise TextInvalid(f"`{{{text}}}` is no piece of a template", _FORMS, offset=offset)
    pad, cut = int(field[2] or 0), int(field[3] or 0)
    if pad > PAD_MAX or (field[3] and not cut):
        raise TextInvalid(
            f"`{{{text}}}` has an impossible width", f"widths are from 1 to {PAD_MAX}", offset=offset
        )
    return Field(field[1], pad, cut)


def fill(template: Template, values: Mapping[str, object], *, shard: int | None = None) -> Value | None:
    """The value that an item's key attribute gets; None if an attribute is missing.

    A template that is one attribute and nothing else gives its value as it is, so that a number stays one. `shard`
    stands in for every shard of the template: that is how a reader goes through them.
    """
    match template.pieces:
        case (Field(attribute=name, pad=0, cut=0),):
            return _plain(values.get(name))
    parts = [_filled(piece, values, shard) for piece in template.pieces]
    return None if None in parts else "".join(part for part in parts if part is not None)


def prefix_for(template: Template, known: Mapping[str, object]) -> tuple[str, bool]:
    """The longest leading text that is sure when only `known` attributes have values, and whether that is all of it."""
    text = ""
    for piece in template.pieces:
        drawn = isinstance(piece, Shard) and piece.attribute is None and piece.shards > 1
        part = None if drawn else _filled(piece, known, None)
        if part is None:
            return text, False
        text += part
    return text, True


def shards(template: Template) -> int:
    """Over how many values a template spreads what it would otherwise give one value."""
    return prod(piece.shards for piece in template.pieces if isinstance(piece, Shard))


def value_text(value: object) -> str:
    """A value as it stands in a key."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case _:
            return str(value)


def _plain(value: object) -> Value | None:
    match value:
        case None:
            return None
        case bool():
            return value_text(value)
        case str() | int() | float() | Decimal() | bytes():
            return value
        case _:
            return value_text(value)


def _filled(piece: Piece, values: Mapping[str, object], shard: int | None) -> str | None:
    match piece:
        case Literally():
            return piece.text
        case Field():
            value = values.get(piece.attribute)
            return None if value is None else _formatted(value_text(value), piece)
        case Shard(attribute=None):
            return str(random.randrange(piece.shards) if shard is None else shard % piece.shards)  # noqa: S311
        case Shard():
            value = values.get(piece.attribute or "")
            if shard is not None:
                return str(shard % piece.shards)
            return None if value is None else str(shard_of(value, piece.shards))


def _formatted(text: str, field: Field) -> str:
    padded = text.zfill(field.pad)
    return padded[: field.cut] if field.cut else padded
