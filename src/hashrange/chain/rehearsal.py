"""Running the step of a long write before its transaction, so that no other writer waits for what it computes.

A rehearsal reads what is committed and notes everything: what the step read, what it wants to write, and how it ends.
The transaction only makes sure that what was read is still so, and then writes. This is what databases call optimistic
concurrency control, with the reads validated at commit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from hashrange.api.results import Result
from hashrange.core.errors import Expected, forget_frames
from hashrange.storage.appends import Append
from hashrange.storage.engine import Engine, Transaction


class Outdated(Expected):
    """Something that the rehearsal read has changed since."""


class Unrehearsable(Expected):
    """The step does what cannot be validated or replayed: it scans, looks at counters, or uses the reserve."""


class _Notes:
    """The transaction of a rehearsal: committed rows below, the step's own writes above them."""

    joined = None

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.reads: dict[bytes, bytes | None] = {}
        self.writes: dict[bytes, bytes | None] = {}
        self.adds: list[tuple[bytes, int]] = []
        self.appends: list[Append] = []  # which get their places in the transaction

    def get(self, key: bytes) -> bytes | None:
        if key in self.writes:
            return self.writes[key]
        if key not in self.reads:
            # Each of its own snapshot: that they all held at one time is found when they are validated.
            self.reads[key] = self._engine.read(lambda reader: reader.get(key))
        return self.reads[key]

    def put(self, key: bytes, value: bytes) -> None:
        self.writes[key] = value

    def delete(self, key: bytes) -> None:
        self.writes[key] = None

    def add(self, key: bytes, amount: int) -> None:
        self.adds.append((key, amount))

    def append(self, append: Append) -> None:
        self.appends.append(append)

    def prefetch(self, keys: Sequence[bytes]) -> None:
        pass

    def use_reserve(self) -> NoReturn:
        raise Unrehearsable

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        raise Unrehearsable

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        raise Unrehearsable

    def counter(self, key: bytes) -> NoReturn:
        raise Unrehearsable


class Rehearsal:
    """A step that has been run once: its outcome, and what makes it come true."""

    def __init__(self, engine: Engine, step: Callable[[Transaction], Result]) -> None:
        """Run the step."""
        self._notes = _Notes(engine)
        self.result: Result | None = None
        self.error: Exception | None = None
        try:
            self.result = step(self._notes)
        except Unrehearsable:
            raise
        except Exception as error:  # noqa: BLE001 - the outcome, if what the step saw is still so
            forget_frames(error)
            self.error = error

    @property
    def reads(self) -> list[bytes]:
        """The keys that the step has read."""
        return list(self._notes.reads)

    def forget(self) -> None:
        """Let the error go, whose traceback refers to this: nothing is replayed any more."""
        self.error = None

    def replay(self, tx: Transaction) -> None:
        """Write what the step wrote, or raise what it raised; `Outdated` if it would not have the same outcome now."""
        notes = self._notes
        for key, value in notes.reads.items():
            if tx.get(key) != value:
                raise Outdated
        if self.error is not None:
            raise self.error
        for key, value in notes.writes.items():
            if value is None:
                tx.delete(key)
            else:
                tx.put(key, value)
        for key, amount in notes.adds:
            tx.add(key, amount)
        for append in notes.appends:
            tx.append(append)
