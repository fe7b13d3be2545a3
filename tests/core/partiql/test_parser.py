"""Every golden case: how a statement is read, or the words in which it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from core.partiql.printing import condition_text, conditions, statement_text
from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved
from hashrange.core.partiql import bind, decimals, syntax
from hashrange.core.partiql.prepared import prepare

ENVELOPE = "Statement wasn't well formed, can't be processed: "
FOLDER = Path(__file__).parent / "cases"


def cases(name: str) -> list[Any]:
    groups = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return [pytest.param(group, *case, id=case[0]) for group in groups for case in group["cases"]]


def where_of(text: str) -> resolved.Node | None:
    parsed = prepare(f"SELECT * FROM t WHERE {text}").statement
    assert isinstance(parsed, syntax.Select)
    return parsed.where


@pytest.mark.parametrize(("group", "text", "reading"), cases("readings"))
def test_a_statement_is_read(group: dict[str, Any], text: str, reading: str) -> None:
    if group.get("where"):
        where = where_of(text)
        assert where is not None
        assert condition_text(where) == reading
        assert where_of(reading) == where
    else:
        parsed = prepare(text).statement
        assert statement_text(parsed) == reading
        assert prepare(reading).statement == parsed


@pytest.mark.parametrize(("group", "text", "message"), cases("flaws"))
def test_a_statement_is_refused(group: dict[str, Any], text: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        bind(text, [])
    assert caught.value.message == (ENVELOPE + message if group.get("envelope") else message)


@given(conditions())
def test_what_is_printed_is_read_back(node: resolved.Node) -> None:
    assert where_of(condition_text(node)) == node


def test_parameters_count_from_the_left() -> None:
    prepared = prepare("UPDATE t SET a = ?, b = [1] WHERE pk = ? AND c IN [?, 1, ?]")
    assert prepared.parameters == 4
    assert prepared.where is not None
    shown = str(prepared.where.root)
    assert shown.index("?2") < shown.index("?3") < shown.index("?4")
    assert "?1" not in shown


def test_a_statement_is_parsed_once() -> None:
    text = "SELECT * FROM parsed_once WHERE pk = ?"
    first, second = bind(text, [{"S": "a"}]), bind(text, [{"S": "b"}])
    assert first.prepared is second.prepared
    assert first.values != second.values


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t WHERE " + "(" * 4000 + "a = 1",
        "SELECT * FROM t WHERE " + "NOT " * 2000 + "a = 1",
        "SELECT * FROM t WHERE a" + " = 1" * 2000,
        "UPDATE t SET a = " + "list_append(" * 600,
        "UPDATE t SET a = 1" + " + 1" * 2000,
        "SELECT * FROM t WHERE a = " + "[" * 4000,
    ],
)
def test_hostile_nesting_ends_early(text: str) -> None:
    with pytest.raises(Invalid):
        bind(text, [])


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a[" + "1" * 5000 + "] FROM t",
        "SELECT * FROM t WHERE a = " + "1" * 5000,
        "SELECT * FROM t WHERE a = 1e" + "1" * 5000,
        "SELECT * FROM t WHERE a = 1e" + "0" * 5000,
    ],
)
def test_numbers_longer_than_python_converts_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        bind(text, [])


def test_a_list_index_may_have_leading_zeros() -> None:
    assert prepare("SELECT a[007] FROM t").statement == prepare("SELECT a[7] FROM t").statement


@pytest.mark.parametrize("exponent", ["0" * 5000 + "1", "-" + "0" * 5000 + "1", "9" * 5000])
def test_a_parameter_with_a_long_exponent_is_refused(exponent: str) -> None:
    with pytest.raises(Invalid, match="cannot be converted to a numeric value"):
        decimals.check_all({"L": [{"N": f"1e{exponent}"}]})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(200)),
        "SELECT * FROM t WHERE " + " AND ".join(f"(a IS MISSING OR a <> {number})" for number in range(100)),
        "UPDATE t " + " ".join(f"SET a{number} = a{number} + 1" for number in range(100)) + " WHERE pk = 'x'",
    ],
)
def test_length_is_not_depth(text: str) -> None:
    """What a part of a statement nests is over with that part."""
    prepare(text)
