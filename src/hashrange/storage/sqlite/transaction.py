"""The writer's transaction: a step's writes over the commit's writes over the file.

Writes stay in memory until the commit is due, and are then handed to SQLite all at once. A step that
raises is undone by forgetting its writes, which costs nothing; only a step that scans or clears after
writing needs a savepoint, because SQLite itself has to see those writes.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from operator import is_not
from typing import cast

import apsw

from hashrange import logs
from hashrange.storage import layout
from hashrange.storage.checksums import (
    CHECKSUM_BYTES,
    checked_counter,
    counter_complement,
    opened,
    opened_values,
    sealed_values,
)
from hashrange.storage.errors import DiskFull, StorageError
from hashrange.storage.overlay import Overlay, Writes
from hashrange.storage.sqlite import large_values, row_cache
from hashrange.storage.sqlite.background_sync import Rows
from hashrange.storage.sqlite.guard import CommitGuard
from hashrange.storage.sqlite.reader import COUNTER, GET, close_scans, open_scan, opened_rows
from hashrange.storage.sqlite.row_cache import RowCache
from hashrange.storage.sqlite.schema import GENERATION_MAX, PAGE_BYTES

log = logs.Log("storage.sqlite")

DELETE_RANGE = "DELETE FROM rows WHERE k >= ? AND k < ?"
NTH_KEY = "SELECT k FROM rows WHERE k >= ? AND k < ? ORDER BY k LIMIT 1 OFFSET ?"
ADD = (
    "INSERT INTO counters VALUES (?1, ?2, ?3) ON CONFLICT (k) DO UPDATE "
    "SET n = n + excluded.n, complement = complement - excluded.n"
)

# One statement for many keys, in their order: the value, the number of a large one, or NULL. Not every APSW has arrays.
_GET_MANY = "SELECT (SELECT v FROM rows WHERE k = keys.value) FROM carray(?) AS keys"
# The same, of a value only so many bytes behind its checksum.
_GET_HEADS = f"""
SELECT (SELECT CASE WHEN {large_values.IS_SMALL} THEN substr(v, {CHECKSUM_BYTES} + 1, ?2) ELSE v END
  FROM rows WHERE k = keys.value) FROM carray(?1) AS keys
