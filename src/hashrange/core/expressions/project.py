"""Projections: which parts of an item they keep. Maps keep their order, lists close their gaps."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from hashrange.core.expressions.mentions import Mentions, mentions
from hashrange.core.expressions.resolved import Path
from hashrange.core.values import Item, Value

# The parts below a part of a path; an empty mapping keeps all of it.
Branches = Mapping[str | int, "Branches"]
# What makes of an item the part that a read keeps: a projection, or the columns of a PartiQL statement.
Picker = Callable[[Item], Item]


class Projection(msgspec.Struct, frozen=True):
    """The document paths to keep of an item, and the same as a tree for the walk over the item."""

    paths: tuple[Path, ...]
    mentions: Mentions
    branches: Mapping[str, Branches]

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


def projection(paths: Iterable[Path]) -> Projection:
    """A projection of these paths, which must not overlap."""
    kept = tuple(paths)
    return Projection(kept, mentions(kept), _branches(kept))


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
