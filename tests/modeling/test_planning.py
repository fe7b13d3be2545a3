"""Which key serves a pattern, with which conditions; and if none does, why."""

from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

from hashrange.modeling.loading import loads
from hashrange.modeling.model import Attribute, Entity, Index, Model, ReadOperation, ReadPattern, Table
from hashrange.modeling.planning import plan_read, plans
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.read_requests import requests_for
from hashrange.modeling.requests import Query
from hashrange.modeling.templates import parse_template
from small_models import ORDER, USER, entity, index, model, read, table

SINCE = {"user_id": "u", "since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z", "order_id": "o"}


def planned(pattern: ReadPattern, *entities: Entity, shop: Table | None = None) -> ReadPlan:
    return plan_read(model(shop or table(), *(entities or (USER, ORDER))), pattern)


def kinds(plan: ReadPlan) -> set[str]:
    return {problem.kind for problem in plan.problems}


def key_expression(plan: ReadPlan, shop: Model | None = None) -> str:
    """The KeyConditionExpression with its values in place."""
    request = requests_for(plan, SINCE, shop or model(table(), USER, ORDER))[0]
    assert isinstance(request, Query)
    text = request.key_condition_expression
    for placeholder, name in reversed(request.expression_attribute_names.items()):
        text = text.replace(placeholder, name)
    for placeholder, value in reversed(request.expression_attribute_values.items()):
        text = text.replace(placeholder, repr(next(iter(value.values()))))
    return text


def test_the_whole_key_makes_a_get_item() -> None:
    plan = planned(read("User", where="user_id = ?user_id"))
    assert plan.served
    assert plan.operation is ReadOperation.GET_ITEM
    assert plan.index is None


def test_several_whole_keys_make_a_batch() -> None:
    plan = planned(read("User", where="user_id = ?user_id", batch=20))
    assert (plan.served, plan.operation) == (True, ReadOperation.BATCH_GET_ITEM)
    assert kinds(planned(read("User", where="user_id = ?user_id", batch=101))) == {"batch"}


def test_a_batch_of_collections_is_no_single_request() -> None:
    plan = planned(read("Order", where="user_id = ?user_id", batch=3))
    assert kinds(plan) == {"batch"}
    assert plan.requests == 3


def test_a_transaction_reads_by_whole_keys() -> None:
    pattern = read("User", where="user_id = ?u", batch=2, operation=ReadOperation.TRANSACT_GET_ITEMS)
    assert planned(pattern).operation is ReadOperation.TRANSACT_GET_ITEMS
    asked = read("Order", where="user_id = ?u", operation=ReadOperation.GET_ITEM)
    assert kinds(planned(asked)) == {"operation"}


RANGES = [
    ("user_id = ?user_id", "begins_with(SK, 'ORDER#')"),
    (
        "user_id = ?user_id and placed_at >= ?since",
        r"SK BETWEEN 'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#\U0010ffff'",
    ),
    (
        "user_id = ?user_id and placed_at > ?since",
        r"SK BETWEEN 'ORDER#2026-01-01T00:00:00Z#\U0010ffff' AND 'ORDER#\U0010ffff'",
    ),
    ("user_id = ?user_id and placed_at < ?since", "SK BETWEEN 'ORDER#' AND 'ORDER#2026-01-01T00:00:00Z'"),
    (
        "user_id = ?user_id and placed_at between ?since and ?until",
        r"SK BETWEEN 'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#2026-02-01T00:00:00Z#\U0010ffff'",
    ),
    (
        "user_id = ?user_id and placed_at >= ?since and placed_at < ?until",
        "SK BETWEEN 'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#2026-02-01T00:00:00Z'",
    ),
    (
        'user_id = ?user_id and begins_with(placed_at, "2026-01")',
        "begins_with(SK, 'ORDER#2026-01')",
    ),
    (
        "user_id = ?user_id and placed_at = ?since",
        "begins_with(SK, 'ORDER#2026-01-01T00:00:00Z#')",
    ),
]


