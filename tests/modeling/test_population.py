"""How many items there are, and how they are spread over partition keys."""

import math
from dataclasses import replace

import pytest

from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.model import Attribute, Distribution, Growth
from hashrange.modeling.population import (
    COUNT_MAX,
    CyclicParents,
    children,
    distinct,
    entry_share,
    grown,
    identity,
    item_count,
    partition_cardinality,
    zipf_share,
)
from hashrange.modeling.sizes import collection_bytes
from small_models import ORDER, USER, entity, index, model, table


def test_children_are_counted_through_their_parents() -> None:
    line = entity(
        "Line", {"PK": "USER#{user_id}", "SK": "L#{n}"}, parent="Order", count=3, user_id="uuid", n="integer"
    )
    shop = model(table(), USER, ORDER, line)
    assert item_count(shop, line) == 1000 * 20 * 3
    assert children(shop, line) == (60, 60)
    assert partition_cardinality(shop, shop.tables["shop"], None) == 1000


def test_to_count_the_keys_of_an_entity_leaves_those_of_its_parent_as_they_are() -> None:
    """What is remembered of a model is shared by all who ask."""
    day = entity("Day", {"PK": "USER#{user_id}#{day}", "SK": "D"}, parent="User", user_id="uuid", day="date")
    shop = model(table(), USER, day)
    assert identity(shop, USER) == {"user_id"}
    assert partition_cardinality(shop, shop.tables["shop"], None) > 1
    assert identity(shop, USER) == {"user_id"}


def test_a_circle_of_parents_is_refused() -> None:
    shop = model(table(), replace(USER, parent="Order"), ORDER)
    with pytest.raises(CyclicParents):
        item_count(shop, ORDER)


def test_a_long_line_of_parents_is_no_problem() -> None:
    line = [
        entity(f"E{n}", {"PK": "A", "SK": "B"}, count=10, parent=f"E{n - 1}" if n else None)
        for n in range(500)
    ]
    assert item_count(model(table(), *line), line[-1]) == COUNT_MAX


@pytest.mark.parametrize(
    ("growth", "months", "count"),
    [
        (Growth(), 12, 1000),
        (Growth(percent_per_month=2), 12, 1000 * 1.02**12),
        (Growth(per_day=10), 12, 1000 + 3652.5),
        (Growth(percent_per_month=-100), 1, 0),
        (Growth(percent_per_month=-100), 0, 1000),
        (Growth(per_day=-1e9), 1, 0),
        (Growth(percent_per_month=1000), 600, COUNT_MAX),
        (Growth(percent_per_month=1e300, per_day=1e300), 1e300, COUNT_MAX),
    ],
)
def test_counts_grow_by_the_month_and_never_overflow(growth: Growth, months: float, count: float) -> None:
    assert grown(1000, growth, months) == pytest.approx(count)


def test_what_arrives_daily_is_kept_for_its_retention() -> None:
    assert grown(0, Growth(per_day=100), 24, retention_days=30) == 3000
    assert grown(5000, Growth(per_day=100), 24, retention_days=30) == 5000


def test_the_most_frequent_key_has_its_share() -> None:
    exact = sum(1 / rank**1.1 for rank in range(1, 100_001))
    assert zipf_share(Distribution("zipf", 1.1), 100_000) == pytest.approx(1 / exact, rel=1e-4)
    harmonic = sum(1 / rank for rank in range(1, 50_001))
    assert zipf_share(Distribution("zipf", 1.0), 50_000) == pytest.approx(1 / harmonic, rel=1e-4)
    assert zipf_share(Distribution(), 50_000) == 1 / 50_000
    assert zipf_share(Distribution("zipf", 1e9), COUNT_MAX) == pytest.approx(1)
    assert math.isfinite(zipf_share(Distribution("zipf", 0.0), COUNT_MAX))


def test_the_fullest_partition_is_bounded_by_its_parent() -> None:
    order = replace(ORDER, spread=Distribution("zipf", 1.1))
    mean, largest = children(model(table(), USER, order), order)
    assert mean == 20
    assert largest > 1000
    bounded = replace(order, count_max=100)
    assert children(model(table(), USER, bounded), bounded) == (20, 100)


