"""Reads the attributes that an expression names out of stored JSON, without making objects of the others.

What stands here equals decoding the whole item and picking from it; it is only faster. The types that say to a JSON
library what to read take a tenth of a millisecond to make, so that an expression has them from its second use on: one
that comes once, as a client could send without end, is read the long way. The compiled helper (`_cut.c`) needs no
types; where it was built, it cuts what projections keep, and the library reads what the helper leaves.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypedDict

import msgspec
import orjson
from msgspec import UNSET, Raw, UnsetType

from hashrange.core.values import Item

# With more the library compares too many names with each of an item's.
NAMES_MAX = 32
_LEVELS_MAX = 8

# The parts below a part of a path; an empty mapping keeps all of it.
Branches = Mapping[str | int, "Branches"]
Cut = Callable[[bytes], bytes]


class Helper(NamedTuple):
    """The functions of the compiled helper, which says what they do."""

    plan: Callable[[tuple[bytes, ...], tuple[int, ...]], object]
    cut: Callable[[object, bytes], bytes | None]


helper: Helper | None
try:
    from hashrange.core.expressions import _cut as _compiled
except ImportError:
    helper = None
else:
    helper = Helper(_compiled.plan, _compiled.cut)

_EMPTY = b"{}"
_encode = msgspec.json.Encoder().encode


class AttributeDecoder:
    """Decodes the JSON of an item as far as some attributes go."""

    __slots__ = ("_decode", "_names", "_used")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._decode: Callable[[bytes], Item] = orjson.loads
        self._used = not 0 < len(self._names) <= NAMES_MAX

    def decode(self) -> Callable[[bytes], Item]:
        """What decodes an item to a dictionary that has these attributes at least, as far as the item has them."""
        if not self._used:
            self._used = True
            return orjson.loads
        if self._decode is orjson.loads and 0 < len(self._names) <= NAMES_MAX:
            self._decode = attribute_decoder(self._names)
        return self._decode


def attribute_decoder(names: frozenset[str]) -> Callable[[bytes], Item]:
    """What decodes an item to a dictionary that has these attributes at least; to be kept, see above."""
    if not 0 < len(names) <= NAMES_MAX:
        return orjson.loads
    members = TypedDict("members", dict.fromkeys(names, Any), total=False)  # type: ignore[misc]
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(members).decode
    return decode


class Cutter:
    """Cuts what a projection keeps out of the JSON of items."""

    __slots__ = ("_branches", "_cut", "_used")

    def __init__(self, branches: Mapping[str, Branches]) -> None:
        self._branches = branches
        self._cut: Cut | None = None
        self._used = False

    def cut_or_none(self) -> Cut | None:
        """What makes of items by commas what is kept of them, by commas; None: they have to be decoded."""
        if not self._used and helper is None:
            self._used = True
        elif self._cut is None and self._branches:
            if not _can_cut(self._branches):
                self._branches = {}
            elif helper is None:
                self._cut = _cut(self._branches)
            else:
                self._cut = _cut_by(helper, self._branches)
        return self._cut


def _can_cut(branches: Mapping[str, Branches]) -> bool:
    """Whether all paths are by names, which need no escapes, and neither many nor deep."""
    level: list[Mapping[Any, Branches]] = [branches]
    count = 0
    for _ in range(_LEVELS_MAX):
        count += sum(map(len, level))
        if count > NAMES_MAX or not all(_is_plain(part) for names in level for part in names):
            return False
        level = [below for names in level for below in names.values() if below]
        if not level:
            return True
    return False


def _cut_by(compiled: Helper, branches: Mapping[str, Branches]) -> Cut:
    """What has the helper cut rows, and the library those that it leaves."""
    plan = compiled.plan(*_levels(branches))
    cut_or_none = compiled.cut
    other = cache(lambda: _cut(branches))

    def cut(rows: bytes) -> bytes:
        kept = cut_or_none(plan, rows)
        return other()(rows) if kept is None else kept

    return cut


def _levels(branches: Mapping[str, Branches]) -> tuple[tuple[bytes, ...], tuple[int, ...]]:
    """All names, level by level, so that those of one map follow each other; and for each the number of its map."""
    names: list[bytes] = []
    above: list[int] = []
    level: list[tuple[int, Mapping[Any, Branches]]] = [(-1, branches)]
    for number, members in level:  # grows on the way
        for name, below in members.items():
            if below:
                level.append((len(names), below))
            names.append(name.encode())
            above.append(number)
    return tuple(names), tuple(above)


def _is_plain(part: str | int) -> bool:
    """Whether JSON has a name as it is: the encoder takes no others."""
    return isinstance(part, str) and not ('"' in part or "\\" in part or (part and min(part) < " "))


class _Members:
    """What is kept of the members of an object: a structure that has the others skipped."""

    __slots__ = ("_nested", "structure")

    def __init__(self, branches: Mapping[Any, Branches]) -> None:
        fields: list[tuple[str, Any, Any]] = []
        self._nested: list[tuple[str, _Members | None]] = []
        for number, below in enumerate(branches.values()):
            members = _Members(below) if below else None
            kept = Raw if members is None else members.as_value()
            fields.append((f"m{number}", kept | UnsetType, UNSET))
            self._nested.append((f"m{number}", members))
        names = {f"m{number}": name for number, name in enumerate(branches)}
        self.structure = msgspec.defstruct("Members", fields, rename=names, gc=False)

    @property
    def prunes(self) -> bool:
        """Whether there are paths into documents, which may lead nowhere."""
        return any(members is not None for _, members in self._nested)

    def as_value(self) -> type[msgspec.Struct]:
        """The structure of an attribute value that is a map; one of another type has no members."""
        return msgspec.defstruct("Value", [("M", self.structure | UnsetType, UNSET)], gc=False)

    def prune(self, item: Any) -> bool:
        """Take out documents of which nothing is kept; whether anything is left."""
        left = False
        for name, members in self._nested:
            value = getattr(item, name)
            if value is UNSET:
                continue
            if members is None or (value.M is not UNSET and members.prune(value.M)):
                left = True
            else:
                setattr(item, name, UNSET)
        return left


def _cut(branches: Mapping[str, Branches]) -> Cut:
    members = _Members(branches)
    decode = msgspec.json.Decoder(list[members.structure]).decode  # type: ignore[name-defined]
    if not members.prunes:
        return lambda rows: _encode(decode(b"[" + rows + b"]"))[1:-1]
    prune = members.prune

    def cut(rows: bytes) -> bytes:
        kept = decode(b"[" + rows + b"]")
        text = _encode(kept)
        # A document of which nothing is kept ends in an empty object; few rows have one.
        if _EMPTY in text:
            for item in kept:
                prune(item)
            text = _encode(kept)
        return text[1:-1]

    return cut
