"""The list of known differences is in order, and everyone can read it."""

import json
import re
from pathlib import Path

import pytest

from differential.run import KNOWN

_ENTRIES = json.loads(KNOWN.read_text("utf-8"))
_PAGE = " ".join((Path(__file__).parents[2] / "docs" / "compatibility.md").read_text("utf-8").split())


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry["why"])
def test_a_known_difference_is_explained_in_the_documentation(entry: dict[str, str]) -> None:
    assert entry["why"] + "." in _PAGE
    assert entry.keys() <= {"operation", "ours", "theirs", "why"}
    for pattern in entry.keys() - {"why"}:
        re.compile(entry[pattern])