def test_values_are_counted_by_what_they_identify() -> None:
    shop = model(table(), USER, ORDER)
    assert distinct(shop, ORDER, "status") == 3
    assert distinct(shop, ORDER, "user_id") == 1000
    assert distinct(shop, ORDER, "order_id") == 20_000
    review = entity("Review", {"PK": "R#{id}", "SK": "R"}, id="uuid", user_id="uuid", count=5e6)
    user = replace(USER, keys={"PK": USER.keys["PK"], "SK": USER.keys["SK"]})
    assert distinct(model(table(), user, review), review, "user_id") == 1000
    author = replace(review, attributes={**review.attributes, "by": Attribute("by", refers="User")})
    assert distinct(model(table(), user, author), author, "by") == 1000


def test_the_whole_key_of_an_ancestor_counts_its_items() -> None:
    tenant = entity("Tenant", {"PK": "T#{t}", "SK": "T"}, t="uuid", count=100)
    ticket = entity(
        "Ticket", {"PK": "T#{t}", "SK": "K#{n}"}, t="uuid", n="integer", parent="Tenant", count=50
    )
    comment = entity(
        "Comment",
        {"PK": "K#{t}#{n}", "SK": "C#{c}"},
        t="uuid",
        n="integer",
        c="ulid",
        parent="Ticket",
        count=7,
    )
    shop = model(table(), tenant, ticket, comment)
    assert children(shop, comment) == (7, 7)
    assert children(shop, ticket) == (50, 50)


def test_a_cut_time_is_a_bucket() -> None:
    event = entity(
        "Event", {"PK": "DAY#{at:.10}", "SK": "{at}"}, at="timestamp", count=1e6, retention_days=90
    )
    assert partition_cardinality(model(table(), event), table(), None) == pytest.approx(90)


def test_shards_multiply_partition_keys() -> None:
    gsi = index("GSI1", "GSI1PK")
    keys = {"PK": "O#{id}", "SK": "O", "GSI1PK": "{status}#{shard(id, 10)}"}
    order = entity("Order", keys, id="ulid", status="A|B", count=1e6)
    shop = model(table(gsi), order)
    assert partition_cardinality(shop, shop.tables["shop"], gsi) == 20


def test_a_sparse_index_has_a_share_of_the_items() -> None:
    gsi = index("GSI1", "GSI1PK")
    order = entity(
        "Order",
        {"PK": "O#{id}", "SK": "O", "GSI1PK": "{id}"},
        only_if='status = "OPEN"',
        id="ulid",
        status="OPEN|PAID|SENT|LOST",
    )
    shop = model(table(gsi), order)
    assert entry_share(shop, order, gsi) == 0.25
    assert entry_share(shop, order, None) == 1
    optional = entity(
        "User", {"PK": "U", "SK": "U", "GSI1PK": "{email}"}, email=Attribute("email", optional=0.2)
    )
    assert entry_share(model(table(gsi), optional), optional, gsi) == pytest.approx(0.8)


def test_wild_growth_leaves_every_figure_finite() -> None:
    wild = Growth(percent_per_month=1000)
    shop = model(
        table(), replace(USER, growth=wild), replace(ORDER, growth=wild, spread=Distribution("zipf", 2.0))
    )
    size = collection_bytes(shop, shop.tables["shop"], None, months=600)
    assert math.isfinite(size.mean)
    assert math.isfinite(size.maximum)


def test_an_index_on_a_range_of_numbers_has_the_share_that_their_ends_tell() -> None:
    keys = {"PK": "U#{user_id}", "SK": "C", "GSI1PK": "U#{user_id}", "GSI1SK": "{unread}"}
    unread = Attribute("unread", "N", format="integer", minimum=0, maximum=99)
    talk = entity("Talk", keys, user_id="uuid", unread=unread)
    for condition, share in [
        ("unread > 0", 0.99),
        ("unread >= 0", 1),
        ("unread < 10", 0.1),
        ("unread <= 10", 0.11),
        ("unread between 90 and 500", 0.1),
        ("unread > 99", 0),
        ("unread > ?least", 1 / 3),
    ]:
        sparse = replace(talk, only_if={"GSI1PK": parse_condition(condition)})
        inbox = model(table(index("GSI1", "GSI1PK", "GSI1SK")), sparse)
        found = entry_share(inbox, sparse, inbox.tables["shop"].indexes[0])
        assert found == pytest.approx(share), condition
