"""Sharded counters: a number that many add to at once."""

import msgspec

from hashrange.patterns.steps import Steps, fresh, procedure
from hashrange.patterns.tables import BATCH_GETS_MAX, Table
from hashrange.patterns.values import Item, shard_of


class ShardedCounter(msgspec.Struct, frozen=True):
    """A counter of up to a hundred items `COUNT#name#shard`; its value is their sum."""

    table: Table
    shards: int = 10

    @procedure
    def add(self, name: str, amount: int = 1, *, token: str = "") -> Steps[None]:
        """Add once, even if the SDK sends the request twice; with a token also if the caller does, for ten minutes.

        The token names the shard, too: a repetition has to find the same item.
        """
        token = token or (yield from fresh())
        key = self._key(name, shard_of(token, self.shards))
        write = self.table.updating(key, "ADD #count :amount", amount=amount)
        yield from self.table.transact([write], f"{name}/{token}")

    @procedure
    def add_cheaply(self, name: str, amount: int = 1) -> Steps[None]:
        """Add at half the price; an answer that is lost on its way may make it count twice."""
        shard = shard_of((yield from fresh()), self.shards)
        yield from self.table.write(
            self.table.updating(self._key(name, shard), "ADD #count :amount", amount=amount)
        )

    @procedure
    def value(self, name: str) -> Steps[int]:
        """The sum of all shards; each is up to date, but they are not read at one moment."""
        if not 1 <= self.shards <= BATCH_GETS_MAX:
            raise ValueError(f"a counter has 1 to {BATCH_GETS_MAX} shards")
        items = yield from self.table.get_many([self._key(name, shard) for shard in range(self.shards)])
        return sum(int(item.get("count", 0)) for item in items)

    def _key(self, name: str, shard: int) -> Item:
        return self.table.key(f"COUNT#{name}#{shard}", "COUNT")
