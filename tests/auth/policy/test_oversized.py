"""Patterns that were made to be slow. What is counted is work, not time; what cannot be counted would never end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.auth.policy import patterns
from hashrange.auth.policy.patterns import Pattern


class Keys:
    def get(self, name: str, /) -> str | None:
        return {"aws:username": "alice"}.get(name)


class Counted(str):
    """A text that counts how often somebody looks into it."""

    __slots__ = ()
    looks = 0

    def find(self, *arguments: object) -> int:
        Counted.looks += 1
        return super().find(*arguments)  # type: ignore[arg-type]

    def startswith(self, *arguments: object) -> bool:
        Counted.looks += 1
        return super().startswith(*arguments)  # type: ignore[arg-type]

    def __getitem__(self, at: object) -> str:
        Counted.looks += 1
        return super().__getitem__(at)  # type: ignore[index]


def compiled(text: str) -> Pattern:
    return patterns.compiled(text, wildcards=True, variables=True)


def looks(pattern: str, text: str) -> int:
    Counted.looks = 0
    assert not compiled(pattern).matches(Counted(text), Keys())
    return Counted.looks


STARS = 100_000


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        ("*" * STARS + "b", 3),
        ("*a" * STARS, 2_100),
        ("*a?" * STARS, 2_100),
        ("*a*b" * STARS, 2_100),
        # Every place of the text begins well; they are not all tried.
        ("*" + "a?" * 1_000 + "b*", 40_000),
        ("*" + "a?" * 20 + "b*", 4_000),
        ("*" + "a" * 1_000 + "?b*", 4_000),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else None,
)
def test_wildcards_are_matched_in_few_steps(pattern: str, most: int) -> None:
    assert looks(pattern, "a" * 2_048 + "c") <= most


BLANKS = " " * 100_000
ENDLESS = {
    "a variable that does not end": "${" + BLANKS,
    "blanks in a variable": "${a" + BLANKS + "b}",
    "blanks before a default": "${a" + BLANKS + ",'b" + BLANKS,
    "blanks around a name": "${" + BLANKS + "a" + BLANKS + "}",
    "variables in variables": "${a" * 30_000,
    "beginnings of variables": "${" * 50_000,
    "dollars": "$" * 100_000,
    "quotes": "${a,'" + "''" * 30_000 + "}",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_text_is_compiled_in_one_go(text: str) -> None:
    """An expression that tries every way to split the blanks would take until the end of the day."""
    assert not compiled(text).matches("x", Keys())


VARIABLES = [
    ("${aws:username}", "alice"),
    ("${ aws:username }", "alice"),
    ("${\taws:UserName\n}", "alice"),
    ("${nothing, 'all'}", "all"),
    ("${ nothing,'all' }", "all"),
    ("${nothing , ''}", ""),
    ("${aws:username, 'all'}", "alice"),
    ("${*}", "*"),
    ("${ ? }", "?"),
    ("${$}", "$"),
    ("a${aws:username}b", "aaliceb"),
    ("$aws:username}", "$aws:username}"),
]


@pytest.mark.parametrize(("text", "value"), VARIABLES)
def test_how_variables_are_written(text: str, value: str) -> None:
    assert compiled(text).matches(value, Keys())
    assert not compiled(text).matches(value + "x", Keys())


@pytest.mark.parametrize("text", ["${nothing}", "${nothing, all}", "${nothing, 'a'b}", "${'a', 'b'}", "${}"])
def test_a_variable_without_a_value_matches_nothing(text: str) -> None:
    assert not compiled(text).matches("", Keys())
    assert not compiled(text).matches(text, Keys())


@given(st.text("ab?*", max_size=12), st.text("ab", max_size=80))
def test_wildcards_mean_what_a_plain_expression_means(pattern: str, text: str) -> None:
    plain = "".join({"*": ".*", "?": "."}.get(character, character) for character in pattern)
    assert compiled(pattern).matches(text, Keys()) == bool(re.fullmatch(plain, text))


@given(
    st.text("ab?", min_size=1, max_size=8).filter(lambda run: set(run) - {"?"}), st.text("ab", max_size=40)
)
def test_bits_find_what_places_find(run: str, text: str) -> None:
    (_, piece, _) = patterns._runs(compiled(f"*{run}*")._pieces)
    found = re.search(run.replace("?", "."), text)
    assert piece._found_by_bits(text, 0, len(text)) == (found.start() if found else -1)
