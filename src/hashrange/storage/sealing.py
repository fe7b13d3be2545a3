"""Checksums for an engine that knows nothing of them: what its steps read is opened, what they write is sealed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from hashrange.storage import appends
from hashrange.storage.appends import Append
from hashrange.storage.checksums import opened, sealed
from hashrange.storage.engine import Reader, Transaction

T = TypeVar("T")
R = TypeVar("R", bound=Reader)


class SealedReader(Generic[R]):
    """A reader of stored forms that gives values."""

    joined = None
    __slots__ = ("_stored",)

    def __init__(self, stored: R) -> None:
        self._stored = stored

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        stored = self._stored.get(key)
        return None if stored is None else opened(key, stored)

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows of a range."""
        return map(_opened_row, self._stored.scan(start, end, reverse=reverse, limit=limit))

    def counter(self, key: bytes) -> int:
        """Give a counter's value."""
        return self._stored.counter(key)


class SealedTransaction(SealedReader[Transaction]):
    """A transaction that reads and writes stored forms."""

    __slots__ = ("appends",)

    def __init__(self, stored: Transaction) -> None:
        super().__init__(stored)
        self.appends: list[Append] = []

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`."""
        if type(key) is not bytes or type(value) is not bytes:
            raise TypeError("keys and values are bytes")
        self._stored.put(key, sealed(key, value))

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`, if there is one."""
        self._stored.delete(key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most."""
        return self._stored.clear(start, end, limit=limit)

    def add(self, key: bytes, amount: int) -> None:
        """Add to a counter."""
        self._stored.add(key, amount)

    def append(self, append: Append) -> None:
        """Add a row to a log when the step is over."""
        self.appends.append(append)

    def prefetch(self, keys: Sequence[bytes]) -> None:
        """Declare keys that the step will read next."""
        self._stored.prefetch(keys)

    def use_reserve(self) -> None:
        """Declare that the step frees space."""
        self._stored.use_reserve()


def sealed_read(step: Callable[[Reader], T]) -> Callable[[Reader], T]:
    """The step for a reader of stored forms."""
    return lambda stored: step(SealedReader(stored))


def sealed_write(step: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
    """The step for a transaction of stored forms."""

    def run(stored: Transaction) -> T:
        tx = SealedTransaction(stored)
        result = step(tx)
        if tx.appends:
            appends.write(tx, tx.appends)
        return result

    return run


def _opened_row(row: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    return row[0], opened(*row)