@pytest.mark.parametrize(("where", "expression"), RANGES)
def test_a_range_of_values_is_one_range_of_keys(where: str, expression: str) -> None:
    plan = planned(read("Order", where=where))
    assert plan.problems == ()
    assert key_expression(plan) == f"PK = 'USER#u' AND {expression}"


def test_a_range_without_text_before_it_is_a_plain_comparison() -> None:
    event = entity("Event", {"PK": "DEVICE#{device}", "SK": "{since}"}, device="uuid", since="timestamp")
    shop = model(table(), event)
    for operator in (">", ">=", "<", "<="):
        plan = plan_read(shop, read("Event", where=f"device = ?user_id and since {operator} ?since"))
        assert plan.served
        assert key_expression(plan, shop).endswith(f"SK {operator} '2026-01-01T00:00:00Z'")


def test_a_number_key_takes_numbers() -> None:
    score = entity("Score", {"PK": "GAME#{game}", "SK": "{points}"}, game="uuid", points="integer")
    shop = model(table(sort="SK:N"), score)
    plan = plan_read(shop, read("Score", where="game = ?user_id and points > 9", order="points desc"))
    assert plan.served
    request = requests_for(plan, SINCE, shop)[0].members()
    assert request["ExpressionAttributeValues"] == {":v0": {"S": "GAME#u"}, ":v1": {"N": "9"}}
    assert request["ScanIndexForward"] is False
    both_open = plan_read(shop, read("Score", where="game = ?user_id and points > 9 and points < 20"))
    assert kinds(both_open) == {"filter"}


def test_an_unknown_partition_key_takes_a_scan_and_is_told_a_better_key() -> None:
    plan = planned(read("Order", where='status = "OPEN" and placed_at >= ?since'))
    assert plan.operation is ReadOperation.SCAN
    assert kinds(plan) == {"scan", "partition"}
    assert (
        plan.problems[0].remedy
        == "an index with the partition key ORDER#{status} and the sort key {placed_at}"
    )
    assert "user_id" in plan.considered[0].problems[0].message


def test_what_the_author_left_to_the_filter_is_filtered() -> None:
    plan = planned(read("Order", where="user_id = ?user_id", filter='status = "PAID"', limit=5))
    assert plan.served
    assert plan.filter is not None
    assert plan.limit is None, "a limit counts before the filter"
    in_where = planned(read("Order", where='user_id = ?user_id and status = "PAID"'))
    assert kinds(in_where) == {"filter"}
    assert in_where.operation is ReadOperation.QUERY


def test_a_limit_is_passed_on_where_nothing_is_filtered() -> None:
    assert planned(read("Order", where="user_id = ?user_id", limit=5)).limit == 5


@pytest.mark.parametrize(
    ("order", "served"), [("placed_at", True), ("placed_at desc", True), ("total", False), ("user_id", True)]
)
def test_the_sort_key_gives_one_order(order: str, *, served: bool) -> None:
    plan = planned(read("Order", where="user_id = ?user_id", order=order))
    assert plan.served is served
    assert kinds(plan) == (set() if served else {"order"})


@pytest.mark.parametrize(
    ("template", "kind", "sorts"),
    [
        ("L#{n}", "integer", False),
        ("L#{n:08}", "integer", True),
        ("L#{n:08}", Attribute("n", "N", format="integer", maximum=1e9), False),
        ("L#{n:08}", Attribute("n", "N", format="integer", minimum=-5), False),
        ("L#{n}", "epoch", True),
        ("L#{n}", "text", True),
        ("L#{n}#{id}", "text", False),
        ("L#{n}#{id}", "email", True),
        ("L#{n:.4}#{id}", "timestamp", False),
    ],
)
def test_numbers_sort_as_text_only_with_zeros(template: str, kind: str | Attribute, *, sorts: bool) -> None:
    line = entity("Line", {"PK": "A#{a}", "SK": template}, a="uuid", id="ulid", n=kind)
    plan = planned(read("Line", where="a = ?a", order="n"), line)
    assert plan.served is sorts
    ranged = planned(read("Line", where="a = ?a and n >= ?n"), line)
    assert ranged.served is sorts


