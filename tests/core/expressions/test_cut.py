"""The compiled helper for projections against its twin: the same bytes, or the twin has to read."""

from collections.abc import Mapping
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.core.expressions import Path, partial_json, projection
from hashrange.core.expressions.partial_json import NAMES_MAX, Cut
from hashrange.core.limits import NESTING_LEVELS_MAX
from hashrange.core.values import canonical_item
from sizes import size
from value_strategies import values

needs_helper = pytest.mark.skipif(partial_json.helper is None, reason="there was no C compiler")

_texts = ["a", "b", "ab", "M", "é", "😀", 'a"b', "a\\b", "a\\", "\n", "\x1f", "\x7f", "\u2028", "a" * 65]
_names = st.sampled_from(_texts)
_documents = st.recursive(
    values | _names.map(lambda text: {"S": text}),
    lambda inner: st.one_of(
        st.dictionaries(_names, inner, max_size=4).map(lambda entries: {"M": entries}),
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements}),
    ),
    max_leaves=8,
)
_items = st.dictionaries(_names, _documents, max_size=6).map(canonical_item)
_plain = st.sampled_from(
    [text for text in _texts if text.isprintable() and '"' not in text and "\\" not in text]
)
_branches: st.SearchStrategy[Any] = st.recursive(
    st.just({}), lambda below: st.dictionaries(_plain, below, max_size=4), max_leaves=8
)
_ITEM: dict[str, Any] = {
    "pk": {"S": 'a"\\\né\x01😀'},
    "n": {"N": "-1.5"},
    'q"': {"BOOL": False},
    "d": {"M": {"x": {"M": {"y": {"L": [{"NULL": True}, {"B": "AAE="}, {"L": []}]}}}, "z": {"M": {}}}},
    "s": {"SS": ["x", "y"]},
    "f": {"BOOL": True},
    "e": {"S": ""},
}
_PATHS: Mapping[str, Any] = {"f": {}, "d": {"x": {"y": {}}, "z": {}}, "pk": {}, "no": {}}


def _both(branches: Mapping[str, Any]) -> tuple[Any, Cut]:
    """The helper, which may give None, and its twin, for the same paths."""
    compiled = partial_json.helper
    assert compiled is not None
    plan = compiled.plan(*partial_json._levels(branches))
    return (lambda rows: compiled.cut(plan, rows)), partial_json._cut(branches)


def _refused(cut: Cut, rows: bytes) -> bytes | None:
    try:
        return cut(rows)
    except msgspec.DecodeError:
        return None


@needs_helper
@settings(max_examples=size(50, 1000))
@given(st.lists(_items, min_size=1, max_size=4), _branches.filter(bool))
def test_canonical_rows_are_cut_to_the_same_bytes(items: list[Any], branches: Mapping[str, Any]) -> None:
    helper, twin = _both(branches)
    rows = b",".join(map(orjson.dumps, items))
    assert helper(rows) == twin(rows)


@needs_helper
def test_rows_that_end_early_are_left_to_the_twin() -> None:
    helper, twin = _both(_PATHS)
    row = orjson.dumps(_ITEM)
    rows = row + b"," + row
    assert helper(rows) == twin(rows)
    ends = [end for end in range(len(rows)) if helper(rows[:end]) is not None]
    assert ends == [len(row)]


@needs_helper
@pytest.mark.parametrize("byte", [0, 9, 10, 0x1F, *b' "\\{}[],:SMntu0', 0x7F, 0x80, 0xFF])
def test_a_spoilt_byte_gives_what_the_twin_gives_or_none(byte: int) -> None:
    helper, twin = _both(_PATHS)
    rows = b",".join([orjson.dumps(_ITEM)] * 2)
    for at in range(len(rows)):
        spoilt = rows[:at] + bytes([byte]) + rows[at + 1 :]
        assert helper(spoilt) in (None, _refused(twin, spoilt))


@needs_helper
@settings(max_examples=size(50, 2000))
@given(st.lists(_items, min_size=1, max_size=3), st.data())
def test_bytes_taken_out_doubled_or_moved_do_not_mislead(items: list[Any], data: st.DataObject) -> None:
    helper, twin = _both({"a": {}, "M": {"a": {}, "b": {"é": {}}}, "b": {}})
    rows = b",".join(map(orjson.dumps, items))
    start, end, to = (data.draw(st.integers(0, len(rows))) for _ in range(3))
    for spoilt in (rows[:start] + rows[end:], rows[:to] + rows[start:end] + rows[to:]):
        cut = helper(spoilt)
        assert cut is None or cut == _refused(twin, spoilt)


@needs_helper
@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"{}{}",
        b"{},",
        b'{"a":{"S":"1"},"a":{"S":"2"}}',  # a kept name twice
        b'{"\\u0061":{"S":"1"}}',  # a kept name, with escapes that nothing needs
        b'{"a":{"S":"\\/"}}',
        b'{"a":{"S":"\\u001F"}}',
        b'{ "a":{"S":"1"}}',
        b'{"a":{"S":1}}',
        b'{"a":{"SS":[]}}',
        b'{"a":{"Q":"1"}}',
        b'{"a":{"S":"1","N":"1"}}',
        b'{"a":{"NULL":false}}',
        b'{"a":{"M":{"b":1}}}',
    ],
)
def test_what_is_not_canonical_is_left_to_the_twin(row: bytes) -> None:
    helper, _ = _both({"a": {}})
    assert helper(row) is None


@needs_helper
@pytest.mark.parametrize("levels", [NESTING_LEVELS_MAX, NESTING_LEVELS_MAX + 1, 100_000])
def test_nesting_is_followed_as_far_as_items_may_have_it(levels: int) -> None:
    helper, _ = _both({"a": {}})
    row = b'{"a":' + b'{"L":[' * levels + b"]}" * levels + b"}"
    assert helper(row) == (row if levels <= NESTING_LEVELS_MAX else None)


@needs_helper
def test_plans_that_are_not_in_order_are_refused() -> None:
    assert partial_json.helper is not None
    plan, cut = partial_json.helper
    for names, above in [
        ((b"a",), (0,)),
        ((b"a",), (-2,)),
        ((b"a", b"b", b"c"), (-1, 0, -1)),
        ((b"a",), ()),
        ((b"n",) * (NAMES_MAX + 1), (-1,) * (NAMES_MAX + 1)),
    ]:
        with pytest.raises(ValueError, match="order"):
            plan(names, above)
    with pytest.raises(ValueError, match="Capsule"):
        cut(None, b"{}")


def test_a_projection_cuts_the_same_without_the_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = orjson.dumps(_ITEM) + b',{"pk":{"S":"2"}}'
    paths = [Path(("f",)), Path(("d", "x", "y")), Path(("pk",))]
    keeping = projection(paths)
    expected = orjson.dumps([keeping(item) for item in orjson.loads(b"[" + rows + b"]")])[1:-1]
    assert [keeping.cut(rows) for _ in range(3)] == [expected] * 3
    monkeypatch.setattr(partial_json, "helper", None)
    keeping = projection(paths)
    assert [keeping.cut(rows) for _ in range(3)] == [expected] * 3


def test_rows_that_the_helper_leaves_are_read_or_refused_by_the_twin() -> None:
    keeping = projection([Path(("a",))])
    keeping.cut(b"")
    assert keeping.cut(b'{ "a":{"S":"1"}, "b":{}}') == b'{"a":{"S":"1"}}'
    with pytest.raises(msgspec.DecodeError):
        keeping.cut(b'{"a":{"S":"1"}')
