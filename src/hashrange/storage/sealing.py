"""Checksums for an engine that knows nothing of them: what its steps read is opened, what they write is sealed."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Generic, TypeVar

from hashrange.storage import appends
from hashrange.storage.appends import Append
from hashrange.storage.checksums import CHECKSUM_BYTES, opened, opened_values, sealed
from hashrange.storage.engine import (
    Columns,
    Joined,
    JoinRows,
    Packed,
    ReadColumns,
    Reader,
    RowsAhead,
    Transaction,
)

T = TypeVar("T")
R = TypeVar("R", bound=Reader)


@lru_cache
def cuts(head: int) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    """What gives the first bytes of a value, and what gives those behind them."""
    return itemgetter(slice(0, head)), itemgetter(slice(head, None))


class SealedReader(Generic[R]):
    """A reader of stored forms that gives values."""

    __slots__ = ("_stored",)

    def __init__(self, stored: R) -> None:
        self._stored = stored

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        stored = self._stored.get(key)
        return None if stored is None else opened(key, stored)

    @property
    def joined(self) -> JoinRows | None:
        """How to read many rows as one piece, if the stored forms can be had all at once."""
        return None if self._columns is None else self._join

    @property
    def rows_ahead(self) -> RowsAhead | None:
        """How many rows there are to be joined, if these are read ahead."""
        return getattr(self._stored, "rows_ahead", None)

    def _join(
        self,
        start: bytes,
        end: bytes,
        *,
        head: int,
        limit: int,
        reverse: bool = False,
        separator: bytes = b",",
    ) -> Joined | None:
        join: JoinRows | None = getattr(self._stored, "joined_opened", None)
        if join is not None:
            joined = join(start, end, head=head, limit=limit, reverse=reverse, separator=separator)
            if joined is not None:
                return joined
        columns = self._read_columns(start, end, limit=limit, reverse=reverse)
        if columns is None or (values := opened_values(*columns)) is None:
            return None  # reading one by one tells which row is damaged
        begin, rest = cuts(head)
        heads = b"".join(map(begin, values))
        if len(heads) != head * len(values):
            return None
        last = columns.keys[-1] if values else b""
        return Joined(len(values), last, heads, separator.join(map(rest, values)))

    def packed(
        self, start: bytes, end: bytes, *, head: int, middle: int, limit: int, reverse: bool = False
    ) -> Packed | None:
        """Give the first rows of a range in pieces."""
        columns = self._read_columns(start, end, limit=limit, reverse=reverse)
        if columns is None:
            return None
        if not columns.keys:
            return Packed((), b"", (), ())
        if min(map(len, columns.values)) < CHECKSUM_BYTES + head + middle:
            return None
        first, second = CHECKSUM_BYTES + head, CHECKSUM_BYTES + head + middle
        return Packed(
            tuple(columns.keys),
            b"".join([value[CHECKSUM_BYTES:first] for value in columns.values]),
            tuple([value[first:second] for value in columns.values]),
            tuple([value[second:] for value in columns.values]),
        )

    @property
    def _columns(self) -> ReadColumns | None:
        return getattr(self._stored, "columns", None)

    def _read_columns(self, start: bytes, end: bytes, *, limit: int, reverse: bool) -> Columns | None:
        read = self._columns
        return None if read is None else read(start, end, limit=limit, reverse=reverse)

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
