"""Parts of parts: an adjacency list. An edge is one item, and the inverted index finds it from its other end."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("graph", partition_key="PK", sort_key="SK")
THERE = "attribute_exists(#PK) AND attribute_not_exists(#removing)"
PARTS_MAX = 10_000  # of one walk
Edge = dict[str, Any]


class NotLinked(Exception):
    """One of the parts is not there, is going, is used there already, or would be in itself."""


class Products:
    """Parts, and which of them are in which."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._runner = patterns.Runner(client)

    def add(self, part_id: str, title: str) -> None:
        item = {**_part(part_id), "part_id": part_id, "title": title, "used_in": 0}
        self._runner.run(TABLE.write(TABLE.putting(item, "attribute_not_exists(#PK)")))

    def use(self, component: str, part_id: str, quantity: int) -> None:
        """Make one part of another. The component counts where it is used, which an index would tell too late."""
        if component == part_id or component in self.walk(part_id, self.where_used):
            raise NotLinked(f"{part_id} is in {component}")
        edge = {**_edge(part_id, component), "part_id": part_id, "component": component}
        writes = [
            TABLE.checking(_part(part_id), THERE),
            TABLE.updating(_part(component), "SET #used_in = #used_in + :one", THERE, one=1),
            TABLE.putting({**edge, "quantity": quantity}, "attribute_not_exists(#PK)"),
        ]
        try:
            self._runner.run(TABLE.transact(writes))
        except patterns.TransactionCanceled as canceled:
            raise NotLinked(f"{component} in {part_id}") from canceled

    def take_out(self, component: str, part_id: str) -> bool:
        """Delete an edge; False if it is not there."""
        less = "SET #used_in = #used_in - :one"
        count = TABLE.updating(_part(component), less, "#used_in > :no", one=1, no=0)
        edge = TABLE.deleting(_edge(part_id, component), "attribute_exists(#PK)")
        try:
            self._runner.run(TABLE.transact([edge, count]))
        except patterns.TransactionCanceled:
            return False
        return True

    def made_of(self, part_id: str) -> list[tuple[str, int]]:
        """What a part is made of, and how many of each."""
        condition = "PK = :part AND begins_with(SK, :uses)"
        edges = self._edges(condition, {":part": f"PART#{part_id}", ":uses": "USES#"})
        return [(edge["component"]["S"], int(edge["quantity"]["N"])) for edge in edges]

    def where_used(self, component: str) -> list[tuple[str, int]]:
        """The other way: what a part is in."""
        edges = self._edges("SK = :uses", {":uses": f"USES#{component}"}, IndexName="inverted")
        return [(edge["part_id"]["S"], int(edge["quantity"]["N"])) for edge in edges]

    def walk(self, start: str, ways: Callable[[str], list[tuple[str, int]]]) -> dict[str, int]:
        """Every part that is reached, down by `made_of` or up by `where_used`, level by level, and how far away."""
        steps: dict[str, int] = {}
        level = [start]
        while level and len(steps) < PARTS_MAX:
            reached = [other for part_id in level for other, _ in ways(part_id)]
            level = list(dict.fromkeys(other for other in reached if other not in steps))
            depth = 1 + max(steps.values(), default=0)
            steps |= dict.fromkeys(level, depth)
        return steps

    def bill(self, part_id: str, known: dict[str, Counter[str]] | None = None) -> Counter[str]:
        """How many of every part it takes in all: quantities multiply on the way down and add up.

        A part that is in many others is read once.
        """
        known = {} if known is None else known
        if part_id not in known:
            total = known[part_id] = Counter()
            for component, quantity in self.made_of(part_id):
                total[component] += quantity
                for part, count in self.bill(component, known).items():
                    total[part] += quantity * count
        return known[part_id]

    def remove(self, part_id: str) -> bool:
        """Delete a part and all its edges; False if some could not be found yet, and it is to be called again.

        The mark keeps new edges away. The index may lag behind; the count does not, and the part stays until it is 0.
        """
        mark = TABLE.updating(_part(part_id), "SET #removing = :yes", "attribute_exists(#PK)", yes=True)
        if self._runner.run(TABLE.tried(mark)) is not None:
            return True  # it is gone
        for component, _ in self.made_of(part_id):
            self.take_out(component, part_id)
        for assembly, _ in self.where_used(part_id):
            self.take_out(part_id, assembly)
        gone = TABLE.deleting(_part(part_id), "#used_in = :no", no=0)
        return self._runner.run(TABLE.tried(gone)) is None

    def _edges(self, condition: str, values: dict[str, str], **more: str) -> list[Edge]:
        pages = self._client.get_paginator("query").paginate(
            TableName=TABLE.name,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
            **more,
        )
        return [edge for page in pages for edge in page["Items"]]


def _part(part_id: str) -> dict[str, Any]:
    return TABLE.key(f"PART#{part_id}", f"PART#{part_id}")


def _edge(part_id: str, component: str) -> dict[str, Any]:
    return TABLE.key(f"PART#{part_id}", f"USES#{component}")


def demonstrate(client: Any) -> Iterator[str]:
    """A bicycle."""
    products = Products(client)
    for part_id in ("bicycle", "wheel", "spoke", "bolt"):
        products.add(part_id, part_id.title())
    for component, part_id, quantity in (
        ("wheel", "bicycle", 2),
        ("spoke", "wheel", 32),
        ("bolt", "wheel", 1),
    ):
        products.use(component, part_id, quantity)
    products.use("bolt", "bicycle", 12)
    yield f"a bicycle takes {dict(products.bill('bicycle'))}"
    yield f"a bolt is in {', '.join(part for part, _ in products.where_used('bolt'))}"
    try:
        products.use("bicycle", "spoke", 1)
    except NotLinked as refused:
        yield f"refused: {refused}"
    products.remove("spoke")
    yield f"without spokes a wheel is made of {products.made_of('wheel')}"
