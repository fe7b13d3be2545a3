"""Adjacency lists: nodes and the edges between them, many to many, found from either end."""

from typing import Literal

import msgspec

from hashrange.patterns.cursors import Page, cursor_of, position_of
from hashrange.patterns.errors import AlreadyExists, BadCursor, NotFound, TransactionCanceled
from hashrange.patterns.steps import Steps, procedure
from hashrange.patterns.tables import Span, Table, Write
from hashrange.patterns.values import Item, Scalar

_EDGES_PER_STEP = 25


class AdjacencyList(msgspec.Struct, frozen=True):
    """A node is (`NODE#id`, `NODE`), an edge two items: (`NODE#a`, `OUT#kind#b`) and (`NODE#b`, `IN#kind#a`).

    Both are written in one transaction, so either end is right at once; a global index on (sk, pk) would be right a
    little later. Kinds have no `#`; ids may.
    """

    table: Table

    @procedure
    def put_node(self, node: str, attributes: Item) -> Steps[None]:
        """Store a node or replace its attributes. One that is being removed is refused until it is gone."""
        item = {**attributes, **self._node(node)}
        failed = yield from self.table.tried(self.table.putting(item, "attribute_not_exists(#removing)"))
        if failed is not None:
            raise AlreadyExists(f"{node} is being removed")

    @procedure
    def node(self, node: str) -> Steps[Item | None]:
        item = yield from self.table.get(self._node(node))
        return None if item is None or "removing" in item else self.table.without_key(item)

    @procedure
    def link(self, source: str, kind: str, target: str, attributes: Item | None = None) -> Steps[None]:
        """Store an edge or replace its attributes. Raises NotFound if either node is not there."""
        edge = {**(attributes or {}), "source": source, "kind": kind, "target": target}
        ends = dict.fromkeys((source, target))
        checks = [
            self.table.checking(self._node(node), "attribute_exists(#pk) AND attribute_not_exists(#removing)")
            for node in ends
        ]
        puts = [self.table.putting({**edge, **key}) for key in self._edge(source, kind, target)]
        try:
            yield from self.table.transact([*checks, *puts])
        except TransactionCanceled as canceled:
            for number in canceled.failed:
                raise NotFound(list(ends)[number]) from canceled
            raise

    @procedure
    def unlink(self, source: str, kind: str, target: str) -> Steps[None]:
        """Delete an edge; one that is gone already is fine."""
        yield from self.table.transact(self._unlinking(source, kind, target))

    @procedure
    def targets(self, source: str, kind: str, *, limit: int = 100, cursor: str | None = None) -> Steps[Page]:
        """The edges that lead away from a node, in the order of the nodes they lead to."""
        return (yield from self._edges(source, "OUT", kind, limit, cursor))

    @procedure
    def sources(self, target: str, kind: str, *, limit: int = 100, cursor: str | None = None) -> Steps[Page]:
        """The edges that lead to a node, in the order of the nodes they come from."""
        return (yield from self._edges(target, "IN", kind, limit, cursor))

    @procedure
    def remove(self, node: str) -> Steps[None]:
        """Delete a node and all its edges. Where it is interrupted, the next call goes on: the node takes no new edges.

        The node itself goes last; until then it is marked, and neither read nor linked.
        """
        mark = self.table.updating(
            self._node(node), "SET #removing = :yes", "attribute_exists(#pk)", yes=True
        )
        if (yield from self.table.tried(mark)) is not None:
            return
        for span in (Span("IN#", "IN$"), Span("OUT#", "OUT$")):
            while True:
                page = yield from self.table.query(f"NODE#{node}", span, limit=_EDGES_PER_STEP)
                writes: dict[str, Write] = {}
                for item in page.items:
                    for write in self._unlinking(item["source"], item["kind"], item["target"]):
                        writes[repr(write.parameters["Key"])] = write  # a loop's two halves may meet here
                if not writes:
                    break
                yield from self.table.transact(list(writes.values()))
        yield from self.table.write(self.table.deleting(self._node(node)))

    def _edges(
        self, node: str, way: Literal["IN", "OUT"], kind: str, limit: int, cursor: str | None
    ) -> Steps[Page]:
        partition, prefix = f"NODE#{node}", f"{way}#{kind}"
        name = f"{self.table.name}/{partition}/{prefix}"
        span = Span(prefix + "#", prefix + "$")  # $ is what comes next to #
        after = self.table.key(partition, _sort_of(name, cursor, span)) if cursor else None
        page = yield from self.table.query(partition, span, limit=limit, after=after)
        last = page.last_key
        edges = [self.table.without_key(item) for item in page.items]
        return Page(edges, cursor_of(name, last[self.table.sort_key]) if last else None)

    def _unlinking(self, source: str, kind: str, target: str) -> list[Write]:
        return [self.table.deleting(key) for key in self._edge(source, kind, target)]

    def _node(self, node: str) -> Item:
        return self.table.key(f"NODE#{node}", "NODE")

    def _edge(self, source: str, kind: str, target: str) -> tuple[Item, Item]:
        if "#" in kind or not kind:
            raise ValueError("the kind of an edge is a text without #")
        outward = self.table.key(f"NODE#{source}", f"OUT#{kind}#{target}")
        return outward, self.table.key(f"NODE#{target}", f"IN#{kind}#{source}")


def _sort_of(name: str, cursor: str, span: Span) -> Scalar:
    match position_of(name, cursor):
        case [sort] if span.has(sort):
            return sort
        case _:
            raise BadCursor("the cursor is damaged")
