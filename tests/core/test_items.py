"""Items: size, and the stored form with its header."""

from typing import Any

from hypothesis import given

import value_strategies
from hashrange.core import items, values

canonical_items = value_strategies.items.map(values.canonical_item)


@given(canonical_items)
def test_an_item_comes_back_from_its_stored_form(item: dict[str, Any]) -> None:
    size = items.item_size(item)
    stored = items.encode(item, size, 1.5)
    assert items.decode(stored) == item
    assert items.stored_size(stored) == size
    assert stored == items.encode(items.decode(stored), size, 1.5)
    assert items.stored_json(stored) == stored[items.HEADER_BYTES :]


@given(canonical_items)
def test_an_item_is_the_sum_of_its_attributes(item: dict[str, Any]) -> None:
    parts = [items.item_size({name: value}) for name, value in item.items()]
    assert items.item_size(item) == sum(parts)
    # As a map it would have three bytes more, and one for each attribute.
    assert values.size({"M": item}) == items.item_size(item) + 3 + len(item)


def test_sizes_count_names_in_bytes() -> None:
    assert items.item_size({}) == 0
    assert items.item_size({"pk": {"S": "abc"}, "é": {"NULL": True}}) == 2 + 3 + 2 + 1


def test_the_stored_form_begins_with_its_format() -> None:
    stored = items.encode({"a": {"S": "x"}}, 2, 1_700_000_000.25)
    time = (1_700_000_000_250_000).to_bytes(8, "big")
    assert stored == b"\x02\x00\x00\x00\x02" + time + b"\0\0\0" + b'{"a":{"S":"x"}}'
    assert items.stored_time(stored) == 1_700_000_000.25
