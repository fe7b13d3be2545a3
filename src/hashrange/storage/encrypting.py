"""An engine whose rows are encrypted: what its steps read is opened, what they write is sealed.

Values are encrypted; keys, which must sort, and counters, which are added to, are not.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, Protocol, TypeVar

from hashrange.core.keys.encoding import prefix_end
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.row_cipher import HEAD_BYTES, RowCipher
from hashrange.kms.sizes import NONCE_BYTES
from hashrange.storage import appends, table_keys
from hashrange.storage.appends import Append
from hashrange.storage.data_keys import STORE, DataKeys, is_plain, number_of
from hashrange.storage.engine import Done, Engine, GetMany, Joined, PackRows, Reader, Transaction
from hashrange.storage.errors import DamagedRow
from hashrange.storage.layout import DATA_KEY, ROWS, ROWS_PREFIX_BYTES, TABLE_KEY
from hashrange.storage.sealing import cuts
from hashrange.storage.wrapped import WrappedEngine

T = TypeVar("T")
_KEYS_END = prefix_end(DATA_KEY)
_ROWS = ROWS[0]
R = TypeVar("R", bound=Reader)


class ReadStep(Protocol):
    """The `read` of an engine or of a store that can only be read."""

    def __call__(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""


class EncryptedReader(Generic[R]):
    """A reader of encrypted rows that gives values."""

    __slots__ = ("_keys", "_stored")

    def __init__(self, stored: R, keys: DataKeys) -> None:
        self._stored = stored
        self._keys = keys

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        stored = self._stored.get(key)
        if stored is None:
            return None
        if key[0] == _ROWS and (cipher := self._keys.known.get(key[1:5])) is not None:
            try:
                return cipher.unseal(key, stored)
            except NotAuthentic:
                raise DamagedRow(key) from None
        return self._opened(key, stored)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None] | None:
        """Give the values at some keys; None if there is a large one among them."""
        get_many: GetMany | None = getattr(self._stored, "get_many", None)
        values = None if get_many is None else get_many(keys)
        if values is None:
            return None
        return [
            None if stored is None else self._opened(key, stored)
            for key, stored in zip(keys, values, strict=True)
        ]

    def joined(
        self,
        start: bytes,
        end: bytes,
        *,
        head: int,
        limit: int,
        reverse: bool = False,
        separator: bytes = b",",
    ) -> Joined | None:
        """Give the first rows of a range in one piece; None if there is a large one among them, or many tables'."""
        pack: PackRows | None = getattr(self._stored, "packed", None)
        if pack is None or start[:ROWS_PREFIX_BYTES] != end[:ROWS_PREFIX_BYTES] or start[0] != _ROWS:
            return None
        cipher = self._cipher_of(start)
        packed = (
            None
            if cipher is None
            else pack(start, end, head=HEAD_BYTES, middle=NONCE_BYTES, limit=limit, reverse=reverse)
        )
        if cipher is None or packed is None:
            return None
        try:
            values = cipher.unseal_packed(*packed)
        except NotAuthentic:
            return None  # reading one by one tells which row it is
        begin, rest = cuts(head)
        last = packed.keys[-1] if values else b""
        return Joined(len(values), last, b"".join(map(begin, values)), separator.join(map(rest, values)))

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows of a range."""
        if start < _KEYS_END and end > DATA_KEY:
            rows = _without_keys(self._stored.scan(start, end, reverse=reverse), limit)
        else:
            rows = self._stored.scan(start, end, reverse=reverse, limit=limit)
        # Not a generator, which would be over after the first error.
        return map(self._opened_row, rows)

    def counter(self, key: bytes) -> int:
        """Give a counter's value."""
        return self._stored.counter(key)

    def _opened_row(self, row: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        return row[0], self._opened(*row)

    def _opened(self, key: bytes, stored: bytes) -> bytes:
        if is_plain(key):
            return stored
        cipher = self._cipher_of(key)
        if cipher is None:
            raise DamagedRow(key)
        try:
            return cipher.unseal(key, stored)
        except NotAuthentic:
            raise DamagedRow(key) from None

    def _cipher_of(self, key: bytes) -> RowCipher | None:
        """The cipher of the rows around a key; None if nothing was ever written there."""
        number = number_of(key)
        return self._keys.known.get(number) or self._read_cipher(number)

    def _read_cipher(self, number: bytes) -> RowCipher | None:
        """The cipher of a table that this process has not seen lately: what a snapshot has is committed."""
        cipher = self._keys.read(self, self._stored, number)
        if cipher is not None:
            self._keys.known[number] = cipher
        return cipher


class EncryptedTransaction(EncryptedReader[Transaction]):
    """A transaction that reads and writes encrypted rows."""

    __slots__ = ("appends", "ciphers")

    def __init__(self, stored: Transaction, keys: DataKeys) -> None:
        super().__init__(stored, keys)
        self.appends: list[Append] = []
        self.ciphers: dict[bytes, RowCipher] = {}  # which may not be committed

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`."""
        if type(key) is not bytes or type(value) is not bytes:
            raise TypeError("keys and values are bytes")
        if key[:1] == TABLE_KEY:
            self._wrap(key[1:], value)
        self._stored.put(key, value if is_plain(key) else self._writing(key).seal(key, value))

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`, if there is one."""
        if key[:1] == TABLE_KEY:
            self._keys.remove(self._stored, key[1:])
        self._stored.delete(key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most."""
        if start >= _KEYS_END or end <= DATA_KEY:
            return self._stored.clear(start, end, limit=limit)
        cleared = self._stored.clear(start, min(end, DATA_KEY), limit=limit)
        if cleared < limit:
            cleared += self._stored.clear(max(start, _KEYS_END), end, limit=limit - cleared)
        return cleared

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

    def _writing(self, key: bytes) -> RowCipher:
        cipher = self._cipher_of(key)
        if cipher is None:
            number = number_of(key)
            cipher = self.ciphers[number] = self._keys.make(self._stored, number)
        return cipher

    def _wrap(self, number: bytes, value: bytes) -> None:
        """Have the data key of a table under the key that is written into its row."""
        table_key = table_keys.decoded(value)
        if table_key is not None:
            self.ciphers[number] = self._keys.wrap(self, self._stored, number, table_key)

    def _read_cipher(self, number: bytes) -> RowCipher | None:
        """The cipher of a table that is new, perhaps in this transaction or in one that is not committed yet."""
        cipher = self.ciphers.get(number) or self._keys.read(self, self._stored, number)
        if cipher is not None:
            self.ciphers[number] = cipher
        return cipher


class EncryptedEngine(WrappedEngine):
    """An engine around one that sees ciphertext only."""

    def __init__(self, engine: Engine, keys: DataKeys) -> None:
        super().__init__(engine)
        self.encrypted = True
        self._keys = keys

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Read."""
        return self._engine.read(self._reading(step), seconds=seconds)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Queue a read."""
        self._engine.submit_read(self._reading(step), done, reads=reads, more=more, eventual=eventual)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`; the keys that it has made are known to all once it is committed."""
        written = _Written(step, self._keys)

        def committed(result: T | None, error: BaseException | None) -> None:
            if error is None and written.ciphers:
                self._keys.known.update(written.ciphers)
            done(result, error)

        self._engine.submit(written, committed, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step`; likewise."""
        written = _Written(step, self._keys)
        result = self._engine.write(written)
        self._keys.known.update(written.ciphers)
        return result

    def close(self) -> None:
        """Close the engine inside, which nobody else has."""
        self._engine.close()

    def _reading(self, step: Callable[[Reader], T]) -> Callable[[Reader], T]:
        return lambda stored: step(EncryptedReader(stored, self._keys))


class EncryptedReads:
    """Reads of encrypted rows alone, for those who have no engine: `read` is that of a store."""

    def __init__(self, read: ReadStep, keys: DataKeys) -> None:
        self._read = read
        self._keys = keys

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""
        return self._read(lambda stored: step(EncryptedReader(stored, self._keys)), seconds=seconds)


class _Written(Generic[T]):
    """A step for a transaction of encrypted rows, and the ciphers of its last run."""

    __slots__ = ("_keys", "_step", "ciphers")

    def __init__(self, step: Callable[[Transaction], T], keys: DataKeys) -> None:
        self._step = step
        self._keys = keys
        self.ciphers: dict[bytes, RowCipher] = {}

    def __call__(self, stored: Transaction) -> T:
        tx = EncryptedTransaction(stored, self._keys)
        result = self._step(tx)
        if tx.appends:
            appends.write(tx, tx.appends)
        self.ciphers = tx.ciphers
        return result


def _without_keys(rows: Iterator[tuple[bytes, bytes]], limit: int | None) -> Iterator[tuple[bytes, bytes]]:
    """The rows of a range that also has data keys, which are no rows to anybody but this module."""
    shown = filter(_is_row, rows)
    return shown if limit is None else islice(shown, limit)


def _is_row(row: tuple[bytes, bytes]) -> bool:
    return not row[0].startswith(DATA_KEY)


def open_encrypted(engine: Engine, keys: DataKeys) -> Engine | None:
    """The engine with its rows encrypted; None for data that was begun in the clear, which stays so."""

    def begin(tx: Transaction) -> bool:
        if keys.read(tx, tx, STORE) is not None:
            return True
        if any(not is_plain(key) for key, _ in tx.scan(b"\0", b"\xff" * 8)):
            return False
        keys.make(tx, STORE)
        return True

    is_encrypted = engine.read(lambda reader: keys.read(reader, reader, STORE)) is not None or engine.write(
        begin
    )
    return EncryptedEngine(engine, keys) if is_encrypted else None
