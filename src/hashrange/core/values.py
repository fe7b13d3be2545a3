"""Attribute values: from request JSON to the canonical form, in which equal values have equal dicts; their sizes."""

import base64
import binascii
import heapq
from collections.abc import Callable, Iterable
from typing import Any

from hashrange.core import limits, numbers
from hashrange.core.errors import Invalid, RequestInvalid, Wording

TYPE_NAMES = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M")

Value = dict[str, Any]
Item = dict[str, Value]

# A name of so many characters is within the limit whatever they are: UTF-8 has at most four bytes for one.
_NAME_CHARS_SAFE = limits.ATTRIBUTE_NAME_BYTES_MAX // 4
_RUN = 8192
_PREFIX = "One or more parameter values were invalid: "
_EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
_SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


class BadName(RequestInvalid):
    """An attribute's name is empty or too long."""


class Malformed(Exception):
    """A value has a JSON type that its shape does not allow; api/shapes finds the words for that."""


def canonical(raw: Any, *, wording: Wording = "newer", depth: int = 1) -> Value:
    """Check one attribute value as sent and return its canonical form: the same object if it is that already."""
    if not isinstance(raw, dict):
        raise Malformed
    value: Value = raw if len(raw) == 1 else _only_member(raw, wording, depth)
    ((kind, content),) = value.items()
    if kind == "S":
        if type(content) is str:
            return value
        if content is None:
            raise Invalid(_EMPTY)
        raise Malformed
    if depth > limits.NESTING_LEVELS_MAX:
        raise RequestInvalid(TOO_DEEP)
    check = _CHECKS.get(kind)
    if check is None or content is None:
        raise Invalid(_EMPTY)
    return check(value, content, wording, depth)


def _only_member(raw: dict[str, Any], wording: Wording, depth: int) -> dict[str, Any]:
    """The one member that is neither null nor unknown."""
    known = {kind: content for kind, content in raw.items() if content is not None and kind in _CHECKS}
    if not known:
        raise Invalid(_EMPTY)
    if len(known) > 1:
        # The service reports what is wrong with one of the members before it reports that there are several.
        for kind, content in known.items():
            _CHECKS[kind](raw, content, wording, depth)
        raise Invalid(_SEVERAL)
    return known


def canonical_item(raw: Any, *, wording: Wording = "newer") -> Item:
    """Check every attribute of a map as sent, and make it canonical in place."""
    return canonical_sized(raw, wording=wording)[0]


def canonical_sized(raw: Any, *, wording: Wording = "newer") -> tuple[Item, int]:
    """Check every attribute of a map as sent, make it canonical in place, and measure it."""
    if type(raw) is not dict:
        raise Malformed
    if raw and ("" in raw or max(map(len, raw)) > _NAME_CHARS_SAFE):
        for name in raw:
            check_name(name)
    names = "".join(raw)
    total = len(names) if names.isascii() else len(names.encode("utf-8"))
    for name, value in raw.items():
        # Most attributes are strings, and a string is canonical as it is.
        text = value.get("S") if type(value) is dict and len(value) == 1 else None
        if type(text) is str:
            total += len(text) if text.isascii() else len(text.encode("utf-8"))
            continue
        value_size = _plain_size_or_none(value, 1)
        if value_size is None:
            try:
                raw[name] = canonical(value, wording=wording)
            except BadName:
                _refuse_deep(raw)
                raise
            value_size = size(raw[name])
        total += value_size
    return raw, total


def _refuse_deep(raw: dict[str, Any]) -> None:
    """The service reports too deep a value anywhere in an item before a bad name inside another (measured)."""
    if nests_beyond(raw.values(), limits.NESTING_LEVELS_MAX):
        raise RequestInvalid(TOO_DEEP)


def nests_beyond(raw_values: Iterable[Any], levels: int) -> bool:
    """Whether one of these values as sent has more levels of nesting, its own included."""
    at_level = [value for value in raw_values if isinstance(value, dict | list)]
    # Each level of a value is two in JSON: that of its type and that of its content.
    for _ in range(2 * levels):
        below: list[Any] = []
        for value in at_level:
            members = value.values() if isinstance(value, dict) else value
            below += [member for member in members if isinstance(member, dict | list)]
        at_level = below
    return bool(at_level)


def _plain_size_or_none(value: Any, depth: int) -> int | None:
    """The size of a value as sent that is canonical at first sight, as most are; None: `canonical` has to judge."""
    if type(value) is not dict or len(value) != 1:
        return None
    ((kind, content),) = value.items()
    if kind == "N":
        return numbers.size(content) if type(content) is str and numbers.match_plain(content) else None
    if kind == "S":
        return _text_size(content) if type(content) is str else None
    if kind == "BOOL":
        return 1 if type(content) is bool else None
    if kind == "M":
        return _plain_map_size_or_none(content, depth) if type(content) is dict else None
    if kind == "SS":
        return _plain_set_size_or_none(content) if type(content) is list else None
    if kind == "L":
        return _plain_list_size_or_none(content, depth) if type(content) is list else None
    return None


