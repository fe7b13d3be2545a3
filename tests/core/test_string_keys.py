"""The compiled helper for keys of strings against its twin in Python: the same bytes, or Python has to judge."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import indexes
from hashrange.core.keys import encoding, primary_key
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.schema import Index, KeyAttribute

pytestmark = pytest.mark.skipif(primary_key.helper is None, reason="there was no C compiler")

names = st.sampled_from(["pk", "sk", "other"])
texts = st.text(st.characters(), max_size=80) | st.integers(0, 3000).map("x".__mul__)
values: st.SearchStrategy[Any] = st.one_of(
    texts.map(lambda text: {"S": text}),
    st.fixed_dictionaries({"N": st.just("1")}),
    st.fixed_dictionaries({"S": st.just("a"), "N": st.just("1")}),
    st.sampled_from([{}, {"S": None}, {"S": b"a"}, {"s": "a"}, "a", None, [], 1]),
)
maps = st.dictionaries(names, values, max_size=3)


def string_key(item: Any, range_name: str | None, *, only_key: bool) -> bytes | None:
    assert primary_key.helper is not None
    return primary_key.helper(item, "pk", range_name, only_key)


def by_python(item: Any, range_name: str | None, *, only_key: bool) -> bytes | None:
    """What `primary_key` makes of a key without the helper."""
    if only_key and len(item) != (1 if range_name is None else 2):
        return None
    try:
        raw = encoding.scalar_or_none(item.get("pk"), "S", PARTITION_KEY_BYTES_MAX)
        sort = b"" if range_name is None else encoding.scalar_or_none(item.get("sk"), "S", SORT_KEY_BYTES_MAX)
    except UnicodeEncodeError:
        return None
    return None if raw is None or sort is None else encoding.single_prefix(raw) + sort


@given(maps, st.sampled_from([None, "sk"]), st.booleans())
def test_keys_have_the_same_bytes_either_way(item: Any, range_name: str | None, only_key: bool) -> None:
    expected = by_python(item, range_name, only_key=only_key)
    assert string_key(item, range_name, only_key=only_key) == expected


@pytest.mark.parametrize("length", [*range(1, 140), 1000, PARTITION_KEY_BYTES_MAX])
def test_every_length_has_its_hash(length: int) -> None:
    text = "".join(chr(ord("a") + place % 26) for place in range(length))
    expected = encoding.single_prefix(text.encode())
    assert string_key({"pk": {"S": text}}, None, only_key=True) == expected


@pytest.mark.parametrize(
    ("partition", "sort", "fits"),
    [
        (PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, True),
        (PARTITION_KEY_BYTES_MAX + 1, SORT_KEY_BYTES_MAX, False),
        (PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX + 1, False),
        (1, 1, True),
        (0, 1, False),
        (1, 0, False),
    ],
)
def test_lengths_are_limited(partition: int, sort: int, fits: bool) -> None:
    item = {"pk": {"S": "p" * partition}, "sk": {"S": "s" * sort}}
    assert (string_key(item, "sk", only_key=False) is not None) is fits


def test_lengths_are_those_of_utf_8() -> None:
    assert string_key({"pk": {"S": "ü" * 1024}}, None, only_key=True) is not None
    assert string_key({"pk": {"S": "ü" * 1025}}, None, only_key=True) is None


@pytest.mark.parametrize("item", [None, [], "pk", 1, ("pk",)])
def test_what_is_no_map_is_left_to_python(item: Any) -> None:
    assert string_key(item, None, only_key=True) is None


def test_half_a_surrogate_pair_is_left_to_python() -> None:
    assert string_key({"pk": {"S": "\ud800"}}, None, only_key=True) is None


# Entries of indexes.

sorts = st.sampled_from([None, "S", "N", "B"])
entry_values = values | st.sampled_from([{"N": "-12.5"}, {"N": "0"}, {"S": "a\0b"}, {"B": "AAE="}])


@given(st.dictionaries(names, entry_values, max_size=3), sorts, st.binary(max_size=20))
def test_entries_have_the_same_keys_either_way(item: Any, sort: Any, base_key: bytes) -> None:
    item = {name: value for name, value in item.items() if isinstance(value, dict) and _is_stored(value)}
    index = Index(
        name="by-pk",
        slot=1,
        local=False,
        hash=(KeyAttribute("pk", "S"),),
        range=() if sort is None else (KeyAttribute("sk", sort),),
    )
    with pytest.MonkeyPatch.context() as patch:
        key = indexes.entry_key(index, item, base_key)
        patch.setattr(indexes, "helper", None)
        assert indexes.entry_key(index, item, base_key) == key


def _is_stored(value: dict[str, Any]) -> bool:
    """Whether an item may have this value: one of one type, and text that is text."""
    try:
        ((kind, content),) = value.items()
        content.encode()
    except (ValueError, AttributeError):
        return False
    return kind in ("S", "N", "B")


@pytest.mark.parametrize(
    "arguments", [(), ({}, "pk", None), ({}, "pk", None, "text"), ({}, "pk", None, bytearray())]
)
def test_entries_need_their_four_arguments(arguments: tuple[Any, ...]) -> None:
    assert indexes.helper is not None
    with pytest.raises(TypeError):
        indexes.helper(*arguments)
