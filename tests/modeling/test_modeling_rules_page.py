"""docs/modeling-rules.md: every rule is explained there, and its examples do what the page says."""

import re
from pathlib import Path

import pytest

from hashrange.modeling.check.rules import RULES, UNUSED_SILENCE, UNUSED_SILENCE_TITLE, check
from hashrange.modeling.loading import loads

PAGE = (Path(__file__).parents[2] / "docs" / "modeling-rules.md").read_text("utf-8")
SECTION = re.compile(r"^### (HR\d{3}) (.+)\n((?:(?!^##).*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
TOP = re.compile(r"^(\w+):\n((?:[ #].*\n)+)", re.MULTILINE)
SEVERITIES = {rule.code: rule.severity for rule in RULES} | {UNUSED_SILENCE: "info"}
EXPLAINED = {code: (title, BLOCK.findall(body)) for code, title, body in SECTION.findall(PAGE)}


def with_sections(bad: str, good: str) -> str:
    """The bad example, with the sections that the good one shows."""
    sections = dict(TOP.findall(bad)) | dict(TOP.findall(good))
    return "".join(f"{name}:\n{body}" for name, body in sections.items())


def codes(text: str) -> set[str]:
    return {finding.code for finding in check(loads(f"hashrange: 1\n{text}")).findings}


def test_every_rule_is_explained_under_its_title() -> None:
    titles = {rule.code: rule.title for rule in RULES} | {UNUSED_SILENCE: UNUSED_SILENCE_TITLE}
    assert {code: title for code, (title, _) in EXPLAINED.items()} == titles
    assert list(EXPLAINED) == sorted(EXPLAINED)


def test_every_rule_has_an_example_that_breaks_it_and_one_that_does_not() -> None:
    assert [code for code, (_, blocks) in EXPLAINED.items() if len(blocks) != 2] == []


@pytest.mark.parametrize("code", EXPLAINED)
def test_the_bad_example_breaks_that_rule_and_no_other(code: str) -> None:
    found = codes(EXPLAINED[code][1][0])
    assert code in found
    assert [other for other in sorted(found - {code}) if SEVERITIES[other] != "info"] == []


@pytest.mark.parametrize("code", EXPLAINED)
def test_the_good_example_breaks_no_rule(code: str) -> None:
    bad, good = EXPLAINED[code][1]
    found = codes(with_sections(bad, good))
    assert code not in found
    assert [other for other in sorted(found) if SEVERITIES[other] != "info"] == []
