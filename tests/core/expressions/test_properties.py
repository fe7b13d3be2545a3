"""What holds for every expression, not only for those someone thought of."""

import copy
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.expressions.model import holds
from core.expressions.printing import actions, condition_text, conditions, operand_text, paths, update_text
from hashrange.core.errors import Invalid
from hashrange.core.expressions import (
    Binder,
    Path,
    apply_update,
    build,
    matches,
    pick,
    resolved,
    select_paths,
    syntax,
)
from hashrange.core.expressions.parser import parse_condition, parse_projection, parse_update
from hashrange.core.values import TYPE_NAMES, canonical
from value_strategies import values as raw_values

# Few names and small numbers, so that paths lead somewhere and values meet their like.
_names = st.sampled_from(["a", "b", "c"])
_close_values = st.one_of(
    st.sampled_from(["", "a", "ab", "b"]).map(lambda text: {"S": text}),
    st.integers(-2, 3).map(lambda number: {"N": str(number)}),
    st.sampled_from(["", "YQ==", "YWI=", "Yg=="]).map(lambda text: {"B": text}),
    st.booleans().map(lambda truth: {"BOOL": truth}),
    st.just({"NULL": True}),
    st.sets(st.sampled_from(["a", "ab", "b"]), min_size=1).map(lambda texts: {"SS": sorted(texts)}),
    st.sets(st.sampled_from(["-1", "1", "2"]), min_size=1).map(lambda texts: {"NS": sorted(texts)}),
)
_values = st.recursive(
    _close_values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements}),
        st.dictionaries(_names, inner, max_size=3).map(lambda entries: {"M": entries}),
    ),
    max_leaves=5,
).map(canonical)
_items = st.dictionaries(_names, _values, max_size=3)
_paths = st.builds(
    lambda first, rest: Path((first, *rest)),
    _names,
    st.lists(st.one_of(_names, st.integers(0, 2)), max_size=2),
)
_operands = st.one_of(
    _paths,
    _values.map(resolved.Literal),
    _paths.map(resolved.Size),
    _values.map(resolved.Literal).map(resolved.Size),
)
_nodes = st.recursive(
    st.one_of(
        st.builds(resolved.Compare, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), _operands, _operands),
        st.builds(resolved.Between, _operands, _operands, _operands),
        st.builds(resolved.In, _operands, st.lists(_operands, min_size=1, max_size=3).map(tuple)),
        st.builds(resolved.AttributeExists, _paths),
        st.builds(resolved.AttributeNotExists, _paths),
        st.builds(
            resolved.AttributeType,
            _operands,
            st.sampled_from(TYPE_NAMES).map(lambda name: resolved.Literal({"S": name})),
        ),
        st.builds(resolved.BeginsWith, _operands, _operands),
        st.builds(resolved.Contains, _operands, _operands),
    ),
    lambda inner: st.one_of(
        st.builds(resolved.Not, inner),
        st.builds(resolved.And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(resolved.Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)


@given(conditions)
def test_a_printed_condition_parses_to_itself(tree: syntax.ConditionSyntax) -> None:
    assert parse_condition(condition_text(tree)).condition == tree


@given(st.lists(actions, min_size=1, max_size=5))
def test_a_printed_update_parses_to_itself(tree: list[syntax.ActionSyntax]) -> None:
    in_sections = sorted(tree, key=lambda action: [other.section for other in tree].index(action.section))
    assert list(parse_update(update_text(tree)).actions) == in_sections


@given(st.lists(paths, min_size=1, max_size=4))
def test_a_printed_projection_parses_to_itself(tree: list[syntax.PathRef]) -> None:
    assert parse_projection(", ".join(map(operand_text, tree))).paths == tuple(tree)


@given(st.text(st.sampled_from("ab :#()[].,=<>+-0SETANDOR\"'é!"), max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for resolve in (
        lambda: Binder(None, None).condition("FilterExpression", text),
        lambda: Binder(None, None).update(text),
        lambda: Binder(None, None).projection(text),
    ):
        with suppress(Invalid):
            resolve()


@given(_nodes, _items)
def test_conditions_agree_with_the_model(node: Any, item: dict[str, Any]) -> None:
    assert matches(build.condition(node), item) is holds(node, item)


_UPDATE_VALUES: dict[str, Any] = {
    ":n": {"N": "1"},
    ":s": {"S": "new"},
    ":l": {"L": [{"N": "9"}]},
    ":ss": {"SS": ["a"]},
    ":m": {"M": {"a": {"N": "1"}}},
}
_targets = _paths.map(lambda path: operand_text(syntax.PathRef(path.parts)))
_texts = st.one_of(
    st.builds("SET {} = {}".format, _targets, st.sampled_from([":n", ":s", ":l", ":m"])),
    st.builds("SET {} = {}, {} = {}".format, _targets, _targets, _targets, st.sampled_from([":n", ":s"])),
    st.builds("SET {} = if_not_exists({}, :n) + :n".format, _targets, _targets),
    st.builds("SET {} = list_append(if_not_exists({}, :l), :l)".format, _targets, _targets),
    st.builds("REMOVE {}".format, _targets),
    st.builds("REMOVE {}, {}".format, _targets, _targets),
    st.builds("ADD {} {}".format, _targets, st.sampled_from([":n", ":ss"])),
    st.builds("DELETE {} :ss".format, _targets),
    st.builds("SET {} = :n REMOVE {} ADD {} :n".format, _targets, _targets, _targets),
)


@given(_texts, _items)
def test_an_update_never_changes_the_item_it_is_given(text: str, item: dict[str, Any]) -> None:
    before = copy.deepcopy(item)
    try:
        update = Binder(None, _UPDATE_VALUES).update(text)
        applied = apply_update(update, item)
    except Invalid:
        pass
    else:
        assert set(before) ^ set(applied.item) <= set(update.targets)
        untouched = applied.item.keys() - update.targets
        assert {name: applied.item[name] for name in untouched} == {name: before[name] for name in untouched}
        assert {name: canonical(copy.deepcopy(value)) for name, value in applied.item.items()} == applied.item
    assert item == before


@given(_items, _names, raw_values)
def test_set_then_project_gives_the_value_back(item: dict[str, Any], name: str, raw: dict[str, Any]) -> None:
    value = canonical(raw)
    applied = apply_update(Binder(None, {":v": value}).update(f"SET {name} = :v"), item)
    assert pick(Binder(None, None).projection(name), applied.item) == {name: value}
    assert select_paths(applied.paths, applied.item) == {name: value}


@given(_items, st.lists(_targets, min_size=1, max_size=3))
def test_a_projection_keeps_only_parts_of_the_item(item: dict[str, Any], texts: list[str]) -> None:
    before = copy.deepcopy(item)
    try:
        picked = pick(Binder(None, None).projection(", ".join(texts)), item)
    except Invalid:
        return
    assert picked.keys() <= item.keys()
    assert all(_is_part(picked[name], item[name]) for name in picked)
    assert item == before


def _is_part(part: dict[str, Any], whole: dict[str, Any]) -> bool:
    if part == whole:
        return True
    if "M" in part and "M" in whole:
        return all(name in whole["M"] and _is_part(part["M"][name], whole["M"][name]) for name in part["M"])
    if "L" in part and "L" in whole:
        rest = iter(whole["L"])
        return all(any(_is_part(element, other) for other in rest) for element in part["L"])
    return False
