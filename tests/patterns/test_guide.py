"""The programs of docs/patterns.md, executed as they are printed."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from hashrange import patterns
from house import ROOT
from item_tables import unique

_GUIDE = (ROOT / "docs" / "patterns.md").read_text("utf-8")
_ENDPOINT = 'boto3.client("dynamodb", endpoint_url="http://127.0.0.1:8000")'


def sections() -> dict[str, str]:
    """The programs of the page, each under its heading."""
    parts = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", _GUIDE, re.DOTALL | re.MULTILINE)
    blocks = {title: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for title, text in parts}
    return {title: "".join(programs) for title, programs in blocks.items() if programs}


_PROGRAMS = sections()


@pytest.fixture(scope="module")
def memory(make_client: Callable[..., Any]) -> dict[str, Any]:
    """What the first program leaves for the others, with a client of the tests."""
    beginning = _PROGRAMS["How it is used"]
    assert _ENDPOINT in beginning
    names: dict[str, Any] = {"make_client": make_client}
    # Tables of other regions are other tables, so that the names of the page are free.
    region = f"eu-test-{unique().replace('-', '')[-8:]}"
    exec(beginning.replace(_ENDPOINT, f'make_client(region="{region}")'), names)
    return names


@pytest.mark.parametrize("title", [title for title in _PROGRAMS if title != "How it is used"])
def test_a_program_does_what_it_says(memory: dict[str, Any], title: str) -> None:
    exec(_PROGRAMS[title], dict(memory))


def test_every_pattern_has_its_section_with_keys_failures_and_costs() -> None:
    table = _GUIDE.partition("## How it is used")[0]
    named = set(re.findall(r"\[`(\w+)`\]\(#", table))
    assert len(named) == len(_PROGRAMS) - 1 == 13
    assert named <= set(patterns.__all__)
    for word in ("*When:*", "*Keys:*", "*Failures:*", "*Costs:*"):
        assert _GUIDE.count(word) == 13
