"""Projections: which parts of an item they keep. Maps keep their order, lists close their gaps."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec
import orjson

from hashrange.core import items
from hashrange.core.expressions.mentions import Mentions, mentions
from hashrange.core.expressions.partial_json import Branches, Cutter
from hashrange.core.expressions.resolved import Path
from hashrange.core.values import Item, Value


class Picker(Protocol):
    """Makes of an item the part that a read keeps: a projection, or the columns of a PartiQL statement."""

    def __call__(self, item: Item) -> Item:
        """The part of an item."""

    def cut(self, rows: bytes) -> bytes:
        """The parts of small items, both as JSON by commas."""


class Projection(msgspec.Struct, frozen=True):
    """The document paths to keep of an item, and the same as a tree for the walk over the item."""

    paths: tuple[Path, ...]
    mentions: Mentions
    branches: Mapping[str, Branches]
    cutter: Cutter

    @property
    def attributes(self) -> frozenset[str]:
        """Top-level names of the attributes that it keeps something of."""
        return self.mentions.attributes

    @property
    def nested(self) -> frozenset[str]:
        """Those of them into which it has paths, with . or []."""
        return self.mentions.nested

    def __call__(self, item: Item) -> Item:
        """The parts of an item that it keeps."""
        return _pick(self.branches, item)

    def cut(self, rows: bytes) -> bytes:
        """The parts of small items, both as JSON by commas."""
        cut = self.cutter.cut_or_none()
        return cut_decoded(self, rows) if cut is None else cut(rows)


def projection(paths: Iterable[Path]) -> Projection:
    """A projection of these paths, which must not overlap."""
    kept = tuple(paths)
    branches = _branches(kept)
    return Projection(kept, mentions(kept), branches, Cutter(branches))


def _branches(paths: Iterable[Path]) -> Mapping[str, Branches]:
    root: dict[str | int, Branches] = {}
    for path in paths:
        at = root
        for part in path.parts:
            at = at.setdefault(part, {})  # type: ignore[assignment]  # ours to fill until it is handed out
    return root  # type: ignore[return-value]  # every path starts with a name


def pick(projection: Projection, item: Item) -> Item:
    """The parts of an item that the projection keeps."""
    return projection(item)


def cut_decoded(picker: Picker, rows: bytes) -> bytes:
    """The parts of items, both as JSON by commas, by way of the whole items."""
    return orjson.dumps(list(map(picker, orjson.loads(b"[" + rows + b"]"))))[1:-1]


def picked_json(picker: Picker, stored: bytes) -> bytes:
    """The part of a stored item, as JSON."""
    if len(stored) > items.LARGE_BYTES:
        return orjson.dumps(picker(items.decode(stored)))
    return picker.cut(stored[items.HEADER_BYTES :])


def _pick(branches: Mapping[str, Branches], item: Item) -> Item:
    picked = {}
    for name, below in branches.items():
        value = item.get(name)
        if value is not None:
            kept = _keep(value, below) if below else value
            if kept is not None:
                picked[name] = kept
    return picked


def select_paths(paths: Iterable[Path], item: Item) -> Item:
    """The parts of an item at these paths."""
    return _pick(_branches(paths), item)


def _keep(value: Value, branches: Branches) -> Value | None:
    """The parts of a map or list that the branches lead to; None if there are none."""
    entries = value.get("M")
    if entries is not None:
        parts = {part: _below(entries.get(part), below) for part, below in branches.items()}
        kept = {part: value for part, value in parts.items() if value is not None}
        return {"M": kept} if kept else None
    elements = value.get("L")
    if elements is None:
        return None
    indexes = sorted(part for part in branches if isinstance(part, int) and part < len(elements))
    picked = [_below(elements[index], branches[index]) for index in indexes]
    listed = [element for element in picked if element is not None]
    return {"L": listed} if listed else None


def _below(value: Value | None, branches: Branches) -> Value | None:
    if value is None or not branches:
        return value
    return _keep(value, branches)