def test_a_prefix_that_begins_another_value_is_a_trap() -> None:
    trap = entity("Line", {"PK": "A", "SK": "ORDER#{n}{id}"}, n="integer", id="ulid")
    assert kinds(planned(read("Line", where="n = ?n"), trap)) == {"prefix"}
    padded = entity("Line", {"PK": "A", "SK": "ORDER#{n:06}{id}"}, n="integer", id="ulid")
    assert planned(read("Line", where="n = ?n"), padded).served


def test_a_delimiter_that_values_have_shows_no_end() -> None:
    shop = entity("Line", {"PK": "{day}-{n}", "SK": "X"}, day="integer", n="integer")
    assert kinds(planned(read("Line", where="day = ?d and n = ?n"), shop)) == {"prefix"}


def test_other_items_in_the_same_range_are_found_out() -> None:
    item = entity(
        "OrderItem",
        {"PK": "USER#{user_id}", "SK": "ORDER#{placed_at}#{order_id}#ITEM#{n}"},
        user_id="uuid",
        placed_at="timestamp",
        order_id="ulid",
        n="integer",
    )
    pattern = read("Order", where="user_id = ?user_id")
    assert kinds(planned(pattern, USER, ORDER, item)) == {"overlap"}
    filtered = replace(pattern, filter=read("Order", filter="status exists").filter)
    assert planned(filtered, USER, ORDER, item).served, "order items have no status"
    elsewhere = replace(item, keys={**item.keys, "SK": parse_template("ORDERITEM#{order_id}#{n}")})
    assert planned(pattern, USER, ORDER, elsewhere).served


def test_a_bucket_of_time_wants_an_attribute_of_its_own() -> None:
    cut = entity("Event", {"PK": "S#{s}#{at:.10}", "SK": "{at}"}, s="uuid", at="timestamp")
    assert (
        "{at:.10} an attribute of its own"
        in planned(read("Event", where="s = ?s and at >= ?t"), cut).problems[1].remedy
    )
    day = entity("Event", {"PK": "S#{s}#{day}", "SK": "{at}"}, s="uuid", day="date", at="timestamp")
    assert planned(read("Event", where="s = ?s and day = ?d and at >= ?t", order="at"), day).served


def test_long_keys_are_told_apart_at_their_ends() -> None:
    keys = {"PK": "A#{a}#ORDER#{b}", "SK": "A#{a}#ORDER#{b}#%s#{n}"}
    one, other = (
        entity(
            name,
            {key: text.replace("%s", name) for key, text in keys.items()},
            a="uuid",
            b="uuid",
            n="integer",
        )
        for name in ("LINE", "NOTE")
    )
    assert planned(read("LINE", where="a = ?a and b = ?b"), one, other).served


def test_a_range_with_an_open_end_and_no_prefix_runs_into_other_items() -> None:
    event = entity("Event", {"PK": "DEVICE#{device}", "SK": "{at}"}, device="uuid", at="timestamp")
    device = entity("Device", {"PK": "DEVICE#{device}", "SK": "META"}, device="uuid")
    assert kinds(planned(read("Event", where="device = ?d and at >= ?t"), event, device)) == {"overlap"}
    assert planned(read("Event", where="device = ?d and at between ?t and ?u"), event, device).served


def test_one_query_reads_an_item_collection() -> None:
    plan = planned(read("User", "Order", where="user_id = ?user_id"))
    assert plan.served
    assert key_expression(plan) == "PK = 'USER#u'"
    third = entity("Address", {"PK": "USER#{user_id}", "SK": "ADDRESS#{n}"}, user_id="uuid", n="integer")
    assert kinds(planned(read("User", "Order", where="user_id = ?user_id"), USER, ORDER, third)) == {
        "overlap"
    }


