"""The writer's transaction: what its steps see and write, whatever keeps it apart from the others.

`LockingTransaction` (locking.py) and `SerializableTransaction` (serializable.py) say how.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec
from psycopg.pq.abc import PGresult

from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import int8
from hashrange.storage.postgres.overlay import RangeOverlay, Unwritten, merged
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.ranges import Scan, read_range
from hashrange.storage.postgres.snapshot import rows_of

BEGIN_CALLS = (Call(statements.BEGIN), Call(statements.MODE))


class Needs(msgspec.Struct):
    """What a transaction has to ask for at its beginning, as far as earlier attempts have shown."""

    keys: set[bytes]  # that its steps read
    alone: bool = False  # whether it changes what all others rely on


class WriteTransaction(RangeOverlay):
    """The engine's `Transaction`, shared by the steps of one commit, one step after the other."""

    joined = None
    needs_alone = False  # found out too late for this attempt
    begin_calls: tuple[Call, ...] = BEGIN_CALLS

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self._pool = pool
        self._connection: PipelineConnection | None = None
        self._step = 0
        self._step_keys: set[bytes] = set()
        self.failure: Exception | None = None  # trouble of the engine's own, even if a step has swallowed it
        self.stored: dict[bytes, bytes | None] = {}  # what the database has, as far as it was read
        self.long_stored: dict[bytes, bytes | None] = {}  # the same of long keys, whose heads `stored` has
        # Everything the steps looked at, to be read at once if they run again.
        self.read: set[bytes] = set()

    # What a step sees.

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        written = self.written(key)
        if not isinstance(written, Unwritten):
            return written
        if type(key) is not bytes:
            raise TypeError("keys are bytes")
        self._step_keys.add(key)
        held = self.long_stored if long_keys.is_long(key) else self.stored
        if key not in held:
            self._fetch_one(key)
        return held[key]

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, this step's writes so far included."""
        if limit is not None and limit <= 0:
            return iter(())
        written = self.within(start, end, reverse=reverse)
        hint = None if limit is None else limit + len(written)
        stored = self._scan_stored(start, end, reverse=reverse, hint=hint)
        step = self._step
        return Scan(islice(merged(stored, written, reverse=reverse), limit), lambda: self._step == step)

    def counter(self, key: bytes) -> int:
        """Give a counter's value with the adds of this step and of those before it."""
        return self._stored_counter(key) + self.added(key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most."""
        if limit <= 0:
            return 0
        written = self.within(start, end, reverse=False)
        stored = ((key, b"") for key in self._scan_keys(start, end, hint=limit + len(written)))
        keys = [key for key, _ in islice(merged(stored, written, reverse=False), limit)]
        self.own.update(dict.fromkeys(keys))
        return len(keys)

    def prefetch(self, keys: Iterable[bytes]) -> None:
        """Read rows ahead of the calls that ask for them."""
        self._fetch(keys)

    def use_reserve(self) -> None:
        """Do nothing: the disk is the database's."""

    # What the committer does between steps.

    def begin(self, keys: Iterable[bytes]) -> None:
        """Read what the coming steps declared; the transaction begins with the first statement."""
        self._fetch(keys)

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        self._end_step()
        super().accept()

    def discard(self) -> None:
        """Forget what the step wrote."""
        self._end_step()
        super().discard()

    def run(self, calls: list[Call]) -> list[PGresult]:
        """Send statements of this transaction."""
        if self.failure is not None:
            raise self.failure
        try:
            if self._connection is None:
                self._connection, results = self._pool.begin([*self.begin_calls, *calls])
                return results[len(self.begin_calls) :]
            return self._connection.run(calls)
        except Exception as error:
            self.failure = error
            raise

    @property
    def begun(self) -> bool:
        """Whether there is anything to commit or to let go of."""
        return self._connection is not None

    def begun_connection(self) -> PipelineConnection:
        """The connection, with the transaction begun on it."""
        if self._connection is None:
            self.run([])
        if self._connection is None:
            raise StorageError("the transaction did not begin")
        return self._connection

    def finish(self) -> PipelineConnection | None:
        """Give up the connection, if there is one; what is under way on it is the taker's affair."""
        self.failure = StorageError("a transaction does not outlive its step")
        self._step += 1
        connection, self._connection = self._connection, None
        return connection

    def last_calls(self, shard: int) -> list[Call]:
        """Give the statements that are left to be sent with the commit, after whatever has to come before it."""
        raise NotImplementedError

    def _end_step(self) -> None:
        self.read |= self._step_keys
        self._step_keys.clear()
        self._step += 1

    # Reading what was not declared.

    def _fetch_one(self, key: bytes) -> None:
        self._fetch([key])
        if long_keys.is_long(key):
            rows = self.run([long_keys.get_call(key)])[0]
            self.long_stored[key] = rows.get_value(0, 0) if rows.ntuples else None

    def _fetch(self, keys: Iterable[bytes]) -> None:
        missing = {long_keys.head_of(key) for key in keys} - self.stored.keys()
        if missing:
            rows = self._read_rows(missing)
            self.stored.update(dict.fromkeys(missing))
            for result in rows:
                self.stored.update(rows_of(result))

    def _read_rows(self, keys: set[bytes]) -> list[PGresult]:
        """Read rows so that they stay as they are until the commit."""
        raise NotImplementedError

    def _stored_counter(self, key: bytes) -> int:
        """Read a counter so that it stays as it is until the commit."""
        raise NotImplementedError

    # Reading ranges.

    def _scan_stored(
        self, start: bytes, end: bytes, *, reverse: bool, hint: int | None
    ) -> Iterator[tuple[bytes, bytes]]:
        return read_range(self._run_scan, start, end, reverse=reverse, hint=hint)

    def _scan_keys(self, start: bytes, end: bytes, *, hint: int) -> Iterator[bytes]:
        """Like `_scan_stored`, without the values."""
        at = long_keys.first_head(start)
        while at < end:
            page = self._run_scan(Call(statements.SCAN_KEYS, (at, end, int8(hint))))
            for key in keys_of(page):
                at = key + b"\0"
                if long_keys.is_long(key):
                    yield from (
                        row for row, _ in long_keys.group(self._run_scan, key, start, end, reverse=False)
                    )
                else:
                    yield key
            if page.ntuples < hint:
                return

    def _run_scan(self, call: Call) -> PGresult:
        return self.run([call])[0]


def keys_of(result: PGresult) -> Iterator[bytes]:
    """The keys of a result."""
    for number in range(result.ntuples):
        yield result.get_value(number, 0) or b""
