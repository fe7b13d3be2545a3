"""Sizes that follow from a model are those that the service would count."""

from dataclasses import replace

import pytest

from hashrange.core.items import item_size as counted
from hashrange.modeling.expressions import key_wire
from hashrange.modeling.key_values import stored_item
from hashrange.modeling.model import Attribute, Growth
from hashrange.modeling.population import COUNT_MAX
from hashrange.modeling.sizes import Size, collection_bytes, entry_size, item_size, value_size
from hashrange.modeling.wire_values import wire_item
from small_models import ORDER, USER, attribute, entity, index, model, table

VALUES = {
    "user_id": "7f0c4d7e-5b3a-4c7e-9d51-0d8d6f1f0a11",
    "order_id": "01J9ZQ3V7W8X9Y0Z1A2B3C4D5E",
    "placed_at": "2026-01-31T12:00:00Z",
    "status": "OPEN",
    "total": 19.99,
}


def test_an_item_has_the_size_that_the_service_counts() -> None:
    shop = model(table(), USER, ORDER)
    stored = stored_item(shop, ORDER, VALUES)
    keys = {key: key_wire(stored[key], shop.tables["shop"].partition_key) for key in ("PK", "SK")}
    item = {**wire_item(stored, ORDER.attributes), **keys}
    expected = item_size(shop, ORDER)
    # The model's mean is of all three words for a status, and of all totals.
    assert counted(item) == pytest.approx(expected.mean, abs=4)
    assert counted(item) <= expected.maximum


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (Attribute("a", size=400), Size(400, 400)),
        (Attribute("a", size=400, size_max=900), Size(400, 900)),
        (Attribute("a", "M", size=100), Size(103, 103)),
        (Attribute("a", "BOOL"), Size(1, 1)),
        (Attribute("a", values=("A", "ÄÖ")), Size(2.5, 4)),
        (Attribute("a", "N", values=(5, 1000)), Size(2, 2)),
        (Attribute("a", "N", format="integer", minimum=0, maximum=100), Size(2, 2)),
        (attribute("a", "uuid"), Size(36, 36)),
        (attribute("a", "epoch"), Size(6, 6)),
    ],
)
def test_values_have_the_size_of_their_kind(kind: Attribute, size: Size) -> None:
    assert value_size(kind) == size


def test_what_is_often_missing_counts_for_less() -> None:
    shop = model(
        table(), entity("A", {"PK": "A#{a}", "SK": "x"}, a="uuid", b=Attribute("b", size=99, optional=0.5))
    )
    without = model(table(), entity("A", {"PK": "A#{a}", "SK": "x"}, a="uuid"))
    difference = item_size(shop, shop.entities["A"]).mean - item_size(without, without.entities["A"]).mean
    assert difference == 50


def test_an_index_entry_has_what_is_projected() -> None:
    user = entity("User", {"PK": "U#{id}", "SK": "P", "GSI1PK": "{email}"}, id="uuid", email="email", bio="S")
    keys_only = index("GSI1", "GSI1PK", projection="KEYS_ONLY")
    shop = model(table(keys_only), user)
    # PK and U# with 36 characters, SK and P, GSI1PK and 24 characters.
    assert entry_size(shop, user, keys_only) == Size(2 + 38 + 2 + 1 + 6 + 24, 2 + 38 + 2 + 1 + 6 + 64)
    whole = index("GSI1", "GSI1PK")
    assert entry_size(shop, user, whole) == item_size(shop, user)


def test_an_entity_without_the_key_has_no_entry() -> None:
    gsi = index("GSI1", "GSI1PK")
    assert entry_size(model(table(gsi), USER), USER, gsi) is None


def test_an_item_collection_adds_its_entities_up() -> None:
    shop = model(table(), USER, ORDER)
    expected = item_size(shop, USER).mean + 20 * item_size(shop, ORDER).mean
    assert collection_bytes(shop, shop.tables["shop"], None).mean == pytest.approx(expected)


def test_items_grow_without_bounds_but_not_without_end() -> None:
    user = replace(USER, item_growth=Growth(per_day=10))
    shop = model(table(), user)
    assert item_size(shop, user, months=12).mean == pytest.approx(item_size(shop, USER).mean + 3652.5)
    wild = replace(USER, item_growth=Growth(percent_per_month=1e9))
    assert item_size(shop, wild, months=1e6).mean <= COUNT_MAX
