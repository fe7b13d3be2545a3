"""Document paths: what they lead to, and which two of them cannot stand in one expression."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core.expressions import Path
from hashrange.core.expressions.document_paths import PathTree, find

parts = st.one_of(st.sampled_from("ab"), st.integers(0, 1))
paths = st.lists(parts, max_size=4).map(lambda some: Path(tuple(some)))


def relation(path: Path, other: Path) -> str | None:
    """How two paths stand to each other, part by part."""
    for left, right in zip(path.parts, other.parts, strict=False):
        if isinstance(left, int) != isinstance(right, int):
            return "conflict"
        if left != right:
            return None
    return "overlap"


def first_problem(others: Iterable[Path], path: Path) -> str | None:
    for other in others:
        word = relation(path, other)
        if word is not None:
            return (
                f"Two document paths {word} with each other; must remove or rewrite one of these paths; "
                f"path one: {path}, path two: {other}"
            )
    return None


@given(st.lists(paths, max_size=8))
def test_a_tree_reports_the_first_path_that_another_cannot_stand_beside(some: list[Path]) -> None:
    tree = PathTree()
    for at, path in enumerate(some):
        assert tree.add(path) == first_problem(some[:at], path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("m", "l", 1), {"S": "y"}),
        (("m", "l", 2), None),
        (("m", "x", "y"), None),
        (("m", 0), None),
        (("s", "x"), None),
        (("none",), None),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(path: tuple[str | int, ...], value: object) -> None:
    item: dict[str, dict[str, Any]] = {"m": {"M": {"l": {"L": [{"S": "x"}, {"S": "y"}]}}}, "s": {"S": "x"}}
    assert find(item, path) == value
