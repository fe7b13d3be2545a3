"""Reads the golden case files: a first group with what all groups share, then groups of cases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent / "cases"

# What was seen: DynamoDB Local's answer to every case, and the service's own where a public record of it differs.
# A case is a list: the text first, what it comes to last.


def shared(name: str) -> dict[str, Any]:
    """The item, names and values that the cases of a file use."""
    first: dict[str, Any] = _groups(name)[0]
    return first


def cases(name: str) -> list[Any]:
    """Every case of a file as a pytest parameter: its group, then its members."""
    return [
        pytest.param(group, *case, id=f"{group['about'].split(':')[0]}: {_shown(case[0])}")
        for group, case in _all(name)
    ]


def _all(name: str) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for group in _groups(name)[1:]:
        for case in group["cases"]:
            yield group, case


def _groups(name: str) -> list[Any]:
    groups: list[Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return groups


def _shown(text: Any) -> str:
    return text if isinstance(text, str) else json.dumps(text)
