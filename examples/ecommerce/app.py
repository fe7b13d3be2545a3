"""A shop in one table: every question of model.yaml is one request, and an order is placed as a whole or not at all."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("ecommerce", partition_key="PK", sort_key="SK")
NEW = "attribute_not_exists(#PK)"
SHARDS = 4  # of the warehouse's list, as in model.yaml
Item = dict[str, Any]


class Shop:
    """The shop's operations."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._runner = patterns.Runner(client)

    def register(self, user_id: str, email: str, name: str) -> None:
        keys = {"PK": f"USER#{user_id}", "SK": "PROFILE", "GSI1PK": f"EMAIL#{email}", "GSI1SK": "PROFILE"}
        user = {**keys, "user_id": user_id, "email": email, "name": name}
        self._runner.run(TABLE.write(TABLE.putting(user, NEW)))

    def offer(self, sku: str, title: str, category: str, price: Decimal, stock: int) -> None:
        keys = {"PK": f"PRODUCT#{sku}", "SK": "PRODUCT", "GSI1PK": f"CATEGORY#{category}", "GSI1SK": title}
        values = {"sku": sku, "title": title, "category": category, "price": price, "stock": stock}
        self._runner.run(TABLE.write(TABLE.putting({**keys, **values})))

    def place(self, user_id: str, order_id: str, placed_at: str, basket: dict[str, int]) -> Decimal:
        """Place an order; sent twice, it is placed once. Raises TransactionCanceled if something is sold out."""
        products = self.products(list(basket))
        lines = [(sku, quantity, products[sku]["price"]) for sku, quantity in sorted(basket.items())]
        total = sum((price * quantity for _, quantity, price in lines), Decimal(0))
        order = {"user_id": user_id, "order_id": order_id, "placed_at": placed_at}
        writes = [TABLE.checking(TABLE.key(f"USER#{user_id}", "PROFILE"), "attribute_exists(#PK)")]
        keys = {"GSI1PK": f"ORDER#{order_id}", "GSI1SK": "ORDER", **_order_key(user_id, placed_at, order_id)}
        writes.append(TABLE.putting({**keys, **order, "status": "OPEN", "total": total}, NEW))
        writes.append(TABLE.putting({**_waiting_key(placed_at, order_id), **order}))
        for number, (sku, quantity, price) in enumerate(lines, 1):
            key = TABLE.key(f"PRODUCT#{sku}", "PRODUCT")
            writes.append(TABLE.updating(key, "SET #stock = #stock - :n", "#stock >= :n", n=quantity))
            keys = {"PK": f"ORDER#{order_id}", "SK": f"ITEM#{number:02}"}
            keys |= {"GSI1PK": f"SOLD#{sku}", "GSI1SK": f"{placed_at}#{order_id}"}
            item = {"line": number, "sku": sku, "quantity": quantity, "price": price}
            writes.append(TABLE.putting({**keys, **item, "order_id": order_id, "placed_at": placed_at}, NEW))
        self._runner.run(TABLE.transact(writes, token=order_id))
        return total

    def ship(self, user_id: str, placed_at: str, order_id: str) -> None:
        sent = TABLE.updating(
            _order_key(user_id, placed_at, order_id),
            "SET #status = :sent",
            "#status <> :sent",
            sent="SHIPPED",
        )
        self._runner.run(TABLE.transact([sent, TABLE.deleting(_waiting_key(placed_at, order_id))]))

    def review(self, sku: str, user_id: str, written_at: str, stars: int, text: str) -> None:
        keys = {"PK": f"PRODUCT#{sku}", "SK": f"REVIEW#{written_at}#{user_id}"}
        keys |= {"GSI1PK": f"REVIEWER#{user_id}", "GSI1SK": f"{written_at}#{sku}"}
        values = {"sku": sku, "user_id": user_id, "written_at": written_at, "stars": stars, "text": text}
        self._runner.run(TABLE.write(TABLE.putting({**keys, **values}, NEW)))

    def user(self, user_id: str) -> Item | None:
        return self._runner.run(TABLE.get(TABLE.key(f"USER#{user_id}", "PROFILE")))

    def products(self, skus: list[str]) -> dict[str, Item]:
        items = self._runner.run(TABLE.get_many([TABLE.key(f"PRODUCT#{sku}", "PRODUCT") for sku in skus]))
        return {item["sku"]: item for item in items}

    def orders(self, user_id: str, since: str = "", until: str = "~", limit: int = 10) -> list[Item]:
        """A customer's orders, the latest first."""
        span = patterns.Span(f"ORDER#{since}", f"ORDER#{until}~", forward=False)
        return self._runner.run(TABLE.query(f"USER#{user_id}", span, limit=limit)).items

    def lines(self, order_id: str) -> list[Item]:
        return self._runner.run(TABLE.query(f"ORDER#{order_id}", patterns.Span(), limit=99)).items

    def reviews(self, sku: str) -> list[Item]:
        span = patterns.Span("REVIEW#", "REVIEW#~", forward=False)
        return self._runner.run(TABLE.query(f"PRODUCT#{sku}", span, limit=10)).items

    def waiting(self, limit: int = 20) -> list[str]:
        """The orders that wait longest: every shard is asked, at once."""
        calls = [TABLE.querying(f"WAITING#{n}", patterns.Span(), limit=limit) for n in range(SHARDS)]
        pages = self._runner.run(TABLE.query_all(calls))
        items = sorted((item for page in pages for item in page.items), key=lambda item: item["SK"])
        return [item["order_id"] for item in items[:limit]]

    def by_index(self, key: str, *, newest_first: bool = False, limit: int = 30) -> list[Item]:
        """Ask GSI1: `EMAIL#…`, `ORDER#…`, `CATEGORY#…`, `REVIEWER#…` or `SOLD#…`."""
        answer = self._client.query(
            TableName=TABLE.name,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :key",
            ExpressionAttributeValues={":key": {"S": key}},
            ScanIndexForward=not newest_first,
            Limit=limit,
        )
        return [patterns.values.plain_item(item) for item in answer["Items"]]


