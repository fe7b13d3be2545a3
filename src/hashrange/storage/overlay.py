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
        self.accepted_adds: dict[bytes, int] = {}
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
        total = self.adds.get(key, 0) + amount
        if not -COUNTER_MAX <= total <= COUNTER_MAX:
            raise OverflowError("a counter has 64 bits")
        self.adds[key] = total

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
        return self.accepted_adds.get(key, 0) + self.adds.get(key, 0)

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        if self.own:
            self.accepted.update(self.own)
            self.own.clear()
        if self.adds:
            for key, amount in self.adds.items():
                self.accepted_adds[key] = self.accepted_adds.get(key, 0) + amount
            self.adds.clear()

    def discard(self) -> None:
        """Forget what the step wrote."""
        self.appends.clear()
        self.own.clear()
        self.adds.clear()
