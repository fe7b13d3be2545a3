"""The writes of one commit, in memory until it is due: a step's own over those of the steps before it."""

COUNTER_MAX = 2**62

Writes = dict[bytes, bytes | None]
"""Values by key; None is a row that is deleted."""


class Overlay:
    """Rows and counters as the steps of a commit leave them. The base of both engines' transactions."""

    __slots__ = ("accepted", "accepted_adds", "adds", "own", "pending_bytes")

    def __init__(self) -> None:
        self.own: Writes = {}
        self.adds: dict[bytes, int] = {}
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
        self.own.clear()
        self.adds.clear()
