"""Ion text: each line of an ION export is a version marker and a struct (developer guide: Amazon Ion).

N is a decimal, S a string, B a blob, L a list, M a struct; a set is a list with an annotation that says of what.
"""

import re
from typing import Any

import orjson

from hashrange.core.values import Item, Value
from hashrange.formats.records import Change

_MARKER = "$ion_1_0 "
# Anything else is in quotes: `$` begins the names that are Ion's own.
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset({"null", "true", "false", "nan"})


def item_line(item: Item) -> bytes:
    """A line of a full export."""
    return f"{_MARKER}{{Item:{_struct(item)}}}\n".encode()


def change_line(change: Change) -> bytes:
    """A line of an incremental export."""
    parts = [
        f"Metadata:{{WriteTimestampMicros:{number(str(change.written_at_micros))}}}",
        f"Keys:{_struct(change.keys)}",
    ]
    if change.old_image is not None:
        parts.append(f"OldImage:{_struct(change.old_image)}")
    if change.new_image is not None:
        parts.append(f"NewImage:{_struct(change.new_image)}")
    return f"{_MARKER}{{{','.join(parts)}}}\n".encode()


def value(attribute: Value) -> str:
    """One attribute value."""
    ((kind, content),) = attribute.items()
    match kind:
        case "S":
            return _string(content)
        case "N":
            return number(content)
        case "B":
            return f"{{{{{content}}}}}"
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "L":
            return f"[{','.join(map(value, content))}]"
        case "M":
            return _struct(content)
        case _:
            return _set(kind, content)


def _struct(attributes: dict[str, Any]) -> str:
    return f"{{{','.join(f'{_symbol(name)}:{value(member)}' for name, member in attributes.items())}}}"


def _set(kind: str, members: list[str]) -> str:
    written = [value({kind[0]: member}) for member in members]
    return f"$dynamodb_{kind}::[{','.join(written)}]"


def number(text: str) -> str:
    """A canonical number as a decimal without zeros at its end: `103.`, `6d2`, `12.5`, `5d-8`."""
    sign = "-" if text.startswith("-") else ""
    whole, _, fraction = text.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0") or "0"
    stripped = digits.rstrip("0") or "0"
    exponent = len(digits) - len(stripped) - len(fraction) if stripped != "0" else 0
    if exponent == 0:
        return f"{sign}{stripped}."
    if -len(stripped) < exponent < 0:
        return f"{sign}{stripped[:exponent]}.{stripped[exponent:]}"
    return f"{sign}{stripped}d{exponent}"


def _string(text: str) -> str:
    # Every escape of JSON is one of Ion.
    return orjson.dumps(text).decode("utf-8")


def _symbol(name: str) -> str:
    if _SYMBOL.fullmatch(name) and name not in _KEYWORDS:
        return name
    inside = _string(name)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inside}'"
