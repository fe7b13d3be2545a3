"""Conditions: what they say, how they are written, when they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.modeling.conditions import (
    attributes_of,
    conjuncts,
    holds,
    parameters_of,
    parse_condition,
    text_of,
)
from hashrange.modeling.model import All, AnyOf, Comparison, Condition, Name, Not, Now, Operand, Parameter
from hashrange.modeling.texts import TextInvalid


def test_and_binds_closer_than_or() -> None:
    a, b, c = (Comparison(name, "=", (1,)) for name in "abc")
    assert parse_condition("a = 1 or b = 1 and c = 1") == AnyOf((a, All((b, c))))
    assert parse_condition("(a = 1 OR b = 1) AND NOT c = 1") == All((AnyOf((a, b)), Not(c)))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a == ?x", Comparison("a", "=", (Parameter("x"),))),
        ("a != 'it\\'s'", Comparison("a", "<>", ("it's",))),
        ("a between 1 and 2.5", Comparison("a", "between", (1, 2.5))),
        ("begins_with(a, ?p)", Comparison("a", "begins_with", (Parameter("p"),))),
        ("a begins_with 'x'", Comparison("a", "begins_with", ("x",))),
        ('a in ("x", null, true)', Comparison("a", "in", ("x", None, True))),
        ("?x <= a", Comparison("a", ">=", (Parameter("x"),))),
        ("a > now - 30 days", Comparison("a", ">", (Now(30 * 86_400),))),
        ("a > now + 1 hour", Comparison("a", ">", (Now(-3600),))),
        ("a < other-name", Comparison("a", "<", (Name("other-name"),))),
        ("`in` = -1", Comparison("in", "=", (-1,))),
        ("not exists", Comparison("", "not_exists")),
        ("exists", Comparison("", "exists")),
        ("a not exists", Comparison("a", "not_exists")),
        ("attribute_not_exists(a)", Comparison("a", "not_exists")),
    ],
)
def test_a_comparison_is_read(text: str, condition: Condition) -> None:
    assert parse_condition(text) == condition


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "a condition is empty", 0),
        ("a =", "the end where a value should be", 3),
        ("a = 1 b", "`b` where `and`, `or` or the end should be", 6),
        ("(a = 1", "the end where `)` should be", 6),
        ("a in 3", "`3` where `(` should be", 5),
        ("a between 1 or 2", "`or` where `and` and the upper end should be", 12),
        ('a = "x', '`"` has no meaning here', 4),
        ("3 4", "a comparison begins with an attribute", 0),
        ("a > now - ?x", "`?x` where a number of seconds".replace("?", ""), 10),
        ("(" * 30 + "a = 1", "nested more than 20 deep", 21),
        ("not " * 30 + "a = 1", "nested more than 20 deep", 84),
        (" and ".join(["a = 1"] * 101), "more than 100 comparisons", 1000),
        (f"a = {'9' * 41}", "DynamoDB's numbers have 38 digits", 4),
        ("a = 1e999", "a number too large for DynamoDB", 4),
        ("x" * 4001, "more than 4000 characters", 0),
    ],
)
def test_a_wrong_condition_is_refused_where_it_is_wrong(text: str, message: str, offset: int) -> None:
    with pytest.raises(TextInvalid) as caught:
        parse_condition(text)
    assert caught.value.message.startswith(message)
    assert caught.value.offset == offset


NAMES = st.sampled_from(["a", "b-c", "in", "weird name", "now"])
OPERANDS: st.SearchStrategy[Operand] = st.one_of(
    st.builds(Parameter, st.sampled_from("xy")),
    st.builds(Name, NAMES),
    st.builds(Now, st.integers(-(10**9), 10**9)),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
COMPARISONS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, NAMES, st.sampled_from(["=", "<>", "<", ">="]), st.tuples(OPERANDS)),
    st.builds(Comparison, NAMES, st.just("between"), st.tuples(OPERANDS, OPERANDS)),
    st.builds(Comparison, NAMES, st.just("in"), st.lists(OPERANDS, min_size=1, max_size=3).map(tuple)),
    st.builds(Comparison, NAMES, st.sampled_from(["exists", "not_exists"])),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(All, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_a_written_condition_reads_as_itself(condition: Condition) -> None:
    assert parse_condition(text_of(condition)) == condition


ITEM = {"s": "ORDER#1", "n": 5, "b": True, "l": ["x", 2], "t": "2026-01-31T00:00:00Z", "d": "2026-01-31"}
NOW = 1_769_904_000  # 2026-02-01


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('s begins_with "ORDER#"', True),
        ("n = 5.0", True),
        ('n = "5"', False),
        ("n = true", False),
        ("b = true", True),
        ("n between 1 and 5", True),
        ("n between 6 and 9", False),
        ("n < s", False),
        ("n in (1, 5)", True),
        ('l contains "x"', True),
        ("l contains 3", False),
        ('s contains "R#"', True),
        ("missing = 1", False),
        ("missing <> 1", True),
        ("missing not exists and s exists", True),
        ("n > ?p", True),
        ("n > ?unknown", False),
        ("t < now and t >= now - 1 day", True),
        ("t < now - 1 day", False),
        ("d = now - 1 day", True),
        ("not (n = 5 or n = 6)", False),
    ],
)
def test_a_condition_holds_or_does_not(text: str, expected: bool) -> None:
    assert holds(parse_condition(text), ITEM, {"p": 4}, NOW) is expected


def test_texts_are_in_the_order_of_their_bytes() -> None:
    # U+FF5E comes before U+1F600 in UTF-8, but after its surrogates in UTF-16.
    assert holds(parse_condition('s < "\U0001f600"'), {"s": "\uff5e"}, {}, 0)


def test_a_condition_names_its_parts() -> None:
    condition = parse_condition("a = ?x and (b = c or d > ?y) and not e exists")
    assert len(conjuncts(condition)) == 3
    assert conjuncts(None) == ()
    assert attributes_of(condition) == ("a", "b", "c", "d", "e")
    assert parameters_of(condition) == ("x", "y")
