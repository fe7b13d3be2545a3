"""Document paths: the value that one leads to, and which two of them cannot be used together."""

from collections.abc import Sequence
from typing import Any

from hashrange.core.expressions.resolved import Path
from hashrange.core.values import Item, Value

# A path and its number among all that were added.
_Numbered = tuple[int, Path]


def find(item: Item, parts: Sequence[str | int]) -> Value | None:
    """The value at a path, or None."""
    value: Any = item.get(parts[0])  # type: ignore[arg-type]  # a path starts with a name
    for part in parts[1:]:
        if value is None:
            return None
        value = step(value, part)
    return value  # type: ignore[no-any-return]


def step(value: Value, part: str | int) -> Value | None:
    """One level down: a map's entry or a list's element."""
    if isinstance(part, str):
        entries = value.get("M")
        return None if entries is None else entries.get(part)
    elements = value.get("L")
    if elements is None or part >= len(elements):
        return None
    return elements[part]  # type: ignore[no-any-return]


class _Node:
    """One place in the tree of the paths: the first path that ends here, that goes on, and by which kind of part."""

    __slots__ = ("below", "ending", "first", "first_by_index", "first_by_name")

    def __init__(self) -> None:
        self.below: dict[str | int, _Node] = {}
        self.first: _Numbered | None = None
        self.ending: _Numbered | None = None
        self.first_by_name: _Numbered | None = None
        self.first_by_index: _Numbered | None = None


class PathTree:
    """The paths of one expression: tells which of them a further path overlaps or conflicts with.

    A tree, because 4 KB of text hold a thousand paths: to compare all pairs of them took 0.7 seconds.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._count = 0

    def add(self, path: Path) -> str | None:
        """Add a path; returns what is wrong between it and the first of those before that it cannot stand beside."""
        problem = self._problem(path)
        self._insert(path)
        return problem

    def _problem(self, path: Path) -> str | None:
        overlaps: list[_Numbered | None] = []
        conflicts: list[_Numbered | None] = []
        node: _Node | None = self._root
        for part in path.parts:
            if node is None:
                break
            overlaps.append(node.ending)
            conflicts.append(node.first_by_index if isinstance(part, str) else node.first_by_name)
            node = node.below.get(part)
        if node is not None:
            overlaps.append(node.first)
        relations = [
            *((*numbered, "overlap") for numbered in overlaps if numbered is not None),
            *((*numbered, "conflict") for numbered in conflicts if numbered is not None),
        ]
        if not relations:
            return None
        _, other, relation = min(relations, key=lambda candidate: candidate[0])
        return (
            f"Two document paths {relation} with each other; must remove or rewrite one of these paths; "
            f"path one: {path}, path two: {other}"
        )

    def _insert(self, path: Path) -> None:
        numbered = (self._count, path)
        self._count += 1
        node = self._root
        for part in path.parts:
            node.first = node.first or numbered
            if isinstance(part, str):
                node.first_by_name = node.first_by_name or numbered
            else:
                node.first_by_index = node.first_by_index or numbered
            below = node.below.get(part)
            if below is None:
                below = node.below[part] = _Node()
            node = below
        node.first = node.first or numbered
        node.ending = node.ending or numbered