def _plain_list_size_or_none(content: list[Any], depth: int) -> int | None:
    if depth >= limits.NESTING_LEVELS_MAX:
        return None
    total = 3 + len(content)
    for value in content:
        value_size = _plain_size_or_none(value, depth + 1)
        if value_size is None:
            return None
        total += value_size
    return total


def _plain_map_size_or_none(content: dict[str, Any], depth: int) -> int | None:
    if depth >= limits.NESTING_LEVELS_MAX or "" in content:
        return None
    names = "".join(content)
    if len(names) > _NAME_CHARS_SAFE:
        return None
    total = 3 + len(content) + _text_size(names)
    for value in content.values():
        value_size = _plain_size_or_none(value, depth + 1)
        if value_size is None:
            return None
        total += value_size
    return total


def _plain_set_size_or_none(content: list[Any]) -> int | None:
    """The size of a set of strings that are sorted already and all different."""
    previous = None
    for member in content:
        if type(member) is not str or (previous is not None and member <= previous):
            return None
        previous = member
    return _strings_size(content) if content else None


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def _is_plain_scalar(value: Any) -> bool:
    """Whether this is a string or a whole number that is canonical at first sight, as most values are."""
    if type(value) is not dict or len(value) != 1:
        return False
    text = value.get("S")
    if type(text) is str:
        return True
    text = value.get("N")
    return type(text) is str and numbers.match_plain(text) is not None


def check_names(names: Iterable[str]) -> None:
    """Check the names of attributes that a request gives apart from their values."""
    for name in names:
        check_name(name)


def check_name(name: str) -> None:
    """An attribute's name is neither empty nor longer than 64 KB."""
    if not name:
        raise BadName("Empty attribute name")
    if len(name) > _NAME_CHARS_SAFE and len(utf8(name)) > limits.ATTRIBUTE_NAME_BYTES_MAX:
        raise BadName("Attribute name is too large, must be less than 65536 bytes")


