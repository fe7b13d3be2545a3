"""What values of an attribute look like: its type, format, size and values, guessed from samples."""

import re
from collections import Counter
from collections.abc import Sequence

from hashrange.modeling.model import Attribute, AttributeType
from hashrange.modeling.reading.attributes import TYPES, Format

WireValue = dict[str, object]  # DynamoDB JSON: {"S": "text"}
_PATTERNS: tuple[tuple[Format, re.Pattern[str]], ...] = (
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("ulid", re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")),
    ("email", re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[A-Za-z]{2,24}")),
    ("timestamp", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z?")),
    ("date", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")),
)
_EPOCHS = (1_000_000_000, 4_000_000_000)  # 2001 to 2096
_VALUES_MAX = 10
_SAMPLES_MIN = 20  # fewer say nothing of how many values there are


def attribute_of(name: str, values: Sequence[WireValue], items: int) -> Attribute:
    """An attribute that these values of so many items would be of."""
    kinds = Counter(next(iter(value), "S") for value in values)
    kind = kinds.most_common(1)[0][0] if kinds else "S"
    type_: AttributeType = TYPES.get(kind, "S")
    contents = [next(iter(value.values()), None) for value in values if next(iter(value), "") == kind]
    missing = round(1 - len(values) / items, 2) if items else 0.0
    optional = missing if 0 < missing < 1 else 0.0
    if type_ == "N":
        return Attribute(name, "N", format=_numeric(contents), optional=optional)
    if type_ != "S":
        size = None if type_ in ("BOOL", "NULL") else _mean([len(str(content)) for content in contents])
        return Attribute(name, type_, size=size, optional=optional)
    texts = [str(content) for content in contents]
    form = text_format(texts)
    listed = () if form else _listed(texts)
    size = None if form or listed else _mean([len(text.encode("utf-8", "surrogatepass")) for text in texts])
    return Attribute(name, "S", size=size, values=listed, format=form, optional=optional)


def text_format(texts: Sequence[str]) -> Format | None:
    """The format that all texts have."""
    for form, pattern in _PATTERNS:
        if texts and all(pattern.fullmatch(text) for text in texts):
            return form
    return None


def _numeric(contents: Sequence[object]) -> Format:
    texts = [str(content) for content in contents]
    if not all(re.fullmatch(r"-?[0-9]{1,30}", text) for text in texts):
        return "decimal"
    return "epoch" if texts and all(_EPOCHS[0] <= int(text) <= _EPOCHS[1] for text in texts) else "integer"


def _listed(texts: Sequence[str]) -> tuple[str, ...]:
    distinct = sorted(set(texts))
    few = len(distinct) <= _VALUES_MAX and len(texts) >= _SAMPLES_MIN
    return tuple(distinct) if few and max(map(len, distinct)) <= 40 else ()


def _mean(sizes: Sequence[int]) -> int | None:
    return max(1, round(sum(sizes) / len(sizes))) if sizes else None
