"""The writes of one commit, in memory until it is due: a step's own over those of the steps before it."""

from hashrange.storage import appends
from hashrange.storage.appends import Append

COUNTER_MAX = 2**62

Writes = dict[bytes, bytes | None]
"""Values by key; None is a row that is deleted."""


class Overlay:
    """Rows and counters as the steps of a commit leave them. The base of both engines' transactions."""

    __slots__ = ("accepted", "accepted_adds", "adds", "appends", "own", "pending_bytes")

    def __init__(self) -> None:
        self.own: Writes = {}
        self.adds: dict[bytes, int] = {}
        self.appends: list[Append] = []
        self.accepted: Writes = {}
        self.accepted_adds: list[dict[bytes, int]] = []  # of each step that has added something
        self.pending_bytes = 0

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`."""
        # A value that the database refused later would take the whole commit with it.
        if type(key) is not bytes or type(value) is not bytes:
            raise TypeError("keys and values are bytes")
        self.own[key] = value
        self.pending_bytes += len(value)

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`, if there is one."""
        if type(key) is not bytes:
            raise TypeError("keys are bytes")
        self.own[key] = None

    def add(self, key: bytes, amount: int) -> None:
        """Add to a counter."""
        adds = self.adds
        if key in adds:
            amount += adds[key]
        if not -COUNTER_MAX <= amount <= COUNTER_MAX:
            raise OverflowError("a counter has 64 bits")
        adds[key] = amount

    def append(self, append: Append) -> None:
        """Add a row to a log when the step is over."""
        self.appends.append(append)

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        raise NotImplementedError

    def end_step(self) -> None:
        """Write what the step has appended: its last reads and writes."""
        if self.appends:
            appends.write(self, self.appends)
            self.appends.clear()

    def added(self, key: bytes) -> int:
        """What this step and those before it added to a counter."""
        return sum(adds.get(key, 0) for adds in self.accepted_adds) + self.adds.get(key, 0)

    def totals(self) -> dict[bytes, int]:
        """What the commit adds to each counter, where that is not zero."""
        if len(self.accepted_adds) == 1:
            (totals,) = self.accepted_adds
        else:
            totals = {}
            for adds in self.accepted_adds:
                for key, amount in adds.items():
                    totals[key] = totals.get(key, 0) + amount
        return {key: total for key, total in totals.items() if total}

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        if self.own:
            self.accepted.update(self.own)
            self.own.clear()
        if self.adds:
            self.accepted_adds.append(self.adds)
            self.adds = {}

    def discard(self) -> None:
        """Forget what the step wrote."""
        self.appends.clear()
        self.own.clear()
        self.adds.clear()