def _order_key(user_id: str, placed_at: str, order_id: str) -> Item:
    return TABLE.key(f"USER#{user_id}", f"ORDER#{placed_at}#{order_id}")


def _waiting_key(placed_at: str, order_id: str) -> Item:
    shard = patterns.shard_of(order_id, SHARDS)  # as `shard(order_id, 4)` of the model
    return TABLE.key(f"WAITING#{shard}", f"{placed_at}#{order_id}")


def demonstrate(client: Any) -> Iterator[str]:
    """A day in the shop."""
    shop = Shop(client)
    shop.register("ann", "ann@example.com", "Ann")
    shop.offer("cup", "Cup", "kitchen", Decimal("4.50"), stock=3)
    shop.offer("pan", "Pan", "kitchen", Decimal(20), stock=1)
    total = shop.place("ann", "01A", "2026-05-01T10:00:00Z", {"cup": 2, "pan": 1})
    yield f"order 01A: {total}"
    try:
        shop.place("ann", "01B", "2026-05-01T11:00:00Z", {"cup": 1, "pan": 1})
    except patterns.TransactionCanceled:
        yield f"order 01B: a pan is sold out, and {shop.products(['cup'])['cup']['stock']} cup is still there"
    yield f"waiting: {', '.join(shop.waiting())}"
    shop.ship("ann", "2026-05-01T10:00:00Z", "01A")
    yield f"waiting: {', '.join(shop.waiting()) or 'none'}"
    shop.review("pan", "ann", "2026-05-03T08:00:00Z", 5, "Nothing sticks.")
    yield f"reviews of the pan: {shop.reviews('pan')[0]['stars']} stars"
