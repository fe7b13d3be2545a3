"""The search for members in lines of stored JSON: every line that has one is found, compiled or not."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.core.expressions import needles
from hashrange.core.expressions.needles import LINE_END
from hashrange.core.values import canonical_item
from sizes import size
from value_strategies import values

_texts = st.sampled_from(["a", "ab", "", "S", "é", 'a"b', "a\\", ",", "{", ",a", "\n", "x" * 20, "x" * 21])
_scalars = st.one_of(_texts.map(lambda text: {"S": text}), st.just({"BOOL": True}), st.just({"N": "1"}))
_names = _texts.filter(bool)
_documents = st.recursive(
    _scalars | values,
    lambda inner: st.dictionaries(_names, inner, max_size=3).map(lambda entries: {"M": entries}),
    max_leaves=6,
)
_items = st.dictionaries(_names, _documents, max_size=5).map(canonical_item)
searches = pytest.mark.parametrize(
    "search", [needles._lines_with, needles.lines_with], ids=["Python", "as installed"]
)


def _member(name: str, value: Any) -> bytes:
    return orjson.dumps({name: value})[1:-1]


@searches
@settings(max_examples=size(100, 2000))
@given(st.lists(_items, max_size=6), _names, _scalars)
def test_every_line_whose_item_has_the_member_is_found_once(
    search: Any, items: list[Any], name: str, value: Any
) -> None:
    rows = [orjson.dumps(item) for item in items]
    lines = search(_member(name, value), LINE_END.join(rows))
    found = iter(lines)
    assert all(row in found for row, item in zip(rows, items, strict=True) if item.get(name) == value)
    remaining = iter(rows)
    assert all(line in remaining for line in lines)


@searches
def test_lines_are_found_wherever_they_stand(search: Any) -> None:
    member, other = b'"k":{"S":"v"}', b'{"k":{"S":"w"}}'
    for count in range(1, 6):
        for place in range(count):
            rows = [other] * count
            rows[place] = b'{"a":{"N":"1"},' + member + b"}"
            assert search(member, LINE_END.join(rows)) == [rows[place]]
    both = b'{"k":{"S":"v"},"m":{"M":{"k":{"S":"v"}}}}'
    assert search(member, LINE_END.join([both, other, both])) == [both, both]
    assert search(member, b"") == []


@searches
def test_a_line_that_ends_within_the_member_does_not_have_it(search: Any) -> None:
    member = b'"k":{"S":"a value of more than sixteen bytes"}'
    row = b"{" + member + b"}"
    assert [end for end in range(len(row) + 1) if search(member, row[:end])] == [len(row) - 1, len(row)]


@searches
def test_text_that_quotes_a_member_is_no_member(search: Any) -> None:
    quoted = orjson.dumps({"t": {"S": '{"k":{"S":"v"}}'}})
    assert search(b'"k":{"S":"v"}', quoted) == []
