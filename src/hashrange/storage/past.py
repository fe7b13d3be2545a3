"""The recent past of rows: what each held before it was written, for reads that are to see it (--eventual-lag).

A write of an item or index row puts what it replaces beside it, in the same transaction: the row's key, the time, and
what it held, or that there was nothing. What a row held at a moment is then what its first write after that moment
replaced; a row without such a write holds now what it held then. Rows and their past come from one snapshot, so that
a reader sees what was really there at one time, on any engine and whichever process has written.

The rows of the past lie in the order of the rows themselves: a reader looks only at those of the range it reads. The
key is written so that it sorts as the row's key does, whatever follows it: every zero byte is followed by 0xff, and
two zero bytes end it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from hashrange.clock import Clock
from hashrange.storage import layout
from hashrange.storage.appends import Append
from hashrange.storage.engine import Reader, Transaction

T = TypeVar("T")

_END = b"\0\0"
_TIME_BYTES = 8
_ABSENT = b"\0"
_PRESENT = b"\1"


def past_prefix(row: bytes) -> bytes:
    """What the keys begin with under which it is kept what a row held, or the rows with such a prefix."""
    return layout.PAST + row.replace(b"\0", b"\0\xff")


def past_key(row: bytes, time_us: int) -> bytes:
    """Where it is kept what a row held before a write."""
    return past_prefix(row) + _END + time_us.to_bytes(_TIME_BYTES, "big")


def split_past_key(key: bytes) -> tuple[bytes, int]:
    """The row and the time in such a key."""
    row = key[len(layout.PAST) : -_TIME_BYTES - len(_END)].replace(b"\0\xff", b"\0")
    return row, int.from_bytes(key[-_TIME_BYTES:], "big")


class RememberingTransaction:
    """A transaction that keeps what it replaces."""

    joined = None

    def __init__(self, tx: Transaction, time_us: int) -> None:
        self._tx = tx
        self._time_us = time_us

    def _remember(self, key: bytes) -> None:
        if not key.startswith(layout.ROWS):
            return
        place = past_key(key, self._time_us)
        # Of several writes in one microsecond the first has replaced what was there before that microsecond.
        if self._tx.get(place) is None:
            before = self._tx.get(key)
            self._tx.put(place, _ABSENT if before is None else _PRESENT + before)

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        return self._tx.get(key)

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows of a range."""
        return self._tx.scan(start, end, reverse=reverse, limit=limit)

    def counter(self, key: bytes) -> int:
        """Give a counter's value."""
        return self._tx.counter(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`."""
        self._remember(key)
        self._tx.put(key, value)

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`."""
        self._remember(key)
        self._tx.delete(key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove rows of tables and indexes that nobody reads any more: they have no past."""
        return self._tx.clear(start, end, limit=limit)

    def add(self, key: bytes, amount: int) -> None:
        """Add to a counter."""
        self._tx.add(key, amount)

    def append(self, append: Append) -> None:
        """Add a row to a log when the step is over."""
        self._tx.append(append)

    def prefetch(self, keys: Sequence[bytes]) -> None:
        """Declare keys that the step will read next."""
        self._tx.prefetch(keys)

    def use_reserve(self) -> None:
        """Declare that the step frees space."""
        self._tx.use_reserve()


def remembering(step: Callable[[Transaction], T], clock: Clock) -> Callable[[Transaction], T]:
    """A step that keeps what it replaces."""

    def remembered(tx: Transaction) -> T:
        return step(RememberingTransaction(tx, int(clock.now() * 1_000_000)))

    return remembered


class PastReader:
    """Rows as they were at a moment, over a reader that shows them as they are."""

    joined = None

    def __init__(self, reader: Reader, moment_us: int) -> None:
        self._reader = reader
        self._moment_us = moment_us

    def get(self, key: bytes) -> bytes | None:
        """Give what `key` held at the moment."""
        start, end = past_key(key, self._moment_us + 1), past_prefix(key) + b"\0\1"
        for _, replaced in self._reader.scan(start, end, limit=1):
            return _held(replaced)
        return self._reader.get(key)

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows that were in a range."""
        return islice(self._rows(start, end, reverse=reverse), limit)

    def _rows(self, start: bytes, end: bytes, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        if start >= end:
            return
        replaced = self._replaced(start, end)
        # What was there and is not, or is another, comes from this stack; its end is what comes next.
        stack = [(key, value) for key, value in replaced.items() if value is not None]
        stack.sort(reverse=not reverse)
        for key, value in self._reader.scan(start, end, reverse=reverse):
            while stack and (stack[-1][0] >= key if reverse else stack[-1][0] <= key):
                yield stack.pop()
            if key not in replaced:
                yield key, value
        while stack:
            yield stack.pop()

    def _replaced(self, start: bytes, end: bytes) -> dict[bytes, bytes | None]:
        """What the rows held that were written since, by key."""
        replaced: dict[bytes, bytes | None] = {}
        for key, value in self._reader.scan(past_prefix(start), past_prefix(end)):
            row, time_us = split_past_key(key)
            if time_us > self._moment_us and row not in replaced:
                replaced[row] = _held(value)
        return replaced

    def counter(self, key: bytes) -> int:
        """Give a counter's value, which has no past."""
        return self._reader.counter(key)


def _held(stored: bytes) -> bytes | None:
    return None if stored[:1] == _ABSENT else stored[1:]


def forget(tx: Transaction, keys: Sequence[bytes]) -> None:
    """Delete rows of the past."""
    for key in keys:
        tx.delete(key)


def older_than(
    reader: Reader, moment_us: int, after: bytes, *, limit: int
) -> tuple[list[bytes], bytes | None]:
    """Of the next rows of the past those that nobody reads any more, and where to go on; None at the end."""
    old: list[bytes] = []
    looked_at = 0
    last = after
    for key, _ in reader.scan(after + b"\0" if after else layout.PAST, layout.PAST_END, limit=limit):
        looked_at += 1
        last = key
        if split_past_key(key)[1] < moment_us:
            old.append(key)
    return old, last if looked_at == limit else None
