"""Serializable by locks: what a transaction's steps read stays as they read it until the commit.

The transaction is READ COMMITTED and makes sure of what it read by itself:

- A row that is there is locked when it is read. Keys that steps declare are locked all at once, in key order,
  so that those who want the same rows wait for each other.
- A row that is missing cannot be locked. If it is written, it is inserted, which fails if it has come up in
  the meantime; if it is not, it is inserted and deleted again, which keeps others from inserting it.
- Keys that everyone reads and hardly anyone writes (`read_mostly`) are not locked one by one: all transactions hold
  the fence together, from their beginning; one that writes such a key, or reads a counter, holds it alone. Locks of
  tables are granted in turn, so it gets its turn. It finds out in the middle that it needs the fence alone, when it
  has other locks: then it starts again and takes the fence first.
- Ranges are read without locks and read once more before the commit: if they look different, the batch starts
  again. Whoever writes passes a gate before; from that last look to its commit a transaction that has read a
  range has the gate to itself, so that the ranges stay as they are.

So at the moment of its commit everything a transaction has read is still so, and that moment is its place in the
serial order. docs/design/008-postgres-isolation.md has the proof.
"""

import hashlib
from collections.abc import Iterator

from psycopg.pq.abc import PGresult

from hashrange.storage.postgres import counters, long_keys, statements, writes
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.faults import SERIALIZATION_FAILURE, Refused
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.transaction import BEGIN_CALLS, WriteTransaction
from hashrange.storage.postgres.writes import Writes

_FENCE = Call(statements.FENCE)
_FENCE_ALONE = Call(statements.FENCE_ALONE)
_GATE = Call(statements.GATE)
_GATE_ALONE = Call(statements.GATE_ALONE)


class Scanned:
    """The rows of a range as a step saw them, up to where it read."""

    __slots__ = ("end", "rows", "start")

    def __init__(self, start: bytes, end: bytes) -> None:
        self.start = start
        self.end = end
        self.rows: dict[bytes, bytes | None] = {}  # digests of the values; None: only the key was looked at


