"""What values look like as text in a key: how long, of which characters, and whether they sort by value."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace

from hashrange.modeling.model import Attribute, Field, Scalar
from hashrange.modeling.templates import value_text

_DIGITS = frozenset(string.digits)
_ALPHABETS = {
    "uuid": frozenset(string.hexdigits + "-"),
    "ulid": frozenset(string.digits + string.ascii_uppercase),
    "email": frozenset(string.ascii_letters + string.digits + "@._+-"),
    "timestamp": frozenset(string.digits + "-:TZ."),
    "date": _DIGITS | {"-"},
    "epoch": _DIGITS,
    "integer": _DIGITS | {"-"},
    "decimal": _DIGITS | {"-", "."},
}
# Timestamps are those of `moments`; seconds since 1970 have ten digits until the year 2286.
_LENGTHS = {"uuid": 36, "ulid": 26, "timestamp": 20, "date": 10, "epoch": 10}


@dataclass(frozen=True, slots=True)
class ValueText:
    """`length` is None if it varies, `alphabet` if any character may occur; `sorts`: text and value have one order."""

    length: int | None
    alphabet: frozenset[str] | None
    sorts: bool
    starts: frozenset[str] | None = None  # the characters that it may begin with, where these are fewer


def value_texts(attribute: Attribute, field: Field) -> ValueText:
    """The texts that a field of a template gives."""
    if attribute.values:
        return _listed(attribute, field)
    whole = _unlisted(attribute, field)
    if not field.cut:
        return whole
    length = None if whole.length is None else min(whole.length, field.cut)
    return replace(whole, length=length)


def _unlisted(attribute: Attribute, field: Field) -> ValueText:
    form = attribute.format or ""
    alphabet = _ALPHABETS.get(form)
    if attribute.type == "N" or form in ("epoch", "integer", "decimal"):
        return _number(attribute, field)
    if attribute.type == "B":
        return ValueText(
            None, frozenset(string.hexdigits), sorts=True
        )  # bytes stand in keys as hexadecimal digits
    if field.pad:
        # Zeros before a text change its order, and do not shorten one that is longer.
        return ValueText(None, None if alphabet is None else alphabet | {"0"}, sorts=False)
    starts = _DIGITS if form in ("timestamp", "date") else alphabet
    return ValueText(_LENGTHS.get(form), alphabet, sorts=True, starts=starts)


def _number(attribute: Attribute, field: Field) -> ValueText:
    alphabet = _ALPHABETS["decimal" if attribute.format == "decimal" else "integer"]
    negative = attribute.minimum is not None and attribute.minimum < 0
    if attribute.format == "epoch" and field.pad <= _LENGTHS["epoch"]:
        return ValueText(_LENGTHS["epoch"], _DIGITS, sorts=True)
    fits = attribute.maximum is None or attribute.maximum < 10.0 ** min(field.pad, 300)
    if not field.pad or negative or not fits or attribute.format == "decimal":
        return ValueText(None, alphabet, sorts=False)
    return ValueText(field.pad, _DIGITS, sorts=True)


def _listed(attribute: Attribute, field: Field) -> ValueText:
    """All values are known: look at each."""
    texts = [field_text(value, field) for value in attribute.values if value is not None]
    lengths = {len(text) for text in texts}
    by_value = [field_text(value, field) for value in _in_order(attribute.values)]
    return ValueText(
        lengths.pop() if len(lengths) == 1 else None,
        frozenset("".join(texts)),
        sorts=by_value == sorted(by_value),
        starts=frozenset(text[:1] for text in texts if text),
    )


def _in_order(values: tuple[Scalar, ...]) -> list[Scalar]:
    """Numbers by value, then texts."""
    numbers = [value for value in values if isinstance(value, int | float)]
    texts = [value for value in values if isinstance(value, str)]
    return [*sorted(numbers), *sorted(texts)]


def field_text(value: object, field: Field) -> str:
    """A value as a field of a template has it."""
    padded = value_text(value).zfill(field.pad)
    return padded[: field.cut] if field.cut else padded


def keeps_order(texts: ValueText, following: str | None) -> bool:
    """Whether keys sort by this field's value, whatever is behind it.

    `following` is the text that comes next: None where the key ends, empty where it varies. A short value is followed
    by the delimiter where a longer one goes on, so the delimiter has to sort before every character of the values.
    """
    if not texts.sorts:
        return False
    if following is None or texts.length is not None:
        return True
    return (
        following != "" and texts.alphabet is not None and all(following[0] < char for char in texts.alphabet)
    )


def ends_clearly(texts: ValueText, following: str | None) -> bool:
    """Whether a key shows where a value ends: all have one length, the key ends, or a delimiter follows.

    Free text is taken not to have the delimiter in it.
    """
    if following is None or texts.length is not None:
        return True
    return following != "" and (texts.alphabet is None or following[0] not in texts.alphabet)
