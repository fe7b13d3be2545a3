"""How a SELECT reads: its key ranges hold exactly what WHERE asks for, each item once, in the right order."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hashrange.core import indexes
from hashrange.core.errors import Invalid, Refused
from hashrange.core.expressions import matches
from hashrange.core.keys import primary_key
from hashrange.core.keys.ranges import within
from hashrange.core.partiql import bind, syntax
from hashrange.core.partiql.branches import Branch
from hashrange.core.partiql.java_order import hash_set_order
from hashrange.core.partiql.selection import Selection, select
from hashrange.core.schema import Index, KeyAttribute, Table
from hashrange.core.values import Item

INDEX = Index(
    name="index",
    slot=1,
    local=False,
    hash=(KeyAttribute("g", "S"),),
    range=(KeyAttribute("n", "N"),),
)
TABLE = Table(
    account_id="0",
    region="r",
    name="t",
    number=1,
    version=1,
    table_id="id",
    created_at=0.0,
    hash=KeyAttribute("pk", "S"),
    range=KeyAttribute("sk", "S"),
    indexes=(INDEX,),
)
ITEMS: list[Item] = [
    {"pk": {"S": pk}, "sk": {"S": sk}, "g": {"S": sk}, "n": {"N": str(n)}, "a": {"N": str(n % 2)}}
    for n, (pk, sk) in enumerate((pk, sk) for pk in "xyz" for sk in ("", "a", "ab", "b", "c")[1:])
]


def plan(text: str, index: Index | None = None) -> Selection:
    bound = bind(text, [])
    assert isinstance(bound.statement, syntax.Select)
    return select(bound, bound.statement, TABLE, index)


def key_bytes(item: Item, index: Index | None) -> bytes:
    base = primary_key.of_key(TABLE, primary_key.key_of(TABLE, item))
    if index is None:
        return base
    entry = indexes.entry(TABLE, index, item, base)
    assert entry is not None
    return entry.key


def selected_items(selection: Selection) -> list[Item]:
    """What reading the key ranges and keeping what is to be kept gives."""
    rows = sorted(((key_bytes(item, selection.index), item) for item in ITEMS), key=lambda row: row[0])
    if selection.key_ranges is None:
        read = [item for _, item in rows]
    else:
        read = []
        for key_range in selection.key_ranges:
            here = [item for key, item in rows if within(key_range, key)]
            read += reversed(here) if selection.reverse else here
    return [item for item in read if selection.keep is None or matches(selection.keep, item)]


def as_text(items: list[Item]) -> list[str]:
    return [item["pk"]["S"] + item["sk"]["S"] for item in items]


STRINGS = st.sampled_from(["'x'", "'y'", "'a'", "'ab'", "'b'", "''", "'q'"])
NUMBERS = st.sampled_from(["0", "1", "5", "11", "-1"])


@st.composite
def leaves(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["pk", "sk", "g", "n", "a"]))
    value = NUMBERS if name in ("n", "a") else STRINGS
    match draw(st.integers(0, 5)):
        case 0 | 1:
            return f"{name} {draw(st.sampled_from(['=', '=', '<>', '<', '<=', '>', '>=']))} {draw(value)}"
        case 2:
            return f"{name} IN [{', '.join(draw(st.lists(value, min_size=1, max_size=3)))}]"
        case 3:
            low, high = sorted(
                (draw(value), draw(value)), key=lambda text: (float(text) if name in ("n", "a") else 0, text)
            )
            return f"{name} BETWEEN {low} AND {high}"
        case 4:
            return f"begins_with(sk, {draw(STRINGS)})"
        case _:
            return f"attribute_exists({name})"


@st.composite
def wheres(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(leaves())
    word = draw(st.sampled_from(["AND", "AND", "OR", "NOT"]))
    if word == "NOT":
        return f"NOT ({draw(wheres(depth - 1))})"
    return f"({draw(wheres(depth - 1))} {word} {draw(wheres(depth - 1))})"


@given(wheres(), st.sampled_from([None, INDEX]))
def test_a_plan_finds_what_where_asks_for(where: str, index: Index | None) -> None:
    statement = f"SELECT * FROM t WHERE {where}"
    try:
        selection = plan(statement, index)
    except Refused:
        assume(False)
    condition = bind(statement, []).where
    assert condition is not None
    assert sorted(as_text(selected_items(selection))) == sorted(
        as_text([item for item in ITEMS if matches(condition, item)])
    )


@pytest.mark.parametrize(
    ("where", "reads"),
    [
        ("pk = 'x'", 1),
        ("pk = 'x' AND a = 1", 1),
        ("pk IN ['x', 'y']", 2),
        ("pk IN ['x', 'y'] AND sk IN ['a', 'b', 'c']", 6),
        ("pk = 'x' AND (sk = 'a' OR sk = 'b')", 2),
        ("pk = 'x' OR (pk = 'y' AND sk = 'a')", 2),
        ("pk = 'x' AND sk > 'a' AND sk < 'c'", 1),
        ("pk = 'x' AND pk = 'x'", 1),
        ("pk = 'x' AND pk = 'y'", None),
        ("pk > 'x'", None),
        ("pk <> 'x'", None),
        ("sk = 'a'", None),
        ("a = 1", None),
        ("NOT pk = 'x'", None),
        ("pk = 'x' OR a = 1", None),
        ("begins_with(pk, 'x')", None),
    ],
)
def test_how_many_reads_a_where_clause_becomes(where: str, reads: int | None) -> None:
    key_ranges = plan(f"SELECT * FROM t WHERE {where}").key_ranges
    assert (None if key_ranges is None else len(key_ranges)) == reads


@pytest.mark.parametrize(
    ("rest", "order"),
    [
        ("WHERE pk = 'x' ORDER BY sk", ["xa", "xab", "xb", "xc"]),
        ("WHERE pk = 'x' ORDER BY sk DESC", ["xc", "xb", "xab", "xa"]),
        ("WHERE pk = 'x' ORDER BY pk", ["xc", "xb", "xab", "xa"]),
        ("WHERE pk IN ['y', 'x'] AND sk IN ['c', 'a'] ORDER BY pk, sk", ["xa", "xc", "ya", "yc"]),
        ("WHERE pk IN ['y', 'x'] AND sk IN ['c', 'a'] ORDER BY pk DESC", ["yc", "ya", "xc", "xa"]),
        ("WHERE pk IN ['y', 'x'] AND sk IN ['c', 'a']", ["xa", "xc", "ya", "yc"]),
    ],
)
def test_the_order(rest: str, order: list[str]) -> None:
    assert as_text(selected_items(plan(f"SELECT * FROM t {rest}"))) == order


def test_only_a_whole_key_is_a_single_item() -> None:
    assert plan("SELECT * FROM t WHERE pk = 'x' AND sk = 'a' AND a = 1").single
    assert not plan("SELECT * FROM t WHERE pk = 'x'").single
    assert not plan("SELECT * FROM t WHERE pk = 'x' AND sk >= 'a'").single
    assert not plan("SELECT * FROM t WHERE pk = 'x' AND sk IN ['a', 'b']").single


def test_keys_alone_need_no_filter() -> None:
    assert plan("SELECT * FROM t WHERE pk = 'x' AND sk > 'a'").keep is None
    assert plan("SELECT * FROM t WHERE pk = 'x' AND sk <> 'a'").keep is not None


def test_alternatives_do_not_multiply_for_long() -> None:
    many = " AND ".join(f"(a = {n} OR sk = 'x')" for n in range(30))
    assert plan(f"SELECT * FROM t WHERE {many}").key_ranges is None
    with pytest.raises(Invalid) as caught:
        plan(f"SELECT * FROM t WHERE pk = 'x' AND {many}")
    assert caught.value.message == "Too many decomposed read operations for a given query."


def test_filters_that_alternatives_share_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joined, calls = Branch.joined, 0

    def counted(left: Branch, right: Branch) -> Branch:
        nonlocal calls
        calls += 1
        return joined(left, right)

    monkeypatch.setattr(Branch, "joined", counted)
    keys = ", ".join(f"'{number}'" for number in range(20))
    plan(f"SELECT * FROM t WHERE pk IN [{keys}]" + " AND NOT a = 1" * 300)
    assert calls == 20 + 20


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["zz", "aa", "mm"], ["zz", "aa", "mm"]),
        (["b", "a"], ["a", "b"]),
        (["a", "a"], ["a"]),
        (["status", "name", "id", "é", "😀"], None),
    ],
)
def test_sets_are_printed_as_java_does(names: list[str], order: list[str] | None) -> None:
    ordered = hash_set_order(names)
    assert sorted(ordered) == sorted(set(names))
    if order is not None:
        assert ordered == order


def test_a_hash_set_grows() -> None:
    names: list[Any] = [f"n{number}" for number in range(40)]
    assert sorted(hash_set_order(names)) == sorted(names)
