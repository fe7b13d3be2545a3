"""Reads the golden case files: a first group with what all groups share, then groups of cases."""

import json
from collections.abc import Callable
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


def every_case(name: str, *what: str) -> Callable[[Callable[..., None]], Callable[[dict[str, Any]], None]]:
    """Have a test take every case of a file, group by group: its group, then its members.

    A group is one test, for pytest needs ten times as long as a case does; all of its cases that are wrong are told.
    """
    groups = [group for group in _groups(name)[1:] if not what or group["what"] in what]

    def over_groups(test: Callable[..., None]) -> Callable[[dict[str, Any]], None]:
        @pytest.mark.parametrize("group", groups, ids=[group["about"].split(":")[0] for group in groups])
        def all_of(group: dict[str, Any]) -> None:
            problems = (_problem(test, group, case) for case in group["cases"])
            wrong = [problem for problem in problems if problem]
            assert not wrong, "\n".join(wrong)

        return all_of

    return over_groups


def _problem(test: Callable[..., None], group: dict[str, Any], case: list[Any]) -> str | None:
    try:
        test(group, *case)
    except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001 - the other cases are tried all the same
        return f"{_shown(case[0])}: {problem}"
    return None


def _groups(name: str) -> list[Any]:
    groups: list[Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return groups


def _shown(text: Any) -> str:
    return text if isinstance(text, str) else json.dumps(text)
