"""examples/events: every event once, every message, and orders that are whole or undone, whoever dies on the way."""

import importlib.util
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from faulty_client import Death, FaultyClient
from hashrange.patterns import shard_of
from house import ROOT
from sizes import size


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("events")


@pytest.fixture
def shop(module: Any, examples_client: Any) -> Any:
    return module.Shop(examples_client, module.Payments(limit=100))


def stocked(shop: Any, pieces: int = 5) -> str:
    product = uuid4().hex
    shop.receive(f"delivery-{product}", product, pieces)
    return product


def deliver_all(module: Any, shop: Any) -> None:
    """Until nothing is left: what is done about an event makes others."""
    while sum(shop.deliver(shard) for shard in range(module.OUTBOX.shards)):
        pass


def status(shop: Any, order_id: str) -> str:
    return str(shop.store.load(f"ORDER-{order_id}")[0]["status"])


def free(shop: Any, product: str) -> int:
    return int(shop.store.load(f"STOCK-{product}")[0]["free"])


@pytest.mark.parametrize(
    ("pieces", "price", "outcome", "left", "charged"),
    [(3, 30, "Confirmed", 2, 90), (6, 1, "Rejected", 5, 0), (2, 90, "Rejected", 5, 0)],
)
def test_an_order_is_confirmed_or_undone(
    module: Any, examples_client: Any, pieces: int, price: int, outcome: str, left: int, charged: int
) -> None:
    """There is enough; there are too few pieces; the card is refused."""
    payments = module.Payments(limit=100)
    shop, order_id = module.Shop(examples_client, payments), uuid4().hex
    product = stocked(shop)
    shop.place(order_id, product, pieces, price)
    deliver_all(module, shop)
    assert (status(shop, order_id), free(shop, product)) == (outcome, left)
    assert sum(payments.charged.values()) == charged


def test_a_command_that_is_sent_again_makes_no_event(shop: Any) -> None:
    product = stocked(shop)
    shop.receive(f"delivery-{product}", product, 5)
    assert shop.store.load(f"STOCK-{product}") == ({"free": 5}, 1)


def test_who_loses_a_race_decides_again_on_the_new_state(shop: Any) -> None:
    product = stocked(shop)
    aggregate, seen = f"STOCK-{product}", []

    def decide(state: Any) -> Any:
        seen.append(state["free"])
        if len(seen) == 1:
            shop.receive(uuid4().hex, product, 10)  # somebody else, in between
        return {"change": -1}

    shop.store.append(uuid4().hex, aggregate, "Reserved", decide)
    assert seen == [5, 15]
    assert shop.store.load(aggregate) == ({"free": 14}, 3)


def test_a_snapshot_shortens_the_load_and_changes_nothing(
    module: Any, shop: Any, examples_client: Any
) -> None:
    product = stocked(shop, 1)
    for _ in range(11):
        shop.receive(uuid4().hex, product, 1)
    key = {"PK": {"S": f"AGGREGATE#STOCK-{product}"}, "SK": {"S": "SNAPSHOT"}}
    stored = examples_client.get_item(TableName="events", Key=key)["Item"]
    assert (stored["version"], stored["state"]) == ({"N": "10"}, {"M": {"free": {"N": "10"}}})
    with_snapshot = shop.store.load(f"STOCK-{product}")
    examples_client.delete_item(TableName="events", Key=key)
    assert shop.store.load(f"STOCK-{product}") == with_snapshot == ({"free": 12}, 12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "price", "outcome", "left"), [(0, 30, "Confirmed", 2), (1, 90, "Rejected", 5)]
)
def test_whoever_dies_at_any_request_the_next_one_ends_it(
    module: Any, examples_client: Any, first: int, price: int, outcome: str, left: int
) -> None:
    """One shop dies behind its n-th request, for every n; another takes its place. Nothing is done twice or half.

    Both begin alike: each has every other request, unless the run is to be thorough.
    """
    for number in range(first, 200, size(2, 1)):
        payments, order_id = module.Payments(limit=100), uuid4().hex
        faulty = FaultyClient(examples_client, "dies after", number)
        shaky, shop = module.Shop(faulty, payments), module.Shop(examples_client, payments)
        product = stocked(shop)
        shard = shard_of(f"ORDER-{order_id}", module.OUTBOX.shards)
        with suppress(Death):
            shaky.place(order_id, product, 3, price)
            shaky.deliver(shard)
        shop.place(order_id, product, 3, price)
        shop.deliver(shard)
        assert (status(shop, order_id), free(shop, product)) == (outcome, left)
        assert sum(payments.charged.values()) == (90 if outcome == "Confirmed" else 0)
        deliver_all(module, shop)
        if not faulty.is_met:
            break
    assert 15 < number < 100


def test_the_stream_rings_for_what_is_added_to_the_outbox(
    module: Any, shop: Any, examples_client: Any, make_client: Callable[..., Any]
) -> None:
    spec = importlib.util.spec_from_file_location("consumer", ROOT / "examples" / "events" / "consumer.py")
    assert spec is not None
    assert spec.loader is not None
    consumer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(consumer)
    streams = make_client("dynamodbstreams", region=examples_client.meta.region_name)
    stream_arn = examples_client.describe_table(TableName="events")["Table"]["LatestStreamArn"]
    product, order_id = stocked(shop), uuid4().hex
    shop.place(order_id, product, 1, 1)
    iterators: dict[str, str] = {}
    heard: set[int] = set()
    deadline = time.monotonic() + 60
    while status(shop, order_id) != "Confirmed":
        assert time.monotonic() < deadline, heard
        rings = consumer.rung(streams, stream_arn, iterators)
        heard |= rings
        for shard in rings:
            shop.deliver(shard)
    assert shard_of(f"ORDER-{order_id}", module.OUTBOX.shards) in heard
