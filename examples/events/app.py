"""A shop whose orders and stock are events. An order is a saga, which begins when its event is delivered."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from event_store import OUTBOX, TABLE, EventStore, State

from hashrange import patterns


class Payments:
    """Stands for a service elsewhere. It takes a key with each charge, and charges once for it."""

    def __init__(self, limit: int = 10_000) -> None:
        self.limit = limit
        self.charged: dict[str, int] = {}

    def charge(self, turn: patterns.Turn) -> None:
        if turn.input["amount"] > self.limit:
            raise patterns.Abort("the card is refused")
        self.charged[turn.key] = turn.input["amount"]

    def refund(self, turn: patterns.Turn) -> None:
        """Give back what was charged, if it was."""
        self.charged.pop(turn.key, None)


class Shop:
    """Orders and stock; payments are elsewhere."""

    def __init__(self, client: Any, payments: Payments) -> None:
        self._runner = patterns.Runner(client)
        self.store = EventStore(self._runner)
        steps = [
            patterns.SagaStep("accept", lambda _: None, lambda turn: self._decided(turn, "Rejected")),
            patterns.SagaStep("reserve", self._reserve, self._release),
            patterns.SagaStep("charge", payments.charge, payments.refund),
            patterns.SagaStep("confirm", lambda turn: self._decided(turn, "Confirmed"), lambda _: None),
        ]
        self._checkout = patterns.Saga(TABLE, "checkout", steps)

    def receive(self, delivery_id: str, product: str, pieces: int) -> None:
        self.store.append(delivery_id, f"STOCK-{product}", "Received", lambda _: {"change": pieces})

    def place(self, order_id: str, product: str, pieces: int, price: int) -> None:
        """Place an order. That is all that happens now: the saga begins when the event is delivered."""
        order = {"order_id": order_id, "product": product, "pieces": pieces, "amount": pieces * price}
        self.store.append(f"place-{order_id}", f"ORDER-{order_id}", "Placed", lambda _: order)

    def deliver(self, shard: int) -> int:
        """Deliver what waits in a shard of the outbox. Whoever dies in between leaves it to the next."""
        return self._runner.run(patterns.OutboxConsumer(OUTBOX).drain(shard, self._hear)).delivered

    def _hear(self, event: patterns.Event) -> None:
        if event.body["type"] == "Placed":
            order = event.body["data"]
            with suppress(patterns.SagaFailed):  # then all is undone, and the order rejected
                self._runner.run(self._checkout.run(order["order_id"], order))

    def _decided(self, turn: patterns.Turn, kind: str) -> None:
        self.store.append(f"{turn.key}/{kind}", f"ORDER-{turn.input['order_id']}", kind, lambda _: {})

    def _reserve(self, turn: patterns.Turn) -> None:
        pieces = turn.input["pieces"]

        def decide(stock: State) -> State:
            if stock.get("free", 0) < pieces:
                raise patterns.Abort("sold out")
            return {"change": -pieces}

        self.store.append(turn.key, f"STOCK-{turn.input['product']}", "Reserved", decide)

    def _release(self, turn: patterns.Turn) -> None:
        if self.store.is_done(turn.key):  # the step may have failed before it did anything
            change, product = {"change": turn.input["pieces"]}, turn.input["product"]
            self.store.append(f"{turn.key}/undo", f"STOCK-{product}", "Released", lambda _: change)


def demonstrate(client: Any) -> Iterator[str]:
    """Three orders of a shop with five pieces: one that is too large, and one that is too dear."""
    shop = Shop(client, Payments(limit=100))
    shop.receive("delivery-1", "tea", 5)
    for order_id, pieces, price in (("o-1", 3, 30), ("o-2", 3, 30), ("o-3", 2, 90)):
        shop.place(order_id, "tea", pieces, price)
    delivered = sum(shop.deliver(shard) for shard in range(OUTBOX.shards))
    yield f"{delivered} events are delivered"
    for order_id in ("o-1", "o-2", "o-3"):
        yield f"{order_id}: {shop.store.load(f'ORDER-{order_id}')[0]['status']}"
    state, version = shop.store.load("STOCK-tea")
    yield f"{state['free']} pieces are left, after {version} events"
