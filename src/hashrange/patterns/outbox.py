"""Outbox: events that are stored in one transaction with what they tell of, and delivered afterwards."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hashrange.patterns.errors import PatternError
from hashrange.patterns.steps import Steps, invoke, procedure
from hashrange.patterns.tables import TRANSACT_WRITES_MAX, Span, Table, Write
from hashrange.patterns.values import Item, shard_of

_EVENTS_PER_PAGE = 25


class TryLater(PatternError):
    """Raised by a delivery: the receiver is away. The round ends, and the event's attempts are not counted."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened to an aggregate (an order, an account): the sequence numbers its events."""

    aggregate: str
    sequence: int
    body: Any

    @property
    def id(self) -> str:
        """What a receiver recognises a second delivery by."""
        return f"{self.aggregate}/{self.sequence}"


class Outbox(msgspec.Struct, frozen=True):
    """Events wait as (`OUTBOX#shard`, `aggregate#sequence`); all of an aggregate are in one shard, in order.

    The order is that of the sequence, which the application counts (the version of the aggregate, say), so nobody's
    clock takes part.
    """

    table: Table
    shards: int = 4

    @procedure
    def write(self, writes: Sequence[Write], events: Sequence[Event], *, token: str = "") -> Steps[None]:
        """Make the writes and store their events, all or nothing. A second event with the same number is refused."""
        puts = [self.table.putting(self._item(event), "attribute_not_exists(#pk)") for event in events]
        if len(puts) + len(writes) > TRANSACT_WRITES_MAX:
            raise ValueError(f"at most {TRANSACT_WRITES_MAX} writes and events fit a transaction")
        yield from self.table.transact([*writes, *puts], token)

    def _item(self, event: Event) -> Item:
        if not 0 <= event.sequence < 10**15:
            raise ValueError("a sequence number has up to 15 digits")
        shard = shard_of(event.aggregate, self.shards)
        key = self.table.key(f"OUTBOX#{shard}", f"{event.aggregate}#{event.sequence:015d}")
        return {**key, "aggregate": event.aggregate, "sequence": event.sequence, "body": event.body}


class Drained(msgspec.Struct, frozen=True):
    """What came of a round: delivered, failed (to be tried in the next round), given up."""

    delivered: int = 0
    failed: int = 0
    dead: int = 0


class OutboxConsumer(msgspec.Struct, frozen=True):
    """Delivers events at least once, and those of an aggregate in order while one consumer is at work.

    Let each consumer have a Lock, or shards of its own. An event that fails holds up its aggregate, not the others;
    after so many attempts, one in each round, it moves to (`OUTBOX-DEAD#shard`, the same sort key), where somebody may
    look at it. A round with too many failures ends: the receiver is probably down.
    """

    outbox: Outbox
    attempts_max: int = 5
    failures_per_round_max: int = 100

    @procedure
    def drain(self, shard: int, deliver: Callable[[Event], Any]) -> Steps[Drained]:
        """Deliver whatever waits in one shard, once around."""
        table, partition = self.outbox.table, f"OUTBOX#{shard}"
        counts = {"delivered": 0, "failed": 0, "dead": 0}
        blocked: set[str] = set()
        after: Item | None = None
        while True:
            page = yield from table.query(partition, Span(), limit=_EVENTS_PER_PAGE, after=after)
            for item in page.items:
                if item["aggregate"] in blocked:
                    continue  # in order: nothing of an aggregate overtakes what failed
                outcome = yield from self._delivered(item, deliver)
                if outcome == "later":
                    return Drained(**counts)
                counts[outcome] += 1
                if outcome == "failed":
                    blocked.add(item["aggregate"])
                if len(blocked) >= self.failures_per_round_max:
                    return Drained(**counts)
            after = page.last_key
            if after is None:
                return Drained(**counts)

    def _delivered(self, item: Item, deliver: Callable[[Event], Any]) -> Steps[str]:
        table = self.outbox.table
        try:
            yield from invoke(deliver, Event(item["aggregate"], item["sequence"], item["body"]))
        except TryLater:
            return "later"
        except Exception as error:  # noqa: BLE001 - whatever the receiver objects to
            return (yield from self._failed(item, error))
        # A crash before this line delivers the event again.
        yield from table.write(table.deleting(table.key_of(item)))
        return "delivered"

    def _failed(self, item: Item, error: Exception) -> Steps[str]:
        table = self.outbox.table
        attempts = int(item.get("attempts", 0)) + 1
        reason = f"{type(error).__name__}: {error}"[:500]
        if attempts < self.attempts_max:
            update = "SET #attempts = :attempts, #reason = :reason"
            write = table.updating(
                table.key_of(item), update, "attribute_exists(#pk)", attempts=attempts, reason=reason
            )
            yield from table.tried(write)
            return "failed"
        dead = {**item, table.partition_key: item[table.partition_key].replace("OUTBOX#", "OUTBOX-DEAD#", 1)}
        dead |= {"attempts": attempts, "reason": reason}
        yield from table.transact([table.putting(dead), table.deleting(table.key_of(item))])
        return "dead"
