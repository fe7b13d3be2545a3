"""The writer's transaction: what its steps read stays as they read it until the commit.

On PostgreSQL this does not rest on SERIALIZABLE, which tracks reads by page and, past a few dozen of them, by
table: two servers that commit in batches would abort each other for rows neither of them shares. The
transaction is READ COMMITTED instead and makes sure of what it read by itself:

- A row that is there is locked when it is read. Keys that steps declare are locked all at once, in key order,
  so that those who want the same rows wait for each other.
- A row that is missing cannot be locked. If it is written, it is inserted, which fails if it has come up in
  the meantime; if it is not, it is inserted and deleted again, which keeps others from inserting it.
- Keys that everyone reads and hardly anyone writes (`read_mostly`) are not locked one by one: readers hold the
  fence together, a writer holds it alone. Locks of tables are granted in turn, so a writer gets its turn.
- Ranges are read without locks and read once more before the commit, when everything else is locked and
  written: if they look different, the batch starts again. Only one transaction that read a range is
  at this stage at any time. Why this suffices is in docs/design/006-postgres-engine.md.

Each of these makes whoever comes later in the order of commits wait, or start again; so that order is a serial
one. On CockroachDB and YugabyteDB the same statements run under SERIALIZABLE, which tracks rows there.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array, int8, read_int8
from hashrange.storage.postgres.link import Call, Link
from hashrange.storage.postgres.links import Links
from hashrange.storage.postgres.overlay import Overlay, Unwritten, merged
from hashrange.storage.postgres.paging import read_range
from hashrange.storage.postgres.reader import rows_of
from hashrange.storage.postgres.scanning import Scan

COUNTER_MAX = 2**62

_BEGIN = Call(statements.BEGIN)
_FENCE = Call(statements.FENCE)
_SCANNER = Call(statements.SCANNER)


class Scanned:
    """A range as a step found it, up to where it was read."""

    __slots__ = ("end", "rows", "start")

    def __init__(self, start: bytes, end: bytes) -> None:
        self.start = start
        self.end = end
        self.rows: dict[bytes, bytes | None] = {}  # digests of the values; None: only the key was looked at


class WriteTransaction:
    """The engine's `Transaction`, shared by the steps of one commit, one step after the other."""

    joined = None
    __slots__ = (
        "_link",
        "_links",
        "_step",
        "_step_keys",
        "failure",
        "guarded",
        "long_stored",
        "overlay",
        "read",
        "read_mostly",
        "scanned",
        "stored",
    )  # fmt: skip

    def __init__(self, links: Links, read_mostly: tuple[bytes, ...]) -> None:
        self._links = links
        self._link: Link | None = None
        self._step = 0
        self._step_keys: set[bytes] = set()
        self.read_mostly = read_mostly
        self.failure: Exception | None = None  # trouble of the engine's own, even if a step has swallowed it
        self.overlay = Overlay()
        self.stored: dict[bytes, bytes | None] = {}  # what the database has, held still until the commit
        self.long_stored: dict[bytes, bytes | None] = {}  # the same of long keys, whose heads `stored` has
        self.guarded: set[bytes] = set()  # missing rows that must stay so until the commit
        self.scanned: list[Scanned] = []
        # Everything the steps asked for, to be fetched at once if they run again.
        self.read: set[bytes] = set()

    # What a step sees.

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        written = self.overlay.get(key)
        if not isinstance(written, Unwritten):
            return written
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
        written = self.overlay.within(start, end, reverse=reverse)
        hint = None if limit is None else limit + len(written)
        stored = self._scan_stored(start, end, reverse=reverse, hint=hint)
        step = self._step
        return Scan(islice(merged(stored, written, reverse=reverse), limit), lambda: self._step == step)

    def counter(self, key: bytes) -> int:
        """Give a counter's value with the adds of this step and of those before it."""
        # All of its rows are there and locked from here on: a number given out on this ground is given once.
        fill, lock = (Call(name, (key,)) for name in (statements.COUNTER_FILL, statements.COUNTER_LOCK))
        rows = self.run([fill, lock])[1]
        stored = sum(read_int8(rows.get_value(number, 0)) for number in range(rows.ntuples))
        return stored + self.overlay.added(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`."""
        # A value that the database refused later would take the whole commit with it.
        if type(key) is not bytes or type(value) is not bytes:
            raise TypeError("keys and values are bytes")
        self.overlay.own[key] = value
        self.overlay.pending_bytes += len(value)

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`, if there is one."""
        if type(key) is not bytes:
            raise TypeError("keys are bytes")
        self.overlay.own[key] = None

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most."""
        if limit <= 0:
            return 0
        written = self.overlay.within(start, end, reverse=False)
        stored = ((key, b"") for key in self._scan_keys(start, end, hint=limit + len(written)))
        found = [key for key, _ in islice(merged(stored, written, reverse=False), limit)]
        self.overlay.own.update(dict.fromkeys(found))
        return len(found)

    def prefetch(self, keys: Iterable[bytes]) -> None:
        """Read and lock rows ahead of the calls that ask for them."""
        self._fetch(keys)

    def add(self, key: bytes, amount: int) -> None:
        """Add to a counter."""
        total = self.overlay.adds.get(key, 0) + amount
        if not -COUNTER_MAX <= total <= COUNTER_MAX:
            raise OverflowError("a counter has 64 bits")
        self.overlay.adds[key] = total

    # What the committer does between steps.

    def begin(self, keys: Iterable[bytes]) -> None:
        """Read and lock what the coming steps declared; the transaction begins with the first statement."""
        self._fetch(keys)

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        self._end_step(wrote=bool(self.overlay.own or self.overlay.adds))
        self.overlay.accept()

    def discard(self) -> None:
        """Forget what the step wrote."""
        self._end_step(wrote=False)
        self.overlay.discard()

    def run(self, calls: list[Call]) -> list[PGresult]:
        """Send statements of this transaction."""
        if self.failure is not None:
            raise self.failure
        try:
            if self._link is None:
                self._link, results = self._links.first([_BEGIN, *calls])
                return results[1:]
            return self._link.run(calls)
        except Exception as error:
            self.failure = error
            raise

    @property
    def begun(self) -> bool:
        """Whether there is anything to commit or to let go of."""
        return self._link is not None

    def begun_link(self) -> Link:
        """The link, with the transaction begun on it."""
        if self._link is None:
            self.run([])
        if self._link is None:
            raise StorageError("the transaction did not begin")
        return self._link

    def finish(self) -> Link | None:
        """Give up the link, if there is one; what is under way on it is the taker's affair."""
        self.failure = StorageError("a transaction does not outlive its step")
        self._step += 1
        link, self._link = self._link, None
        return link

    def _end_step(self, *, wrote: bool) -> None:
        # A step that looked at one missing row and did nothing saw it at one moment, which is enough.
        if wrote or len(self._step_keys) > 1:
            heads = map(long_keys.head_of, self._step_keys)
            missing = (key for key in heads if self.stored.get(key, b"") is None)
            self.guarded.update(key for key in missing if not key.startswith(self.read_mostly))
        self.read |= self._step_keys
        self._step_keys.clear()
        self._step += 1

    # Reading what was not declared.

    def _fetch_one(self, key: bytes) -> None:
        if type(key) is not bytes:
            raise TypeError("keys are bytes")
        self._fetch([key])
        if long_keys.is_long(key):
            rows = self.run([long_keys.get_call(key)])[0]
            self.long_stored[key] = rows.get_value(0, 0) if rows.ntuples else None

    def _fetch(self, keys: Iterable[bytes]) -> None:
        """Read rows and hold them still.

        Whoever has locks already and wants one more, out of order, must not wait for it: that is how deadlocks
        come about. The batch starts again instead, and then knows from the beginning what it needs.

        A row that comes up after the statement began counts as missing. Nobody is misled for long: to go by
        that, the batch has to insert it.
        """
        wanted = {long_keys.head_of(key) for key in keys} - self.stored.keys()
        shared = sorted(key for key in wanted if key.startswith(self.read_mostly))
        own = sorted(key for key in wanted if not key.startswith(self.read_mostly))
        lock = statements.LOCK_NOW if self.stored else statements.LOCK
        calls = [_FENCE, Call(statements.GET, (bytea_array(shared),))] if shared else []
        calls += [Call(lock, (bytea_array(own),))] if own else []
        if not calls:
            return
        results = self.run(calls)
        self.stored.update(dict.fromkeys(wanted))
        for result in results[1 if shared else 0 :]:
            self.stored.update(rows_of(result))

    # Reading ranges.

    def _scan_stored(
        self, start: bytes, end: bytes, *, reverse: bool, hint: int | None
    ) -> Iterator[tuple[bytes, bytes]]:
        seen = self._open_range(start, end, reverse=reverse)
        for key, value in read_range(self._run_scan, start, end, reverse=reverse, hint=hint):
            if not long_keys.is_long(key):
                seen.rows[key] = hashlib.md5(value, usedforsecurity=False).digest()
            if reverse:
                seen.start = key
            else:
                seen.end = key + b"\0"
            yield key, value
        seen.start, seen.end = start, end

    def _scan_keys(self, start: bytes, end: bytes, *, hint: int) -> Iterator[bytes]:
        """Like `_scan_stored`, without the values."""
        seen = self._open_range(start, end, reverse=False)
        at = long_keys.first_head(start)
        while at < end:
            page = self._run_scan(Call(statements.SCAN_KEYS, (at, end, int8(hint))))
            for key in keys_of(page):
                seen.rows[key] = None
                at = seen.end = key + b"\0"
                if long_keys.is_long(key):
                    yield from (
                        row for row, _ in long_keys.group(self._run_scan, key, start, end, reverse=False)
                    )
                    if start <= key and not end.startswith(key):
                        self.overlay.emptied.add(key)
                else:
                    yield key
            if page.ntuples < hint:
                break
        seen.end = end

    def _open_range(self, start: bytes, end: bytes, *, reverse: bool) -> Scanned:
        if not self.scanned:
            self.run([_SCANNER])
        seen = Scanned(end, end) if reverse else Scanned(start, start)
        self.scanned.append(seen)
        return seen

    def _run_scan(self, call: Call) -> PGresult:
        if call.name in (statements.LONG_SCAN, statements.LONG_SCAN_REVERSE):
            # The lock on the head holds still all keys that begin with it.
            self._fetch([call.parameters[0] or b""])
        return self.run([call])[0]


def keys_of(result: PGresult) -> Iterator[bytes]:
    """The keys of a result."""
    for number in range(result.ntuples):
        yield result.get_value(number, 0) or b""
