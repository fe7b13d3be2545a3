"""examples/ecommerce: orders are placed as a whole, once, and every question has its answer."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from hashrange import patterns

AT = "2026-05-01T10:00:00Z"


@pytest.fixture
def shop(application: Callable[[str], Any], examples_client: Any) -> Any:
    return application("ecommerce").Shop(examples_client)


@pytest.fixture
def user(shop: Any) -> str:
    user_id = uuid4().hex
    shop.register(user_id, f"{user_id}@example.com", "Bob")
    return user_id


def offered(shop: Any, stock: int) -> str:
    sku = uuid4().hex
    shop.offer(sku, f"Title {sku}", f"category {sku}", Decimal(3), stock=stock)
    return sku


def test_an_order_is_placed_once_though_it_is_sent_twice(shop: Any, user: str) -> None:
    sku, order = offered(shop, 5), uuid4().hex
    assert [shop.place(user, order, AT, {sku: 2}) for _ in range(2)] == [6, 6]
    assert shop.products([sku])[sku]["stock"] == 3
    assert [found["order_id"] for found in shop.orders(user)] == [order]
    assert [(line["sku"], line["quantity"]) for line in shop.lines(order)] == [(sku, 2)]


def test_nothing_is_written_when_one_product_is_sold_out(shop: Any, user: str) -> None:
    there, gone, order = offered(shop, 5), offered(shop, 0), uuid4().hex
    with pytest.raises(patterns.TransactionCanceled):
        shop.place(user, order, AT, {there: 1, gone: 1})
    assert shop.products([there])[there]["stock"] == 5
    assert (shop.orders(user), shop.lines(order)) == ([], [])
    assert order not in shop.waiting()


def test_a_shipped_order_waits_no_more(shop: Any, user: str) -> None:
    sku, order = offered(shop, 1), uuid4().hex
    shop.place(user, order, "1999-01-01T00:00:00Z", {sku: 1})
    assert order in shop.waiting()
    shop.ship(user, "1999-01-01T00:00:00Z", order)
    assert order not in shop.waiting()
    assert shop.orders(user)[0]["status"] == "SHIPPED"
    with pytest.raises(patterns.TransactionCanceled):
        shop.ship(user, "1999-01-01T00:00:00Z", order)


def test_orders_come_by_time_and_the_latest_first(shop: Any, user: str) -> None:
    sku = offered(shop, 9)
    for day in (1, 2, 3):
        shop.place(user, f"{user}-{day}", f"2026-05-0{day}T10:00:00Z", {sku: 1})
    assert [order["order_id"][-1] for order in shop.orders(user)] == ["3", "2", "1"]
    between = shop.orders(user, "2026-05-02", "2026-05-02")
    assert [order["order_id"][-1] for order in between] == ["2"]


def test_the_index_finds_by_address_number_category_reviewer_and_sale(shop: Any, user: str) -> None:
    sku, order = offered(shop, 5), uuid4().hex
    shop.place(user, order, AT, {sku: 1})
    shop.review(sku, user, AT, 4, "Good.")
    assert shop.user(user) in shop.by_index(f"EMAIL#{user}@example.com")
    assert [found["user_id"] for found in shop.by_index(f"ORDER#{order}")] == [user]
    assert [found["sku"] for found in shop.by_index(f"CATEGORY#category {sku}")] == [sku]
    assert [found["stars"] for found in shop.by_index(f"REVIEWER#{user}", newest_first=True)] == [4]
    assert [found["order_id"] for found in shop.by_index(f"SOLD#{sku}")] == [order]
    assert [found["text"] for found in shop.reviews(sku)] == ["Good."]
