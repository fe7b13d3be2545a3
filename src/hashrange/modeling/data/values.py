"""Values of attributes, by their type and format.

The n-th value of an attribute is always the same. Those that a key is made of are chosen to be awkward: texts and
numbers of several lengths, of which one begins with another (1, 10, 100), and times that occur more than once.
"""

from __future__ import annotations

import random
from decimal import Decimal

from hashrange.modeling import moments
from hashrange.modeling.model import Attribute
from hashrange.modeling.sizes import value_size

NOW = 1_790_000_000  # when all requests are sent: a proof must not depend on the day
VALUE_BYTES_MAX = 400 * 1024
_DAY = 86_400
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MAXIMUM = 100_000
_STEP = 997  # seconds between two times; a prime, so that they do not all fall on full minutes
_HISTORY = 3 * 365 * _DAY
_ENDS = 20  # of so many numbers one is the smallest and one the largest: conditions are about those


def nth_value(attribute: Attribute, number: int, rng: random.Random, *, in_key: bool = False) -> object:
    """The n-th value, counted from 0; `rng` chooses what n does not decide."""
    if attribute.values:
        return attribute.values[number % len(attribute.values)]
    match attribute.type:
        case "N":
            return _number(attribute, number, rng, in_key=in_key)
        case "S":
            return _text(attribute, number, in_key=in_key)
        case "B":
            return _filling(attribute, number).encode()
        case "BOOL":
            return number % 2 == 0
        case "NULL":
            return None
        case _:
            return _container(attribute, number)


def _container(attribute: Attribute, number: int) -> object:
    text = _filling(attribute, number)
    match attribute.type:
        case "M":
            return {"note": text, "number": number}
        case "NS":
            return [number, number + 1]
        case "BS":
            return [text.encode(), b"end"]
        case _:
            return [text, "end"]


def _filling(attribute: Attribute, number: int) -> str:
    """A text of about the attribute's mean size. Separators of keys may well occur in what is no key."""
    size = int(min(value_size(attribute).mean, VALUE_BYTES_MAX))
    start = f"{number}#{attribute.name}"
    return (start + "#lorem ipsum" * (1 + size // 12))[: max(size, 1)]


def _text(attribute: Attribute, number: int, *, in_key: bool) -> str:
    match attribute.format:
        case "uuid":
            digits = f"{random.Random(number).getrandbits(128):032x}"  # noqa: S311 - data for a test
            return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
        case "ulid":
            return _ulid(number)
        case "email":
            return f"user{number}@example.com"
        case "timestamp":
            return moments.timestamp(_seconds(number))
        case "date":
            return moments.date(NOW - (number // 2) * _DAY)
        case "epoch" | "integer" | "decimal":
            return str(number)
        case _:
            return _identifier(attribute, number) if in_key else _filling(attribute, number)


def _identifier(attribute: Attribute, number: int) -> str:
    """Every other one is as long as the model says; the rest are short, and begin others."""
    short = str(number)
    if attribute.size is None or number % 2:
        return short
    return short.rjust(min(attribute.size, 200), "x")


def _seconds(number: int) -> int:
    """Going back from now, the further the sparser; two items share a time."""
    step = number // 2
    return NOW - (step * _STEP + step**3 * 30) % _HISTORY


def _ulid(number: int) -> str:
    value = (_seconds(number) * 1000 << 80) + number
    return "".join(_CROCKFORD[(value >> (5 * place)) & 31] for place in reversed(range(26)))


def _number(attribute: Attribute, number: int, rng: random.Random, *, in_key: bool) -> object:
    if attribute.format == "epoch":
        # What expires is still to come for some, and over for others.
        return 2 * NOW - _seconds(number) if number % 3 == 1 else _seconds(number)
    low = int(attribute.minimum if attribute.minimum is not None else 0)
    high = int(attribute.maximum if attribute.maximum is not None else max(low, 0) + _MAXIMUM)
    if in_key:
        return low + _spread(number, max(high - low + 1, 1))
    drawn = {0: low, _ENDS // 2: max(low, high)}.get(number % _ENDS, rng.randint(low, max(low, high)))
    return Decimal(drawn * 100 + number % 100) / 100 if attribute.format == "decimal" else drawn


def _spread(number: int, width: int) -> int:
    """Both ends of the range, and numbers of all lengths in between."""
    if number % 5 == 4:
        return (width - 1 - number // 5) % width
    return number % width
