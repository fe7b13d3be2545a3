"""Every golden case: how a statement is read, or the words in which it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from core.partiql.printing import condition_text, conditions, statement_text
from hashrange.core.errors import Invalid
from hashrange.core.expressions import tree
from hashrange.core.partiql import ast, bind
from hashrange.core.partiql.prepared import prepare

ENVELOPE = "Statement wasn't well formed, can't be processed: "
FOLDER = Path(__file__).parent / "cases"


def cases(name: str) -> list[Any]:
    groups = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return [pytest.param(group, *case, id=case[0]) for group in groups for case in group["cases"]]


def where_of(text: str) -> tree.Node | None:
    parsed = prepare(f"SELECT * FROM t WHERE {text}").statement
    assert isinstance(parsed, ast.Select)
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
def test_what_is_printed_is_read_back(node: tree.Node) -> None:
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
        "SELECT * FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(200)),
        "SELECT * FROM t WHERE " + " AND ".join(f"(a IS MISSING OR a <> {number})" for number in range(100)),
        "UPDATE t " + " ".join(f"SET a{number} = a{number} + 1" for number in range(100)) + " WHERE pk = 'x'",
    ],
)
def test_length_is_not_depth(text: str) -> None:
    """What a part of a statement nests is over with that part."""
    prepare(text)