def test_a_parent_and_its_children_share_a_prefix() -> None:
    order = entity("Order", {"PK": "S", "SK": "O#{order_id}"}, order_id="ulid")
    item = entity("Item", {"PK": "S", "SK": "O#{order_id}#ITEM#{n}"}, order_id="ulid", n="integer")
    shop = model(table(), order, item)
    plan = plan_read(shop, read("Order", "Item", where="order_id = ?order_id"))
    assert plan.served
    assert key_expression(plan, shop) == "PK = 'S' AND begins_with(SK, 'O#o')"
    loose = [
        replace(part, attributes={**part.attributes, "order_id": Attribute("order_id")})
        for part in (order, item)
    ]
    assert kinds(planned(read("Order", "Item", where="order_id = ?order_id"), *loose)) == {"prefix"}


def test_entities_of_two_tables_take_two_requests() -> None:
    other = replace(USER, table="other")
    shop = Model(
        "test",
        {"shop": table(), "other": replace(table(), name="other")},
        {"User": other, "Order": ORDER},
        (),
    )
    assert kinds(plan_read(shop, read("Order", "User", where="user_id = ?u"))) == {"tables"}


SPARSE = entity(
    "Order",
    {"PK": "O#{order_id}", "SK": "O", "GSI1PK": "OPEN#{shard(order_id, 4)}", "GSI1SK": "{placed_at}"},
    only_if='status = "OPEN"',
    order_id="ulid",
    placed_at="timestamp",
    status="OPEN|PAID",
)


def gsi(**members: Any) -> Index:
    return index("GSI1", "GSI1PK", "GSI1SK", **members)


def test_a_sharded_sparse_index_takes_a_query_for_each_shard() -> None:
    shop = model(table(gsi()), SPARSE)
    plan = plan_read(shop, read("Order", where='status = "OPEN"', order="placed_at", limit=10))
    assert plan.served
    assert (plan.requests, plan.limit, plan.filter) == (4, 10, None)
    requests = [request.members() for request in requests_for(plan, {}, shop)]
    assert [request["ExpressionAttributeValues"] for request in requests] == [
        {":v0": {"S": f"OPEN#{shard}"}} for shard in range(4)
    ]


def test_a_sparse_index_serves_only_who_asks_for_what_it_has() -> None:
    plan = planned(read("Order", order="placed_at"), SPARSE, shop=table(gsi()))
    assert kinds(plan) == {"sparse"}


def test_a_known_attribute_tells_its_shard() -> None:
    plan = planned(
        read("Order", where='status = "OPEN" and order_id = ?o', index="GSI1"), SPARSE, shop=table(gsi())
    )
    assert plan.requests == 1
    assert kinds(plan) == {"filter"}, "a shard does not tell one order from the next"


def by_email(**members: Any) -> tuple[Table, Entity]:
    user = entity(
        "User",
        {"PK": "USER#{user_id}", "SK": "P", "GSI1PK": "{email}"},
        user_id="uuid",
        email="email",
        name="S",
    )
    return table(index("GSI1", "GSI1PK", **members)), user


def test_an_index_has_to_project_what_is_asked_for() -> None:
    shop, user = by_email(projection="KEYS_ONLY")
    assert kinds(planned(read("User", where="email = ?e"), user, shop=shop)) == {"projection"}
    assert planned(read("User", where="email = ?e", project=("PK",)), user, shop=shop).served
    shop, user = by_email(projection="INCLUDE", included=("name",))
    assert planned(read("User", where="email = ?e", project=("name",)), user, shop=shop).served


def test_a_global_index_gives_no_strong_reads() -> None:
    shop, user = by_email()
    assert planned(read("User", where="email = ?e"), user, shop=shop).served
    assert kinds(planned(read("User", where="email = ?e", consistent=True), user, shop=shop)) == {
        "consistency"
    }


def test_a_local_index_fetches_what_it_lacks() -> None:
    order = entity(
        "Order",
        {"PK": "U#{u}", "SK": "O#{id}", "LSI1SK": "{at}"},
        u="uuid",
        id="ulid",
        at="timestamp",
        note="S",
    )
    shop = table(index("LSI1", "PK", "LSI1SK", local=True, projection="KEYS_ONLY"))
    plan = planned(read("Order", where="u = ?u and at > ?t", order="at", consistent=True), order, shop=shop)
    assert plan.served
    assert plan.fetches


