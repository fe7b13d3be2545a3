"""docs/compatibility.md speaks of every operation and every parameter that the server knows."""

import re
from pathlib import Path

import pytest

from hashrange.api.registry import DYNAMODB
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.streams.registry import STREAMS

operations = DYNAMODB.operations | STREAMS.operations
_PAGE = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text()
# Two services may have operations of the same name, so each chapter of operations stands by itself.
_CHAPTERS = {
    "Operations and parameters": operations,
    "Operations of Application Auto Scaling": AUTO_SCALING.operations,
}


def sections(chapter: str) -> dict[str, str]:
    """The sections of a chapter by their titles."""
    text = _PAGE.split(f"\n## {chapter}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("chapter", _CHAPTERS)
def test_every_operation_has_a_section_and_no_other(chapter: str) -> None:
    assert set(sections(chapter)) == set(_CHAPTERS[chapter])


@pytest.mark.parametrize(
    ("chapter", "name"), [(chapter, name) for chapter, known in _CHAPTERS.items() for name in sorted(known)]
)
def test_every_parameter_is_listed(chapter: str, name: str) -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", sections(chapter).get(name, ""), re.MULTILINE))
    assert set(_CHAPTERS[chapter][name].shape.members) <= listed


def test_what_is_not_there_yet_is_said() -> None:
    missing = set(re.findall(r"`(\w+)`", _PAGE.split("## Not yet")[1].split("## Operations")[0]))
    assert not missing & set(operations)
    assert "CreateGlobalTable" in missing
