"""Keys as paths below a bucket's directory, and back.

A key whose parts could be names of files is its own path. Anything else is escaped with `%`, which therefore is
escaped too, so that no two keys have one path, and no key a path outside the bucket:

- a character that no name may have, a control character and `%` are `%XX`, byte by byte;
- the parts `.` and `..` are `%2E` and `%2E%2E`, and an empty part (`a//b`, `a/`, `/a`) is `%`;
- a part that is too long for a name goes on in a directory: its pieces but for the last end in `%`;
- an object whose key is also the directory of others (`a` beside `a/b`) has `%object` at the end of its name.

A file that has any other `%` in its name is nobody's object.
"""

import re
from typing import Literal

import msgspec

UPLOADS = "%uploads"
OBJECT = "%object"
_EMPTY = "%"
_NAME_BYTES_MAX = 248  # of 255, so that there is room for the suffixes
_SPECIAL = {"": _EMPTY, ".": "%2E", "..": "%2E%2E"}
_ESCAPED = re.compile(r"[%/\x00-\x1f\x7f]")
_ESCAPE = re.compile(r"%([0-9A-F]{2})")


Kind = Literal["object", "directory", "piece"]  # a piece goes on inside without a slash


class Entry(msgspec.Struct, frozen=True):
    """What a name in a directory adds to the key of its directory."""

    text: str
    kind: Kind


def path_parts(key: str) -> list[str]:
    """The names of the directories and of the file of a key."""
    return [name for part in key.split("/") for name in _names(part)]


def _names(part: str) -> list[str]:
    pieces, size = [""], 0
    for character in part:
        escaped = _escaped(character)
        length = len(escaped.encode("utf-8"))
        if size + length > _NAME_BYTES_MAX:
            pieces.append("")
            size = 0
        pieces[-1] += escaped
        size += length
    return [*(piece + "%" for piece in pieces[:-1]), _SPECIAL.get(pieces[-1], pieces[-1])]


def _escaped(character: str) -> str:
    return f"%{ord(character):02X}" if _ESCAPED.match(character) else character


def entry(name: str, *, is_directory: bool) -> Entry | None:
    """What a name adds to the key of its directory; None if no key has it.

    Some keys that come of it still have another path (`%41` is not how `A` is written): ask `is_path_of`.
    """
    kind: Kind
    if is_directory and len(name) > 1 and name.endswith("%"):
        text, kind = _text(name[:-1]), "piece"
    elif is_directory:
        text, kind = _text(name), "directory"
    else:
        text, kind = _text(name.removesuffix(OBJECT)), "object"
    if text is None:
        return None
    return Entry(text + "/" if kind == "directory" else text, kind)


def is_path_of(key: str, path: list[str]) -> bool:
    """Whether an object with this key is kept at this path."""
    return path_parts(key) == [*path[:-1], path[-1].removesuffix(OBJECT)]


def _text(name: str) -> str | None:
    if name == _EMPTY:
        return ""
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        return None  # Linux has names that are no UTF-8; Python gives them with surrogates
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)