def test_multi_attribute_keys_are_compared_from_left_to_right() -> None:
    shop = table(index("by_place", "country", "city", "street", "number:N", partitions=2))
    place = entity(
        "Place", {"PK": "P#{id}", "SK": "P"}, id="uuid", country="S", city="S", street="S", number="integer"
    )
    known = "country = ?c and city = ?d"
    assert planned(read("Place", where=known), place, shop=shop).served
    full = planned(
        read("Place", where=f"{known} and street = ?s and number between 1 and 9"), place, shop=shop
    )
    assert full.served
    assert [(part.attribute.name, part.operator) for part in full.sort] == [
        ("street", "="),
        ("number", "between"),
    ]
    skipping = planned(read("Place", where=f"{known} and number = 1"), place, shop=shop)
    assert kinds(skipping) == {"filter", "key-filter"}
    assert kinds(planned(read("Place", where="country = ?c"), place, shop=shop)) == {"scan", "partition"}


def test_the_cheapest_key_is_chosen() -> None:
    narrow = index("narrow", "PK", "LSI1SK", local=True)
    order = replace(ORDER, keys={**ORDER.keys, "LSI1SK": parse_template("{status}#{placed_at}")})
    plan = planned(read("Order", where='user_id = ?u and status = "OPEN"'), USER, order, shop=table(narrow))
    assert plan.served
    assert plan.index is narrow


def test_a_hint_leaves_one_index() -> None:
    shop, user = by_email()
    pattern = read("User", where="user_id = ?u", index="GSI1")
    assert kinds(planned(pattern, user, shop=shop)) == {"scan", "partition"}


def test_a_scan_that_is_asked_for_is_still_a_problem() -> None:
    plan = planned(read("User", operation=ReadOperation.SCAN))
    assert kinds(plan) == {"scan"}
    assert plan.considered != ()


def test_comparisons_with_other_attributes_are_no_keys() -> None:
    plan = planned(read("Order", where="user_id = order_id"))
    assert plan.operation is ReadOperation.SCAN


def test_contains_has_no_key() -> None:
    plan = planned(read("Order", where='status contains "P"'))
    assert plan.problems[0].remedy.startswith("no key serves `contains`")


def test_an_inverted_index_goes_the_other_way() -> None:
    group = entity("Group", {"PK": "TENANT#{t}", "SK": "MEMBER#{m}"}, t="uuid", m="uuid")
    link = entity("Link", {"PK": "GROUP#{g}", "SK": "MEMBER#{m}"}, g="uuid", m="uuid")
    shop = model(table(index("inverted", "SK", "PK")), group, link)
    plan = plan_read(shop, read("Link", where="m = ?order_id"))
    assert plan.served
    assert key_expression(plan, shop) == "SK = 'MEMBER#o' AND begins_with(PK, 'GROUP#')"


def test_the_starter_file_is_served_throughout() -> None:
    text = files("hashrange.modeling").joinpath("starter.yaml").read_text("utf-8")
    chosen = plans(loads(text))
    assert chosen
    assert [plan.problems for plan in chosen.values() if not plan.served] == []


def test_every_read_of_a_model_has_a_plan() -> None:
    shop = model(table(), USER, ORDER, patterns=(read("User", where="user_id = ?u"),))
    assert list(plans(shop)) == ["R1"]


def test_a_key_takes_one_value_at_a_time() -> None:
    shop = model(table(), USER, ORDER)
    (problem,) = plan_read(shop, read("Order", where="user_id = ?u and placed_at in (?a, ?b)")).problems
    assert problem.kind == "batch"
    assert "write `placed_at = ?placed_at` and `batch: 2`" in problem.remedy
    several = plan_read(shop, read("User", where="user_id in (?a, ?b, ?c)"))
    assert "`batch: 3`" in several.considered[0].problems[0].remedy
    assert plan_read(shop, read("User", where="user_id in (?a)")).operation is ReadOperation.GET_ITEM