"""  # noqa: S608 - constants
_HAS_ARRAYS = "ENABLE_CARRAY" in apsw.compile_options and hasattr(apsw, "carray")

REMEMBERED_BYTES_MAX = 64  # of values that a commit's steps read: all of them look at their table's version


class WriteTransaction(Overlay):
    """The engine's `Transaction`, shared by the steps of one commit, one step after the other."""

    joined = None
    __slots__ = (
        "_ahead",
        "_changes",
        "_clears",
        "_connection",
        "_cursor",
        "_last_range",
        "_read",
        "_savepoint",
        "_scans",
        "_seen_cache",
        "_unsynced",
        "cache",
        "checks_pages",
        "frees_space",
        "guard",
        "log_pages",
        "outage",
        "rows",
        "sync_seconds",
    )

    def __init__(self, connection: apsw.Connection) -> None:
        """Take over the one connection that writes."""
        super().__init__()
        self._connection = connection
        self._cursor = connection.cursor()
        self._read: dict[bytes, bytes] = {}
        self._ahead: dict[
            bytes, bytes | None
        ] = {}  # what the file has at keys that the step is going to read
        self._clears = False  # a range of rows that the cache may have
        self._changes: Writes = {}  # what the commit writes; None also where the cache is not to have it
        self._seen_cache: RowCache | None = None  # None if the file has writes that the cache has not
        self.cache: RowCache | None = None
        self.checks_pages = False  # whether SQLite compares checksums of pages
        self._scans: list[apsw.Cursor] = []
        self._savepoint = False
        self._unsynced = False  # SQLite does not sync commits
        self._last_range: tuple[bytes, bytes] | None = None  # that the step has scanned or cleared
        self.frees_space = False  # one of the commit's steps does
        self.rows = 0  # that the commit writes
        self.sync_seconds = 0.0  # that the disk took for it
        self.outage = logs.Outage(log, "commit")
        self.guard: CommitGuard | None = None
        self.log_pages: Callable[[], int] | None = None  # of the log that the commit goes to

    # What a step sees.

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        if key in self.own:
            return self.own[key]
        if key in self.accepted:
            return self.accepted[key]
        value = self._read.get(key)
        if value is not None:
            return value
        cache = self._seen_cache
        if cache is not None and not (self._ahead and key in self._ahead):
            value = cache.recent.get(key) or cache.older.get(key)
            if value is not None:
                return value
        return self._read_file(key)

    def _read_file(self, key: bytes) -> bytes | None:
        """What the file has, read now or ahead."""
        value: bytes | None
        try:
            value = self._ahead.pop(key) if key in self._ahead else self._cursor.execute(GET, (key,)).get
            if type(value) is int:
                value = self._cursor.execute(large_values.LARGE_VALUE, (value,)).get or b""
        except apsw.Error as error:
            error.add_note(layout.describe(key))
            raise
        if value is not None:
            value = opened(key, value)
            if len(value) <= REMEMBERED_BYTES_MAX:
                self._read[key] = value
        return value

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, this step's writes so far included."""
        self._flush()
        self._last_range = start, end
        cursor = open_scan(self._connection, start, end, reverse=reverse, limit=limit)
        self._scans.append(cursor)
        return opened_rows(cursor)

    def counter(self, key: bytes) -> int:
        """Give a counter's value with the adds of this step and of those before it."""
        stored = self._cursor.execute(COUNTER, (key,)).get
        return (checked_counter(key, *stored) if stored else 0) + self.added(key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most."""
        if limit <= 0:
            return 0
        self._flush()
        self._protect()
        self._last_range = start, end
        self._clears = self._clears or row_cache.may_have(start, end)
        self._forget_reads()
        beyond = self._cursor.execute(NTH_KEY, (start, end, limit)).get
        if beyond is not None:
            end = beyond
        large_values.remove_range(self._cursor, start, end)
        self._cursor.execute(DELETE_RANGE, (start, end))
        cleared = self._connection.changes()
        self.rows += cleared
        return cleared

    def prefetch(self, keys: Sequence[bytes]) -> None:
        """Read rows with one statement: one for each would cost them half as much again."""
        missing = [key for key in keys if key not in self.own and key not in self.accepted]
        if self._seen_cache is not None:
            missing = self._read_cached(self._seen_cache, missing)
        if not _HAS_ARRAYS or len(missing) < 2:
            return
        try:
            stored = self._cursor.execute(_GET_MANY, (apsw.carray(tuple(missing)),)).get
        except apsw.Error as error:
            error.add_note(layout.describe_range(min(missing), max(missing)))
            raise
        self._ahead.update(zip(missing, stored, strict=True))

    def swap(
        self, keys: Sequence[bytes], values: Sequence[bytes], *, head: int | None = None
    ) -> Sequence[bytes | None] | None:
        """Store values at keys, none of which comes twice; gives what was there, or None: nothing is stored."""
        if not {*map(type, keys), *map(type, values)} <= {bytes}:
            raise TypeError("keys and values are bytes")
        before = self._get_all(keys, head)
        if before is not None:
            self.own.update(zip(keys, values, strict=True))
            self.pending_bytes += sum(map(len, values))
        return before

    def _get_all(self, keys: Sequence[bytes], head: int | None) -> list[bytes | None] | None:
        """What `get` would give for each of some keys; None where that is not to be had at once."""
        if not (self.own.keys().isdisjoint(keys) and self.accepted.keys().isdisjoint(keys)):
            return None
        cache = self._seen_cache
        if cache is None or not (cache.recent.keys() & keys or cache.older.keys() & keys):
            return self._read_all(keys, head)
        rows = dict(zip(keys, map(cache.find, keys), strict=True))
        missing = [key for key, value in rows.items() if value is None]
        read = self._read_all(missing, head)
        if read is None:
            return None
        rows.update(zip(missing, read, strict=True))
        return list(rows.values())

    def _read_all(self, keys: Sequence[bytes], head: int | None) -> list[bytes | None] | None:
        """What the file has at some keys, read with one statement; None if a value is large, or damaged."""
        if not _HAS_ARRAYS or len(keys) < 2:
            return [self.get(key) for key in keys]
        try:
            if head is not None and self.checks_pages:
                return self._read_heads(keys, head)
            stored = self._cursor.execute(_GET_MANY, (apsw.carray(tuple(keys)),)).get
        except apsw.Error as error:
            error.add_note(layout.describe_range(min(keys), max(keys)))
            raise
        is_there = list(map(is_not, stored, repeat(None)))
        found = list(compress(keys, is_there))
        values = None if int in map(type, stored) else opened_values(found, list(compress(stored, is_there)))
        if values is None:
            return None
        rows = dict(zip(found, values, strict=True))
        return list(map(rows.get, keys))

    def _read_heads(self, keys: Sequence[bytes], head: int) -> list[bytes | None] | None:
        """The first bytes only, which SQLite has compared with the checksum of their page."""
        stored = self._cursor.execute(_GET_HEADS, (apsw.carray(tuple(keys)), head)).get
        if int in map(type, stored):
            return None
        is_short = any(map(head.__gt__, map(len, compress(stored, map(is_not, stored, repeat(None))))))
        return None if is_short else list(stored)

    def _read_cached(self, cache: RowCache, keys: list[bytes]) -> list[bytes]:
        """Read rows from the cache; gives the keys of those that it does not have."""
        missing = []
        for key in keys:
            value = cache.find(key)
            if value is None:
                missing.append(key)
            else:
                self._read[key] = value
        return missing

    def _forget_reads(self) -> None:
        """What was read may be different from now on, or another transaction begins."""
        self._read.clear()
        self._ahead.clear()

    def use_reserve(self) -> None:
        """Have the commit use the reserve if it has no other step in it: see `group`."""
        self.frees_space = True

    # What the committer does between steps.

    def begin(self, *, unsynced: bool = False) -> None:
        """Open the transaction that the coming steps share; somebody else syncs the log of an `unsynced` one."""
        if self._connection.in_transaction:  # a fault that came with another one
            self.rollback()
        self.sync_commits(syncs=not unsynced)
        self._cursor.execute("BEGIN IMMEDIATE")
        self._forget_reads()
        self._changes.clear()
        self._clears = False
        self._seen_cache = self.cache
        self.pending_bytes = self.rows = 0
        self.frees_space = False
        self._last_range = None

    def sync_commits(self, *, syncs: bool = True) -> None:
        """Have SQLite sync the commits to come, or somebody else."""
        if syncs == self._unsynced:
            self._cursor.execute(f"PRAGMA synchronous = {'FULL' if syncs else 'NORMAL'}")
            self._unsynced = not syncs

    def accept(self) -> None:
        """Keep what the step wrote: it belongs to the commit now."""
        if self._scans:
            close_scans(self._scans)
        if self._ahead:
            self._ahead.clear()
        super().accept()
        if self._savepoint:
            self._savepoint = False
            self._cursor.execute("RELEASE step")

    def discard(self) -> None:
        """Forget what the step wrote."""
        if self._scans:
            close_scans(self._scans)
        self._ahead.clear()
        super().discard()
        if self._savepoint:
            self._savepoint = False
            self._forget_reads()  # among them may be what the step wrote
            self._cursor.execute("ROLLBACK TO step")
            self._cursor.execute("RELEASE step")

    @property
    def has_writes(self) -> bool:
        """Whether the commit changes anything."""
        return bool(self.accepted or self.accepted_adds or self.rows)

    def commit(self, *, from_reserve: bool = False) -> None:
        """Hand everything accepted to SQLite and return when it is on disk."""
        self._hand_over(from_reserve=from_reserve)
        begun = time.monotonic()
        if self.cache is None:
            self._cursor.execute("COMMIT")
        else:
            self._commit_cached(self.cache)
        self.sync_seconds = time.monotonic() - begun
        if self.rows and self.outage.lasts:
            self.outage.worked()

    def commit_unsynced(self, *, from_reserve: bool = False) -> None:
        """Hand everything accepted to SQLite; `synced` or `not_synced` is to follow, and the cache waits for that."""
        self._hand_over(from_reserve=from_reserve)
        try:
            self._cursor.execute("COMMIT")
        except BaseException:
            if self.cache is not None:
                self.cache.fail_commit()
            raise

    def has_plain_rows(self, at_least: int) -> bool:
        """Whether the commit stores so many rows, and neither large values nor rows to remove are among them."""
        writes = self.accepted
        if len(writes) < at_least or None in writes.values():
            return False
        longest = max(map(len, writes)) + max(map(len, cast("Iterable[bytes]", writes.values())))
        return longest + CHECKSUM_BYTES <= large_values.ROW_BYTES_MAX

    def hand_over_rest(self, *, from_reserve: bool = False) -> Rows:
        """Hand everything accepted to SQLite but the rows, which are given back.

        Somebody else stores them and commits; `synced`, `not_synced` or `rollback` is to follow.
        """
        writes = cast("dict[bytes, bytes]", self.accepted)
        if self.cache is not None:
            self._changes.update(writes)
        rows = tuple(writes.items())
        self.rows += len(rows)
        writes.clear()
        self._hand_over_counters(from_reserve=from_reserve)
        return rows

    def synced(self, seconds: float, release: Callable[[], None]) -> None:
        """The commit is on disk, after so many seconds; `release` lets readers see it."""
        # The cache first: what a step finds there must not be of another version than what its reader finds.
        if self.cache is not None:
            self.cache.begin_commit()
        release()
        if self.cache is not None:
            self._commit_ended(self.cache)
        self.sync_seconds = seconds
        if self.outage.lasts:
            self.outage.worked()

    def not_synced(self, release: Callable[[], None]) -> None:
        """The disk has failed: nobody knows what of the commit is on it, but readers are to see it."""
        if self.cache is not None:
            self.cache.begin_commit()
        release()
        if self.cache is not None:
            self.cache.fail_commit()

    def _hand_over(self, *, from_reserve: bool) -> None:
        if self.cache is not None:
            self._changes.update(self.accepted)
        self._store(self.accepted)
        self._hand_over_counters(from_reserve=from_reserve)

    def _hand_over_counters(self, *, from_reserve: bool) -> None:
        """Hand over what is left, and look whether there may be such a commit."""
        writes = self.has_writes
        if self.accepted_adds:
            adds = [(key, total, counter_complement(key, total)) for key, total in self.totals().items()]
            self._cursor.executemany(ADD, adds)
            self.accepted_adds.clear()
        if self.guard is not None and writes:
            commit_bytes = self.pending_bytes + max(1, self.rows) * PAGE_BYTES
            self.guard.check(self._connection, commit_bytes, from_reserve=from_reserve)
        if self.log_pages is not None and self.rows and not self.log_pages():
            self._begin_log()

    def _commit_cached(self, cache: RowCache) -> None:
        """Commit, and have the cache follow."""
        cache.begin_commit()
        try:
            self._cursor.execute("COMMIT")
        except BaseException:
            cache.fail_commit()
            raise
        self._commit_ended(cache)

    def _commit_ended(self, cache: RowCache) -> None:
        if self._clears:
            cache.wipe()
        cache.end_commit(self._changes, self._read.keys())

    def begin_log(self) -> None:
        """Commit nothing but the number of a log that has been emptied, so that what it had before counts no more."""
        self.begin()
        self.rows = 1
        try:
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def _begin_log(self) -> None:
        """Number the log's round, on the file's first page: so a log is known to be this file's."""
        generation: int = self._cursor.execute("PRAGMA user_version").get
        self._cursor.execute(f"PRAGMA user_version = {(generation + 1) % GENERATION_MAX}")

    def explained(self, error: StorageError) -> StorageError:
        """The error of a commit, or what is behind it: pages cannot be read where the log was cut off."""
        if self.guard is not None and not isinstance(error, DiskFull):
            try:
                self.guard.check_log()
            except StorageError as cause:
                return cause
            except OSError as cause:  # too many files are open, perhaps
                log.warning("log.unchecked", reason=str(cause))
        return error

    def rollback(self) -> None:
        """Forget the whole commit, as after a fault."""
        if self._scans:
            close_scans(self._scans)
        self.appends.clear()
        for pending in (self.own, self.adds, self.accepted, self.accepted_adds):
            pending.clear()
        self._savepoint = False
        # After some faults SQLite has rolled back by itself.
        if self._connection.in_transaction:
            self._cursor.execute("ROLLBACK")

    def _flush(self) -> None:
        """Let SQLite see all writes so far, the current step's behind a savepoint."""
        self._forget_reads()
        self._seen_cache = None
        # The step may still be discarded, so the cache is to have neither what was there nor what comes.
        self._changes.update(dict.fromkeys(self.accepted))
        self._store(self.accepted)
        if self.own:
            self._changes.update(dict.fromkeys(self.own))
            self._protect()
            self._store(self.own)

    def _protect(self) -> None:
        if not self._savepoint:
            self._cursor.execute("SAVEPOINT step")
            self._savepoint = True

    def locate(self, error: apsw.Error) -> None:
        """Note in an error which rows were being read or written, if that is not there yet."""
        if hasattr(error, "__notes__"):
            return
        written = [*self.accepted, *self.own]
        if self._last_range is not None:
            error.add_note(layout.describe_range(*self._last_range))
        if written:
            error.add_note(
                f"{len(written)} rows were written, the first of them: {layout.describe(min(written))}"
            )

    def _store(self, writes: Writes) -> None:
        if not writes:
            return
        self.rows += len(writes)
        puts = cast("dict[bytes, bytes]", writes)
        if None in writes.values():
            puts = {key: value for key, value in writes.items() if value is not None}
        if puts:
            stored = sealed_values(puts, list(puts.values()))
            large_values.put(self._cursor, list(zip(puts, stored, strict=True)))
        if len(puts) < len(writes):
            gone = [(key,) for key, value in writes.items() if value is None]
            large_values.delete(self._cursor, gone)
        writes.clear()
