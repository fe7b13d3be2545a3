"""A distributed lock: a lease that is waited for, not computed, and a fencing token for what it protects."""

from decimal import Decimal

import msgspec

from hashrange.patterns.errors import ConditionFailed, FencedOut, LockHeld, LockLost
from hashrange.patterns.steps import Steps, fresh, monotonic, pause, procedure
from hashrange.patterns.tables import Table, Write
from hashrange.patterns.values import Item

_POLL_SECONDS_MIN, _POLL_SECONDS_MAX = 0.01, 1.0
_TAKE = "SET #owner = :owner, #beat = :owner, #lease_seconds = :lease ADD #fence :one"


class Held(msgspec.Struct, frozen=True):
    """A lock that this process has. `until` is on its own monotonic clock; the fence goes up with every holder."""

    name: str
    owner: str
    fence: int
    until: float


class _Watch(msgspec.Struct, frozen=True):
    """A holder as it was first seen with this beat, and when, by the watcher's clock."""

    owner: str
    beat: str
    lease_seconds: float
    since: float


class Lock(msgspec.Struct, frozen=True):
    """An item (`LOCK#name`, `LOCK`) with its holder, a beat that every renewal changes, and the fence.

    No two clocks are compared. Who wants a lock that is held watches it for the holder's whole lease on a clock of its
    own; if holder and beat are still the same, it takes over. The holder counts its lease from before its request, so
    it stops first. Where a process stands still at the wrong moment both believe they hold it: only the fence is safe.
    """

    table: Table
    lease_seconds: float = 30.0

    @procedure
    def acquire(self, name: str, *, wait_seconds: float = 0.0) -> Steps[Held]:
        """Take the lock, or raise LockHeld when the caller will not wait any longer."""
        owner = yield from fresh()
        started = yield from monotonic()
        watch: _Watch | None = None
        while True:
            now = yield from monotonic()
            is_dead = watch is not None and now - watch.since >= watch.lease_seconds
            fence = yield from self._taken(name, owner, watch if is_dead else None)
            if isinstance(fence, int):
                return Held(name, owner, fence, now + self.lease_seconds)
            # The watch begins after the answer: the holder's lease began before it sent what we have just seen.
            now = yield from monotonic()
            if now - started >= wait_seconds:
                raise LockHeld(name)
            watch = _watched(watch, fence.stored or {}, now)
            remaining = started + wait_seconds - now
            poll = min(_POLL_SECONDS_MAX, self.lease_seconds / 4, remaining)
            yield from pause(max(_POLL_SECONDS_MIN, poll))

    def _taken(self, name: str, owner: str, dead: _Watch | None) -> Steps[int | ConditionFailed]:
        """The fence, or why not. A request that the SDK sent twice fails on its own first attempt, and has the lock."""
        values = {"owner": owner, "lease": Decimal(str(self.lease_seconds)), "one": 1}
        if dead is None:
            write = self.table.updating(self._key(name), _TAKE, "attribute_not_exists(#owner)", **values)
        else:
            condition = "#owner = :dead AND #beat = :beat"
            values |= {"dead": dead.owner, "beat": dead.beat}
            write = self.table.updating(self._key(name), _TAKE, condition, **values)
        try:
            return int((yield from self.table.write(write))["fence"])
        except ConditionFailed as failed:
            stored = failed.stored or {}
            return int(stored["fence"]) if stored.get("owner") == owner else failed

    @procedure
    def renew(self, held: Held) -> Steps[Held]:
        """Begin a new lease; a third of one after the last is a good time. Raises LockLost if somebody else has it."""
        now = yield from monotonic()
        update, beat = "SET #beat = :beat", (yield from fresh())
        write = self.table.updating(
            self._key(held.name), update, "#owner = :owner", beat=beat, owner=held.owner
        )
        if (yield from self.table.tried(write)) is not None:
            raise LockLost(held.name)
        return Held(held.name, held.owner, held.fence, now + self.lease_seconds)

    @procedure
    def release(self, held: Held) -> Steps[None]:
        """Give the lock up; one that was lost is left to whoever has it. The fence stays, and goes on from there."""
        update = "REMOVE #owner, #beat, #lease_seconds"
        write = self.table.updating(self._key(held.name), update, "#owner = :owner", owner=held.owner)
        yield from self.table.tried(write)

    @procedure
    def put(self, held: Held, item: Item) -> Steps[None]:
        """Store an item that the lock protects. Raises FencedOut if a later holder has written it already."""
        if (yield from self.table.tried(self.putting(held, item))) is not None:
            raise FencedOut(f"{held.name}: the fence is past {held.fence}")

    def putting(self, held: Held, item: Item) -> Write:
        """The same as a part of a transaction: the item carries the fence, and never goes back to a lower one."""
        condition = "attribute_not_exists(#fence) OR #fence <= :fence"
        return self.table.putting({**item, "fence": held.fence}, condition, fence=held.fence)

    def _key(self, name: str) -> Item:
        return self.table.key(f"LOCK#{name}", "LOCK")


def _watched(watch: _Watch | None, stored: Item, now: float) -> _Watch | None:
    """The watch goes on while the holder gives no sign; a lock that is free needs none."""
    if "owner" not in stored:
        return None
    if watch is not None and (watch.owner, watch.beat) == (stored["owner"], stored["beat"]):
        return watch
    return _Watch(stored["owner"], stored["beat"], float(stored["lease_seconds"]), now)
