"""What is cut out of stored JSON is what the whole item, decoded, would have given."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.core import effort, items
from hashrange.core.expressions import (
    Path,
    build,
    cut_decoded,
    matches,
    matches_stored,
    matching,
    matching_lines,
    picked_json,
    projection,
    resolved,
)
from hashrange.core.expressions.needles import LINE_END
from hashrange.core.expressions.partial_json import NAMES_MAX, AttributeDecoder
from hashrange.core.values import canonical_item
from sizes import size
from value_strategies import values

# Names that a JSON library might take for something else: its own types, escapes, none at all, those of its fields.
_names = st.one_of(
    st.sampled_from(
        [
            "a",
            "b",
            "M",
            "L",
            "S",
            "m0",
            "type",
            "é",
            "😀",
            "\u2028",
            'a"b',
            "a\\b",
            "a\nb",
            "\x7f",
            " ",
            "a.b",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
)
_documents = st.recursive(
    values,
    lambda inner: st.one_of(
        st.dictionaries(_names, inner, max_size=3).map(lambda entries: {"M": entries}),
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements}),
    ),
    max_leaves=6,
)
_items = st.dictionaries(_names, _documents, max_size=5).map(canonical_item)
_parts = st.one_of(_names, st.integers(0, 2))


@st.composite
def _items_and_paths(draw: st.DrawFn) -> tuple[list[Any], list[Path]]:
    """Items, and paths of which most lead somewhere in one of them; none goes on where another ends."""
    found = draw(st.lists(_items, min_size=1, max_size=3))
    known = sorted({name for item in found for name in item})
    first = st.one_of(st.sampled_from(known), _names) if known else _names
    tree: dict[Any, Any] = {}
    for parts in draw(st.lists(st.tuples(first, st.lists(_parts, max_size=2)), max_size=5)):
        at = tree
        for part in (parts[0], *parts[1]):
            at = at.setdefault(part, {})
    return found, [Path(parts) for parts in _leaves(tree, ())]


def _leaves(tree: dict[Any, Any], above: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    if not tree:
        return [above] if above else []
    return [leaf for part, below in tree.items() for leaf in _leaves(below, (*above, part))]


def _stored(item: Any) -> bytes:
    return items.encode(item, 1, 0.0)


def _json(item: Any) -> bytes:
    return items.stored_json(_stored(item))


@settings(max_examples=size(15, 300))
@given(_items_and_paths())
def test_a_projection_cuts_what_it_picks(drawn: tuple[list[Any], list[Path]]) -> None:
    found, paths = drawn
    keeping = projection(paths)
    rows = b",".join(map(_json, found))
    expected = orjson.dumps([keeping(item) for item in found])[1:-1]
    assert [keeping.cut(rows) for _ in range(3)] == [expected] * 3
    assert cut_decoded(keeping, rows) == expected
    assert picked_json(keeping, _stored(found[0])) == orjson.dumps(keeping(found[0]))


@pytest.mark.parametrize("count", [NAMES_MAX, NAMES_MAX + 1])
def test_many_names_are_cut_as_few_are(count: int) -> None:
    item = {f"n{number}": {"N": str(number)} for number in range(2 * count)}
    keeping = projection([Path((f"n{number}",)) for number in range(count)])
    keeping.cut(b"")
    assert orjson.loads(keeping.cut(_json(item))) == keeping(item)
    assert (keeping.cutter.cut_or_none() is None) == (count > NAMES_MAX)


@pytest.mark.parametrize("depth", [8, 9, 31])
def test_deep_paths_are_cut_as_shallow_ones_are(depth: int) -> None:
    value: Any = {"S": "x"}
    for _ in range(depth - 1):
        value = {"M": {"a": value, "b": {"S": "y"}}}
    item = {"a": value}
    keeping = projection([Path(("a",) * depth)])
    assert [keeping.cut(_json(item)) for _ in range(3)] == [orjson.dumps(keeping(item))] * 3


def test_a_document_of_which_nothing_is_kept_is_left_out() -> None:
    keeping = projection([Path(("k",)), Path(("d", "x", "y"))])
    rows = [{"k": {"S": "1"}, "d": document} for document in _DOCUMENTS]
    expected = orjson.dumps([keeping(row) for row in rows])[1:-1]
    assert [keeping.cut(b",".join(map(_json, rows))) for _ in range(2)] == [expected] * 2
    assert expected.count(b'"d"') == 1


_DOCUMENTS: list[Any] = [
    {"M": {"x": {"M": {"y": {"N": "1"}, "z": {"N": "2"}}}}},
    {"M": {"x": {"M": {"z": {"N": "2"}}}}},
    {"M": {"x": {"M": {}}}},
    {"M": {"x": {"S": "M"}}},
    {"M": {}},
    {"L": [{"M": {"x": {"N": "1"}}}]},
    {"SS": ["x", "y"]},
    {"NULL": True},
]
_operands = st.one_of(
    st.lists(_parts, max_size=1).flatmap(lambda rest: _names.map(lambda name: Path((name, *rest)))),
    values.map(resolved.Literal),
)
_nodes = st.recursive(
    st.one_of(
        st.builds(resolved.Compare, st.sampled_from(["=", "<>", "<", ">="]), _operands, _operands),
        st.builds(resolved.AttributeExists, _names.map(lambda name: Path((name,)))),
        st.builds(resolved.Contains, _operands, _operands),
        st.builds(resolved.Compare, st.just("="), _operands.map(resolved.Size), _operands),
    ),
    lambda inner: st.one_of(
        st.builds(resolved.Not, inner),
        st.builds(resolved.And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(resolved.Or, st.lists(inner, min_size=9, max_size=9).map(tuple)),
    ),
    max_leaves=10,
)


@settings(max_examples=size(15, 300))
@given(st.lists(_items, min_size=1, max_size=3), _nodes)
def test_a_condition_holds_for_stored_items_as_for_decoded_ones(found: list[Any], node: Any) -> None:
    condition = build.condition(node)
    rows = list(map(_json, found))
    expected = [row for row, item in zip(rows, found, strict=True) if matches(condition, item)]
    for _ in range(3):
        assert matching(condition, rows, 100) == expected
        assert matching_lines(condition, LINE_END.join(rows)) == expected
    for item, row in zip(found, rows, strict=True):
        assert matches_stored(condition, _stored(item)) == (row in expected)


@settings(max_examples=size(15, 300))
@given(st.dictionaries(_names, _documents, max_size=5).map(canonical_item), st.sets(_names, max_size=4))
def test_attributes_are_decoded_to_the_same_values(item: Any, names: set[str]) -> None:
    decoder = AttributeDecoder(names)
    for _ in range(3):
        decoded = decoder.decode()(_json(item))
        assert {name: decoded.get(name) for name in names} == {name: item.get(name) for name in names}


def test_other_attributes_are_not_decoded_from_the_second_use_on() -> None:
    decoder = AttributeDecoder(["a"])
    row = _json({"a": {"S": "1"}, "b": {"L": []}})
    assert [sorted(decoder.decode()(row)) for _ in range(3)] == [["a", "b"], ["a"], ["a"]]


def test_a_condition_with_many_operators_is_counted_as_before() -> None:
    """Nine looks at 8 KB are more than a light condition, and a hundred items of that are more than a request has."""
    node = resolved.Or((resolved.AttributeExists(Path(("a",))),) * 9)
    row = _json({"b": {"S": "x" * 8_000}})
    effort.begin()
    try:
        with pytest.raises(effort.Postponed):
            matching(build.condition(node), [row] * 100, len(row))
    finally:
        effort.end()


def _equals(name: str, value: Any) -> resolved.Node:
    return resolved.Compare("=", Path((name,)), resolved.Literal(value))


@settings(max_examples=size(20, 300))
@given(st.lists(_items, min_size=1, max_size=6), st.data())
def test_items_are_found_by_what_an_attribute_equals(found: list[Any], data: st.DataObject) -> None:
    """The attribute and its value are those of an item, or of a map inside one, where they do not count."""
    pairs = [pair for item in found for pair in _pairs(item)]
    chosen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2)) if pairs else []
    condition = build.condition(resolved.And(tuple(_equals(*pair) for pair in chosen)))
    rows = list(map(_json, found))
    expected = [row for row, item in zip(rows, found, strict=True) if matches(condition, item)]
    assert matching_lines(condition, LINE_END.join(rows)) == expected


def _pairs(entries: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        pair for name, value in entries.items() for pair in ((name, value), *_pairs(value.get("M") or {}))
    ]


@pytest.mark.parametrize(
    ("node", "needle"),
    [
        (_equals('a"é\n', {"S": "x\\"}), '"a\\"é\\n":{"S":"x\\\\"}'),
        (resolved.Compare("=", resolved.Literal({"N": "1"}), Path(("n",))), '"n":{"N":"1"}'),
        (resolved.And((_equals("a", {"S": "1"}), _equals("b", {"BOOL": True}))), '"b":{"BOOL":true}'),
        (_equals("a", {"SS": ["x"]}), None),
        (_equals("a", {"M": {}}), None),
        (resolved.Compare("=", Path(("a", "b")), resolved.Literal({"N": "1"})), None),
        (resolved.Compare("<>", Path(("a",)), resolved.Literal({"N": "1"})), None),
        (resolved.Not(_equals("a", {"N": "1"})), None),
        (resolved.Or((_equals("a", {"N": "1"}),)), None),
        (resolved.And(((resolved.AttributeExists(Path(("a",))),) * 8) + (_equals("a", {"N": "1"}),)), None),
    ],
)
def test_what_every_item_has_that_meets_a_condition(node: Any, needle: str | None) -> None:
    assert build.condition(node).needle == (None if needle is None else needle.encode())


def test_a_large_item_that_may_meet_a_condition_is_left_to_others() -> None:
    condition = build.condition(_equals("a", {"N": "1"}))
    small, large = {"a": {"N": "1"}}, {"a": {"N": "1"}, "b": {"S": "x" * items.LARGE_BYTES}}
    other = {**large, "a": {"N": "2"}}
    assert matching_lines(condition, LINE_END.join(map(_json, (small, large)))) is None
    assert matching_lines(condition, LINE_END.join(map(_json, (other, small)))) == [_json(small)]
