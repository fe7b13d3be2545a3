"""docs/model-file.md: its examples load, and every member that the loader knows is explained."""

import re

import pytest

from hashrange.modeling.commands.new import starter
from hashrange.modeling.loading import loads
from hashrange.modeling.model_command import COMMANDS
from hashrange.modeling.reading import vocabulary
from hashrange.modeling.reading.attributes import FORMATS
from house import ROOT

PAGE = (ROOT / "docs" / "model-file.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^(\w+):\n((?:[ #-].*\n)+)", re.MULTILINE)


def with_sections(text: str, addition: str) -> str:
    """A model to whose sections those of a fragment are added."""
    for name, body in SECTION.findall(addition):
        text = re.sub(
            rf"^{name}:\n", f"{name}:\n{body.replace(chr(92), chr(92) * 2)}", text, flags=re.MULTILINE
        )
    return text


@pytest.mark.parametrize("number", range(1, len(BLOCKS)))
def test_a_fragment_fits_the_example(number: int) -> None:
    assert loads(with_sections(BLOCKS[0], BLOCKS[number])).patterns


def test_the_example_loads() -> None:
    model = loads(BLOCKS[0])
    assert [pattern.id for pattern in model.patterns] == ["A1", "W1"]


def test_the_starter_loads_and_has_reads_and_writes() -> None:
    model = loads(starter())
    assert model.reads
    assert model.writes


@pytest.mark.parametrize("section", vocabulary.SECTIONS)
def test_every_member_is_explained(section: str) -> None:
    assert [name for name in vocabulary.SECTIONS[section] if f"`{name}" not in PAGE] == []


def test_every_format_is_explained() -> None:
    assert [name for name in FORMATS if f"`{name}`" not in PAGE] == []


def test_every_command_is_in_the_documents() -> None:
    pages = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert [command.name for command in COMMANDS if f"hashrange model {command.name}" not in pages] == []
