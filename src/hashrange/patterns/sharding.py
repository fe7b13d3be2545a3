"""Write sharding: one hot key spread over several partitions, and read back in order as if it were one."""

import msgspec

from hashrange.patterns.cursors import Page
from hashrange.patterns.scatter import Scatter
from hashrange.patterns.steps import Steps, procedure
from hashrange.patterns.tables import Span, Table
from hashrange.patterns.values import Item, Scalar, shard_of

_EVERYTHING = Span()


class ShardedWriter(msgspec.Struct, frozen=True):
    """Items of the key `K` in the partitions `K#0`, `K#1`, … The sort key decides which.

    So an item can be read and replaced without a search, and a put that is repeated writes the same item.
    """

    table: Table
    shards: int

    def partition(self, key: str, sort: Scalar) -> str:
        return f"{key}#{shard_of(sort, self.shards)}"

    @procedure
    def put(self, key: str, sort: Scalar, item: Item) -> Steps[None]:
        """Store an item under a key, replacing any with the same sort key."""
        keyed = {**item, **self.table.key(self.partition(key, sort), sort)}
        yield from self.table.write(self.table.putting(keyed))

    @procedure
    def get(self, key: str, sort: Scalar) -> Steps[Item | None]:
        return (yield from self.table.get(self.table.key(self.partition(key, sort), sort)))

    @procedure
    def delete(self, key: str, sort: Scalar) -> Steps[None]:
        yield from self.table.write(self.table.deleting(self.table.key(self.partition(key, sort), sort)))

    @procedure
    def query(
        self, key: str, span: Span = _EVERYTHING, *, limit: int = 100, cursor: str | None = None
    ) -> Steps[Page]:
        """One page of a key's items in the order of their sort keys, from all shards at once."""
        partitions = tuple(f"{key}#{number}" for number in range(self.shards))
        return (yield from Scatter(self.table, partitions, span, limit).page(cursor))
