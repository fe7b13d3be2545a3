"""Key ranges: what a query's conditions select, what a segment covers."""

import base64
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import value_strategies
from hashrange.core import values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import KeyClause
from hashrange.core.keys import encoding, ranges
from schemas import index, item_key, table

Value = dict[str, Any]
BASE = {kind: table("pk:S", f"sk:{kind}") for kind in "SNB"}
INDEX = {kind: index("i", "pk:S", f"sk:{kind}") for kind in "SNB"}
strings = st.text(st.sampled_from("\0\x01ab\x7fé\uffff😀"), min_size=1, max_size=4).map(
    lambda text: {"S": text}
)
binaries = st.binary(min_size=1, max_size=3).map(lambda raw: {"B": base64.b64encode(raw).decode()})
numbers = value_strategies.numbers.map(values.canonical)
triples = st.one_of(*(st.tuples(kind, kind, kind) for kind in (strings, binaries, numbers)))
PARTITION = KeyClause("pk", "=", ({"S": "p"},))


def rank(value: Value) -> Any:
    ((kind, content),) = value.items()
    if kind == "N":
        return Decimal(content)
    return content.encode() if kind == "S" else base64.b64decode(content)


def holds(operator: str, value: Value, low: Value, high: Value) -> bool:
    """Whether a sort key meets a condition, by the values themselves."""
    ranked, bound = rank(value), rank(low)
    match operator:
        case "=":
            return bool(ranked == bound)
        case "<":
            return bool(ranked < bound)
        case "<=":
            return bool(ranked <= bound)
        case ">":
            return bool(ranked > bound)
        case ">=":
            return bool(ranked >= bound)
        case "BETWEEN":
            return bool(bound <= ranked <= rank(high))
    return bool(ranked.startswith(bound))


@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"])
@given(triples)
def test_a_key_range_holds_what_meets_the_condition(
    operator: Any, triple: tuple[Value, Value, Value]
) -> None:
    value, low, high = triple
    kind = next(iter(value))
    if operator == "begins_with" and kind == "N":
        return
    operands = (low, high) if operator == "BETWEEN" else (low,)
    clauses = [PARTITION, KeyClause("sk", operator, operands)]
    expected = holds(operator, value, low, high)
    key_range = ranges.query_range(BASE[kind], None, clauses)
    assert ranges.within(key_range, item_key({"S": "p"}, value)) == expected
    assert not ranges.within(key_range, item_key({"S": "q"}, value))
    # In an index the item's own key follows; whatever it is, it changes nothing.
    key_range = ranges.query_range(BASE[kind], INDEX[kind], clauses)
    for base_key in (b"\x00", b"\xff\xff", item_key({"S": "p"}, value)):
        assert ranges.within(key_range, encoding.index_key([{"S": "p"}], [value], base_key)) == expected


@given(st.tuples(strings, strings), st.tuples(numbers, numbers), strings)
def test_several_range_attributes(
    first: tuple[Value, Value], second: tuple[Value, Value], partition: Value
) -> None:
    wide = index("wide", "h:S", "a:S b:N")
    key = encoding.index_key([partition], [first[0], second[0]], b"base")
    clauses = [KeyClause("h", "=", (partition,)), KeyClause("a", "=", (first[1],))]
    key_range = ranges.query_range(BASE["S"], wide, clauses)
    assert ranges.within(key_range, key) == (first[0] == first[1])
    clauses.append(KeyClause("b", ">=", (second[1],)))
    key_range = ranges.query_range(BASE["S"], wide, clauses)
    assert ranges.within(key_range, key) == (first[0] == first[1] and rank(second[0]) >= rank(second[1]))


@given(st.integers(1, 1000), st.binary(min_size=8, max_size=12))
def test_every_key_lies_in_exactly_one_segment(total: int, key: bytes) -> None:
    homes = [segment for segment in range(total) if ranges.within(ranges.segment_range(segment, total), key)]
    assert len(homes) == 1


def test_segments_are_consecutive() -> None:
    for total in (1, 2, 3, 7, 1_000_000):
        assert ranges.segment_range(0, total).start <= b"\0" * 8
        assert ranges.segment_range(total - 1, total).end == b""
        some = range(min(total - 1, 50))
        assert all(
            ranges.segment_range(at, total).end == ranges.segment_range(at + 1, total).start for at in some
        )


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ([KeyClause("sk", "=", ({"S": "a"},))], "Query condition missed key schema element: pk"),
        ([KeyClause("pk", "<", ({"S": "a"},))], "Query key condition not supported"),
        ([KeyClause("pk", "=", ({"N": "1"},))], "Condition parameter type does not match schema type"),
        ([PARTITION, KeyClause("x", "=", ({"S": "a"},))], "Query condition missed key schema element: sk"),
        (
            [PARTITION, KeyClause("sk", "=", ({"S": "a"},)), KeyClause("x", "=", ({"S": "a"},))],
            "The number of query conditions",
        ),
    ],
)
def test_conditions_must_fit_the_keys(clauses: list[KeyClause], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        ranges.query_range(BASE["S"], None, clauses)
