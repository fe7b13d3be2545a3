"""Document paths: the value that one leads to, and which two of them cannot be used together."""

from collections.abc import Iterable, Sequence
from typing import Any

from hashrange.core.expressions.resolved import Path
from hashrange.core.values import Item, Value


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


def clash(paths: Iterable[Path], path: Path) -> str | None:
    """What is wrong between a path and the first of these that it cannot stand beside."""
    for other in paths:
        relation = _relation(path, other)
        if relation:
            return (
                f"Two document paths {relation} with each other; must remove or rewrite one of these paths; "
                f"path one: {path}, path two: {other}"
            )
    return None


def _relation(path: Path, other: Path) -> str | None:
    for left, right in zip(path.parts, other.parts, strict=False):
        if isinstance(left, int) != isinstance(right, int):
            return "conflict"
        if left != right:
            return None
    return "overlap"