class LockingTransaction(WriteTransaction):
    """Holds still what it reads by row locks, guards and a last look at its ranges."""

    def __init__(self, pool: Pool, read_mostly: tuple[bytes, ...], *, alone: bool) -> None:
        super().__init__(pool)
        self._read_mostly = read_mostly
        self._alone = alone
        self.begin_calls = (*BEGIN_CALLS, _FENCE_ALONE if alone else _FENCE)
        self._guarded: set[bytes] = set()  # missing rows that must stay so until the commit
        self._scanned: list[Scanned] = []

    def last_calls(self, shard: int) -> list[Call]:
        """Give the writes, unless ranges were read: then they are sent before the last look at these."""
        todo = self._sort_out()
        calls = writes.calls(todo, self, shard)
        if any(key.startswith(self._read_mostly) for key in self.accepted):
            self._expect_alone()
        if self._scanned:
            self._confirm(todo, calls)
            return []
        return [_GATE, *calls] if calls else []

    def _expect_alone(self) -> None:
        """Start again if the fence is shared: who waits for it alone may have no other lock that somebody waits for."""
        if not self._alone:
            self.needs_alone = True
            raise self._conflict("the fence has to be held alone")

    def _end_step(self) -> None:
        heads = map(long_keys.head_of, self._step_keys)
        missing = (key for key in heads if self.stored.get(key, b"") is None)
        self._guarded.update(key for key in missing if not key.startswith(self._read_mostly))
        super()._end_step()

    # Reading.

    def _read_rows(self, keys: set[bytes]) -> list[PGresult]:
        """Read rows and lock them.

        Whoever has locks already and wants one more, out of order, must not wait for it: that is how deadlocks
        come about. The batch starts again instead, and then knows from the beginning what it needs.

        A row that comes up after the statement began counts as missing. Nobody is misled for long: to go by
        that, the batch has to insert it.
        """
        shared = sorted(key for key in keys if key.startswith(self._read_mostly))
        own = sorted(key for key in keys if not key.startswith(self._read_mostly))
        lock = statements.LOCK_NOW if self.stored else statements.LOCK
        calls = [Call(statements.GET, (bytea_array(shared),))] if shared else []
        calls += [Call(lock, (bytea_array(own),))] if own else []
        return self.run(calls)

    def _stored_counter(self, key: bytes) -> int:
        self._expect_alone()  # writers add to counters while they hold the fence
        # All of its rows are there and locked from here on: a number given out on this ground is given once.
        rows = self.run(counters.lock_calls(key))[1]
        if rows.ntuples < statements.COUNTER_SHARDS:
            raise self._conflict("a counter was dropped while it was being locked")
        return counters.locked_counter(key, rows)

    def _scan_stored(
        self, start: bytes, end: bytes, *, reverse: bool, hint: int | None
    ) -> Iterator[tuple[bytes, bytes]]:
        seen = self._open_range(start, end, reverse=reverse)
        for key, value in super()._scan_stored(start, end, reverse=reverse, hint=hint):
            if not long_keys.is_long(key):
                seen.rows[key] = hashlib.md5(value, usedforsecurity=False).digest()
            if reverse:
                seen.start = key
            else:
                seen.end = key + b"\0"
            yield key, value
        seen.start, seen.end = start, end

    def _scan_keys(self, start: bytes, end: bytes, *, hint: int) -> Iterator[bytes]:
        seen = self._open_range(start, end, reverse=False)
        for key in super()._scan_keys(start, end, hint=hint):
            if not long_keys.is_long(key):
                seen.rows[key] = None
            seen.end = key + b"\0"
            yield key
        seen.end = end

    def _open_range(self, start: bytes, end: bytes, *, reverse: bool) -> Scanned:
        seen = Scanned(end, end) if reverse else Scanned(start, start)
        self._scanned.append(seen)
        return seen

    def _run_scan(self, call: Call) -> PGresult:
        if call.name in (statements.LONG_SCAN, statements.LONG_SCAN_REVERSE):
            # The lock on the head holds still all keys that begin with it.
            self._fetch([call.parameters[0] or b""])
        return super()._run_scan(call)

    # Writing.

    def _sort_out(self) -> Writes:
        """What the batch's writes and its guarded rows come to."""
        todo = writes.sort_out(self)
        for key in [key for key in todo.puts if self._is_missing(key)]:
            todo.inserts[key] = todo.puts.pop(key)
        for key in todo.deletes:
            if self._is_missing(key):
                self._guarded.add(key)  # nothing to remove, as long as nobody puts something there
            elif key not in self.stored and not any(key in seen.rows for seen in self._scanned):
                todo.holds.add(key)
        for key in self._guarded:
            if key not in todo.inserts and key not in todo.puts:
                todo.inserts[key] = b""
                todo.deletes.add(key)
        return todo

    def _is_missing(self, key: bytes) -> bool:
        """Whether a step has seen that there is no such row."""
        if key in self.stored:
            return self.stored[key] is None
        return any(seen.start <= key < seen.end and key not in seen.rows for seen in self._scanned)

    # The last look at ranges.

    def _confirm(self, todo: Writes, calls: list[Call]) -> None:
        """Write, and see that the ranges which were read are still the same apart from these writes.

        What is to be written is locked before the gate: those who have such a row must be able to pass it. Nobody
        else has anything written once the gate is ours, so nothing has to be waited for then.
        """
        written = todo.inserts.keys() | todo.puts.keys() | todo.deletes
        seen = {key: digest for scanned in self._scanned for key, digest in scanned.rows.items()}
        keys = sorted((written & seen.keys()) | (written - self.stored.keys()))
        if keys:
            (rows,) = self.run([Call(statements.LOCK_DIGESTS, (bytea_array(keys),))])
            self._expect_unchanged(seen, written, rows)
        looks = [
            Call(statements.DIGESTS, (long_keys.first_head(scanned.start), scanned.end))
            for scanned in self._scanned
        ]
        results = self.run([_GATE_ALONE, *calls, *looks])[len(calls) + 1 :]
        for scanned, result in zip(self._scanned, results, strict=True):
            self._expect_same(scanned, result, written)

    def _expect_unchanged(self, seen: dict[bytes, bytes | None], written: set[bytes], rows: PGresult) -> None:
        digests = dict(_digests(rows))
        for key in written & seen.keys():
            if key not in digests or seen[key] not in (None, digests[key]):
                raise self._conflict("a scanned row has changed")

    def _expect_same(self, seen: Scanned, rows: PGresult, written: set[bytes]) -> None:
        expected = {key: digest for key, digest in seen.rows.items() if key not in written}
        for key, digest in _digests(rows):
            if long_keys.is_long(key):
                if key not in self.stored and key not in written:
                    raise self._conflict("a long key has come into a scanned range")
            elif key not in written and expected.pop(key, b"") not in (None, digest):
                raise self._conflict("a row has come into a scanned range, or has changed")
        if expected:
            raise self._conflict("a row has gone from a scanned range")

    def _conflict(self, why: str) -> Refused:
        self.failure = Refused(SERIALIZATION_FAILURE, why)
        return self.failure


def _digests(rows: PGresult) -> Iterator[tuple[bytes, bytes]]:
    for number in range(rows.ntuples):
        yield rows.get_value(number, 0) or b"", bytes.fromhex((rows.get_value(number, 1) or b"").decode())
