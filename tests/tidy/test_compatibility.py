"""docs/compatibility.md speaks of every operation and every parameter that the server knows."""

import re
from pathlib import Path

import pytest

from hashrange.api.registry import DYNAMODB
from hashrange.services.streams.registry import STREAMS

operations = DYNAMODB.operations | STREAMS.operations
_PAGE = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text()
_SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", _PAGE, re.MULTILINE | re.DOTALL))


def test_every_operation_has_a_section_and_no_other() -> None:
    assert set(_SECTIONS) == set(operations)


@pytest.mark.parametrize("name", sorted(operations))
def test_every_parameter_is_listed(name: str) -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", _SECTIONS.get(name, ""), re.MULTILINE))
    assert set(operations[name].shape.members) <= listed


def test_what_is_not_there_yet_is_said() -> None:
    missing = set(re.findall(r"`(\w+)`", _PAGE.split("## Not yet")[1].split("## Operations")[0]))
    assert not missing & set(operations)
    assert "CreateGlobalTable" in missing
