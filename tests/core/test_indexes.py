"""Index entries: who is in, what is carried, and what a change costs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import indexes, items
from hashrange.core.errors import EmptyKeyValue, Invalid
from hashrange.core.items import StoredItem
from hashrange.core.keys import primary_key
from schemas import index, table

ALL = index("all", "g:S", "n:N")
KEYS = index("keys", "g:S", slot=2, projection="KEYS_ONLY")
SOME = index("some", "g:S", slot=3, projection="INCLUDE", non_key_attributes=("x",))
TABLE = table("pk:S", indexes=(ALL, KEYS, SOME))

attributes = {
    "g": st.one_of(st.none(), st.sampled_from("ab").map(lambda text: {"S": text})),
    "n": st.one_of(st.none(), st.sampled_from("12").map(lambda text: {"N": text})),
    "x": st.one_of(st.none(), st.sampled_from(["small", "y" * 2000]).map(lambda text: {"S": text})),
    "far": st.one_of(st.none(), st.sampled_from(["small", "z" * 3000]).map(lambda text: {"S": text})),
}
images = st.one_of(
    st.none(),
    st.fixed_dictionaries(attributes).map(
        lambda found: {
            "pk": {"S": "k"},
            **{name: value for name, value in found.items() if value is not None},
        }
    ),
)


def key_of(item: dict[str, Any]) -> bytes:
    return primary_key.of_item(TABLE, item)


@given(images.filter(bool))
def test_an_entry_exists_if_all_keys_do(item: dict[str, Any]) -> None:
    assert (indexes.entry(TABLE, ALL, item, key_of(item)) is not None) == ("g" in item and "n" in item)
    assert (indexes.entry(TABLE, KEYS, item, key_of(item)) is not None) == ("g" in item)


@given(images.filter(bool))
def test_an_entry_carries_the_projection(item: dict[str, Any]) -> None:
    whole = indexes.entry(TABLE, ALL, item, key_of(item))
    keys = indexes.entry(TABLE, KEYS, item, key_of(item))
    some = indexes.entry(TABLE, SOME, item, key_of(item))
    assert whole is None or whole.item == item
    assert keys is None or set(keys.item) == {"pk", "g"}
    assert some is None or set(some.item) == {"pk", "g", "x"} & set(item)


@given(images, images)
def test_changes_turn_the_old_entries_into_the_new(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    base = key_of(before or after or {"pk": {"S": "k"}})
    stored = None if before is None else StoredItem(items.encode(before, items.item_size(before), 0.0))
    changed = {diff.index.name: diff for diff in indexes.diffs(TABLE, base, stored, after)}
    for each in TABLE.indexes:
        old = None if before is None else indexes.entry(TABLE, each, before, base)
        new = None if after is None else indexes.entry(TABLE, each, after, base)
        change = changed.get(each.name)
        assert (change is None) == (old == new)
        if change is not None:
            assert (change.before, change.after) == (old, new)
            assert change.units >= (2 if old and new and old.key != new.key else 1)


def test_types_that_cannot_be_keys_keep_an_item_out() -> None:
    item: dict[str, Any] = {"pk": {"S": "k"}, "g": {"L": []}, "n": {"N": "1"}}
    assert indexes.entry(TABLE, ALL, item, key_of(item)) is None
    item["g"] = {"S": ""}
    assert indexes.entry(TABLE, ALL, item, key_of(item)) is None
    item["g"] = {"S": "g" * 2049}
    assert indexes.entry(TABLE, ALL, item, key_of(item)) is None


def test_an_index_being_deleted_is_no_longer_kept_up() -> None:
    gone = index("gone", "g:S", status="DELETING")
    item = {"pk": {"S": "k"}, "g": {"S": "a"}}
    assert indexes.diffs(table("pk:S", indexes=(gone,)), b"k", None, item) == []


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ({"g": {"N": "1"}}, Invalid),
        ({"g": {"S": ""}}, EmptyKeyValue),
        ({"g": {"S": "x" * 2049}}, Invalid),
        ({"n": {"S": "1"}}, Invalid),
    ],
)
def test_index_keys_are_checked(item: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        indexes.check_index_keys(TABLE, item)
    indexes.check_index_keys(TABLE, {"g": {"S": "x" * 2048}, "n": {"N": "1"}, "x": {"L": []}})


def test_an_item_that_is_older_than_an_index_may_have_another_type_among_the_attributes_of_its_key() -> None:
    composite = table("pk:S", indexes=(index("both", "g:S h:S"),))
    for value in ({"BOOL": True}, {"L": []}, {"N": "1"}):
        indexes.check_key_totals(composite, {"pk": {"S": "k"}, "g": {"S": "a"}, "h": value})
    with pytest.raises(Invalid, match="Size of hashkey has exceeded"):
        indexes.check_key_totals(
            composite, {"pk": {"S": "k"}, "g": {"S": "a" * 1500}, "h": {"S": "b" * 1500}}
        )
