"""The files to start from say what the settings are called, and can be read."""

import re
from typing import Any

import pytest
import yaml

from hashrange.config import Settings
from house import ROOT

FILES = sorted((ROOT / "deploy").rglob("*.y*ml"))
VARIABLES = {f"HASHRANGE_{name.upper()}" for name in Settings.__dataclass_fields__}


def documents() -> list[Any]:
    return [document for path in FILES for document in yaml.safe_load_all(path.read_text())]


def test_they_are_yaml() -> None:
    assert len(FILES) == 2
    assert all(documents())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_they_name_settings_that_exist(path: Any) -> None:
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    named = set(re.findall(r"HASHRANGE_[A-Z_]+", text)) - {"HASHRANGE_DB_PASSWORD"}
    assert named
    assert named <= VARIABLES
    flags = {flag.replace("-", "_") for flag in re.findall(r"[\[ \"]--([a-z-]+)", text)}
    assert flags <= set(Settings.__dataclass_fields__)