def _string(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not str:
        raise Malformed
    return raw


def _number(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not str:
        raise Malformed
    text = numbers.canonical(content, wording=wording)
    return raw if text == content else {"N": text}


def _binary(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    canonical_base64(content)
    return raw


def canonical_base64(text: Any) -> str:
    """The text itself, if it is the one canonical base64 form of its bytes; else Malformed is raised."""
    if type(text) is not str:
        raise Malformed
    try:
        clean = base64.b64encode(base64.b64decode(text, validate=True)).decode("ascii")
    except (binascii.Error, ValueError):
        raise Malformed from None
    if clean != text:
        raise Malformed
    return text


def _boolean(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not bool:
        raise Malformed
    return raw


def _null(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not bool:
        raise Malformed
    if content is False:
        raise RequestInvalid(_PREFIX + "Null attribute value types must have the value of true")
    return raw


def _list(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not list:
        raise Malformed
    below = depth + 1
    if below > limits.NESTING_LEVELS_MAX and content:
        raise RequestInvalid(TOO_DEEP)
    for at, value in enumerate(content):
        if not _is_plain_scalar(value):
            content[at] = canonical(value, wording=wording, depth=below)
    return raw


def _map(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    if type(content) is not dict:
        raise Malformed
    below = depth + 1
    if below > limits.NESTING_LEVELS_MAX and content:
        raise RequestInvalid(TOO_DEEP)
    for name, value in content.items():
        if not _is_plain_scalar(value):
            content[name] = canonical(value, wording=wording, depth=below)
    # The service reports too deep a nesting before a bad name (measured).
    for name in content:
        if not 0 < len(name) <= _NAME_CHARS_SAFE:
            check_name(name)
    return raw


def _members(content: Any) -> list[str]:
    if type(content) is not list:
        raise Malformed
    for member in content:
        if type(member) is not str:
            raise Malformed
    return content


def _string_set(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    members = _members(content)
    if not members:
        raise RequestInvalid(_PREFIX + "An string set  may not be empty")
    if _has_repeat(members):
        shown = _as_sent(members) if wording == "coral" else _with_repeat(members, sort_strings, ", ")
        raise RequestInvalid(f"{_PREFIX}Input collection {shown} contains duplicates.")
    return {"SS": sort_strings(members)} if len(members) > 1 else raw


def _number_set(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    members = _members(content)
    if not members:
        raise RequestInvalid(_PREFIX + "An number set  may not be empty")
    texts = [numbers.canonical(member, wording=wording) for member in members]
    if _has_repeat(texts):
        # Coral gives neither prefix nor full stop here (measured).
        raise RequestInvalid(
            "Input collection contains duplicates"
            if wording == "coral"
            else f"{_PREFIX}Input collection contains duplicates."
        )
    return {"NS": sort_numbers(texts)}


def _binary_set(raw: Value, content: Any, wording: Wording, depth: int) -> Value:
    members = [canonical_base64(member) for member in _members(content)]
    if not members:
        raise RequestInvalid(_PREFIX + "Binary sets should not be empty")
    if _has_repeat(members):
        shown = _as_sent(content) if wording == "coral" else _with_repeat(members, sort_binaries, ",")
        raise RequestInvalid(f"{_PREFIX}Input collection {shown}of type BS contains duplicates.")
    return {"BS": sort_binaries(members)}


def _has_repeat(members: list[str]) -> bool:
    """Whether a member is there twice; looked at in runs, as a long set is sorted."""
    if len(members) <= _RUN:
        return len(set(members)) != len(members)
    seen: set[str] = set()
    for start in range(0, len(members), _RUN):
        seen.update(members[start : start + _RUN])
    return len(seen) != len(members)


def _as_sent(members: list[str]) -> str:
    return f"[{', '.join(members)}]"


def _with_repeat(members: list[str], sort: Callable[[list[str]], list[str]], comma: str) -> str:
    """The members in quotes: those before the first repeat are sorted, it and the rest stand as sent (measured)."""
    seen: set[str] = set()
    for at, member in enumerate(members):
        if member in seen:
            members = [*sort(members[:at]), *members[at:]]
            break
        seen.add(member)
    return "[" + comma.join(f'"{member}"' for member in members) + "]"


_CHECKS: dict[str, Callable[[Value, Any, Wording, int], Value]] = {
    "S": _string,
    "N": _number,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _null,
    "SS": _string_set,
    "NS": _number_set,
    "BS": _binary_set,
    "L": _list,
    "M": _map,
}


def utf8(text: str) -> bytes:
    """The bytes of a string: it is stored, measured and ordered by them."""
    return text.encode("utf-8")


def sort_strings(members: list[str]) -> list[str]:
    """Strings in the order of their bytes, as a set reads back; code points have the same order."""
    return _sorted(members)


def sort_numbers(members: list[str]) -> list[str]:
    """Canonical numbers by value, as a set reads back."""
    return _sorted(members, numbers.to_decimal)


def sort_binaries(members: list[str]) -> list[str]:
    """Base64 texts by the bytes they stand for, as a set reads back."""
    return _sorted(members, base64.b64decode)


def _sorted(members: list[str], key: Callable[[str], Any] | None = None) -> list[str]:
    """A long set is sorted in runs, which are then merged: one sort would hold up all other threads meanwhile."""
    if len(members) <= _RUN:
        return sorted(members, key=key)
    runs = [sorted(members[start : start + _RUN], key=key) for start in range(0, len(members), _RUN)]
    return list(heapq.merge(*runs, key=key))


def depth(value: Value) -> int:
    """Levels of nesting, the value's own included."""
    ((kind, content),) = value.items()
    if kind == "L":
        return 1 + max(map(depth, content), default=0)
    if kind == "M":
        return 1 + max(map(depth, content.values()), default=0)
    return 1


def size(value: Value) -> int:
    """The size of a canonical value in the service's own bytes (measured on the 400 KB limit)."""
    ((kind, content),) = value.items()
    if kind == "S":
        return len(content) if content.isascii() else len(content.encode("utf-8"))
    return _SIZES[kind](content)


def attributes_size(attributes: dict[str, Value]) -> int:
    """Names and values added up."""
    total = 0
    for name, value in attributes.items():
        total += len(name) if name.isascii() else len(name.encode("utf-8"))
        text = value.get("S")
        if text is None:
            total += size(value)
        else:
            total += len(text) if text.isascii() else len(text.encode("utf-8"))
    return total


def binary_size(text: str) -> int:
    """Raw length of a canonical base64 text."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def _list_size(content: list[Value]) -> int:
    return 3 + len(content) + sum(map(size, content))


def _map_size(content: dict[str, Value]) -> int:
    return 3 + len(content) + attributes_size(content)


def _strings_size(content: list[str]) -> int:
    joined = "".join(content)
    return len(joined) if joined.isascii() else len(joined.encode("utf-8"))


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda content: len(content.encode("utf-8")),
    "N": numbers.size,
    "B": binary_size,
    "BOOL": lambda _: 1,
    "NULL": lambda _: 1,
    "SS": _strings_size,
    "NS": lambda content: sum(map(numbers.size, content)),
    "BS": lambda content: sum(map(binary_size, content)),
    "L": _list_size,
    "M": _map_size,
}
