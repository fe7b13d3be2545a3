"""Finds the stored items that may meet a condition by bytes that every item that meets it has.

Stored JSON is canonical: `orjson` writes it, and equal strings, numbers, binaries and booleans are equal bytes. So an
item whose attribute equals such a value has the name and the value side by side. Whether it has them at the right place
is for the condition to say; items without them need not be decoded at all.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from hashrange.core.expressions import resolved
from hashrange.core.expressions.resolved import Literal, Parameter, Path, known_value
from hashrange.core.values import Value

LINE_END = b"\n"  # between rows that are taken apart again: in JSON it is escaped
_CONDITIONS_MAX = 8  # of those that all must hold; looking for more costs more than it saves
_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})  # sets and documents may be equal in another order


def needle_or_none(root: resolved.Node, values: Mapping[str, Value]) -> bytes | None:
    """What the JSON of an item that meets a condition has for sure; the longest, if there are several."""
    if isinstance(root, resolved.And):
        first = root.conditions[:_CONDITIONS_MAX]
        needles = [needle for node in first if (needle := _needle(node, values)) is not None]
        return max(needles, key=len, default=None)
    return _needle(root, values)


def _needle(node: resolved.Node, values: Mapping[str, Value]) -> bytes | None:
    match node:
        case resolved.Compare(
            "=", Path((str(name),)), (Literal() | Parameter()) as operand
        ) | resolved.Compare("=", (Literal() | Parameter()) as operand, Path((str(name),))):
            return _member(name, known_value(operand, values))
        case _:
            return None


def _member(name: str, value: Any) -> bytes | None:
    ((kind, _),) = value.items()
    return orjson.dumps({name: value})[1:-1] if kind in _SCALARS else None


def _lines_with(needle: bytes, lines: bytes) -> list[bytes]:
    found: list[bytes] = []
    at = lines.find(needle)
    while at >= 0:
        end = lines.find(LINE_END, at)
        start = lines.rfind(LINE_END, 0, at) + 1
        if end < 0:
            found.append(lines[start:])
            break
        found.append(lines[start:end])
        at = lines.find(needle, end)
    return found


# The lines that have these bytes as a member of an item, or of a map in it. The compiled helper takes a fifth of the
# time, and passes over bytes that look like a member but follow neither a brace nor a comma.
lines_with: Callable[[bytes, bytes], list[bytes]]
try:
    from hashrange.core.expressions import _needles as _compiled
except ImportError:
    lines_with = _lines_with
else:
    lines_with = _compiled.lines_with
