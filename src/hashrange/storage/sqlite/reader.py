"""A snapshot for reading: one connection, lent to one step at a time."""

import struct
import time
from collections.abc import Iterator, Sequence
from typing import cast

import apsw

from hashrange.storage import layout
from hashrange.storage.checksums import CHECKSUM_BYTES, checked_counter, opened
from hashrange.storage.engine import Joined, JoinRows, Packed, PackRows
from hashrange.storage.errors import ReadTimeout
from hashrange.storage.sqlite import joined_rows, large_values
from hashrange.storage.sqlite.pauses import Pauses

GET = "SELECT v FROM rows WHERE k = ?"
# A scalar subquery always gives a row, also for a missing key, and until its statement is stepped past that row
# SQLite keeps the read transaction open. So a lone get needs no BEGIN and COMMIT around it.
GET_AND_PIN = "SELECT (SELECT v FROM rows WHERE k = ?)"
_SCAN = f"SELECT k, {large_values.STORED} FROM rows WHERE k >= ? AND k < ? ORDER BY k"  # noqa: S608 - constants
SCAN = f"{_SCAN} LIMIT ?"
SCAN_REVERSE = f"{_SCAN} DESC LIMIT ?"
# SQLite joins rows in a fraction of the time that making Python objects of them takes.
_JOINED = """
SELECT count(*), {last}(k),
  CAST(group_concat(substr(v, {checksum} + 1, ?3), '') AS BLOB),
  CAST(group_concat(substr(v, {checksum} + 1 + ?3), ?5) AS BLOB)
FROM (
  SELECT k, {stored} AS v
  FROM rows WHERE k >= ?1 AND k < ?2 ORDER BY k {order} LIMIT ?4
)
"""
_stored = large_values.limited(joined_rows.VALUE_BYTES_MAX)
JOINED = _JOINED.format(last="max", order="", checksum=CHECKSUM_BYTES, stored=_stored)
JOINED_REVERSE = _JOINED.format(last="min", order="DESC", checksum=CHECKSUM_BYTES, stored=_stored)
# The same for values that somebody else puts together: cut in pieces, with formats of `struct` to take these apart by.
_PACKED = """
SELECT count(*), min(length(v)), count(v),
  group_concat(length(k) || 's', ''),
  CAST(group_concat(k, '') AS BLOB),
  CAST(group_concat(substr(v, {checksum} + 1, ?3), '') AS BLOB),
  CAST(group_concat(substr(v, {checksum} + 1 + ?3, ?4), '') AS BLOB),
  group_concat((length(v) - {checksum} - ?3 - ?4) || 's', ''),
  CAST(group_concat(substr(v, {checksum} + 1 + ?3 + ?4), '') AS BLOB)
FROM (
  SELECT k, {stored} AS v
  FROM rows WHERE k >= ?1 AND k < ?2 ORDER BY k {order} LIMIT ?5
)
"""
PACKED = _PACKED.format(order="", checksum=CHECKSUM_BYTES, stored=_stored)
PACKED_REVERSE = _PACKED.format(order="DESC", checksum=CHECKSUM_BYTES, stored=_stored)
# One statement for many keys, in their order; a large value is empty, and read by itself. Not every APSW has arrays.
_GET_MANY = """
SELECT (SELECT coalesce({stored}, x'') FROM rows WHERE k = keys.value) FROM carray(?) AS keys
"""
GET_MANY = _GET_MANY.format(stored=_stored)
_HAS_ARRAYS = "ENABLE_CARRAY" in apsw.compile_options and hasattr(apsw, "carray")
# Joining gets more time than a scan: a page of joined rows is soon done, and reading it again elsewhere costs twice.
_JOINED_TIMEOUT_FACTOR = 3
FIRST_PAGE = "PRAGMA user_version"  # reads no more than that
COUNTER = "SELECT n, complement FROM counters WHERE k = ?"
COUNTERS = "SELECT k, n, complement FROM counters ORDER BY k"


class SnapshotReader:
    """The engine's `Reader`: its snapshot begins with the first call and ends with `end_step`.

    While nothing is committed, steps share a snapshot, which saves SQLite the locks that beginning and ending one
    costs. The second step in a row with the same commit version begins the snapshot that is shared.

    A snapshot is pinned either by the unfinished statement of a lone get or by a transaction.
    """

    __slots__ = (
        "_commit_version", "_connection", "_deadline", "_get_pins", "_in_transaction", "_last_range", "_pauses",
        "_pin_cursor", "_point_cursor", "_rows", "_scans", "idle", "joined", "packed", "seconds",
    )  # fmt: skip

    def __init__(
        self, connection: apsw.Connection, *, checks_pages: bool = True, pauses: Pauses | None = None
    ) -> None:
        """Read through a connection that nobody else uses.

        If it `checks_pages`, rows may be joined without a look at the checksum of each. `pauses` are for steps without
        a timeout, where an event loop runs beside them.
        """
        self.joined: JoinRows | None = self._joined if checks_pages else None
        self.packed: PackRows = self._packed
        self._rows = joined_rows.of(connection) if checks_pages else None
        self._connection = connection
        self._pauses = pauses
        self._pin_cursor = connection.cursor()
        self._point_cursor = connection.cursor()
        self._scans: list[apsw.Cursor] = []
        self._get_pins = False
        self._in_transaction = False
        self._commit_version: object = None
        self._deadline = 0.0
        self._last_range: tuple[bytes, bytes] | None = None
        self.idle = False  # no step has begun since this was set
        self.seconds: float | None = None  # the timeout of scans

    def begin_step(self, commit_version: object, seconds: float | None) -> None:
        """Get ready for a step that must see everything up to this commit version, with a timeout for its scans."""
        self.idle = False
        self.seconds = seconds
        if seconds is None and self._pauses is not None:
            self._pauses.pause_if_due()
        if commit_version != self._commit_version:
            self._commit_version = commit_version
            if self._in_transaction:
                self.end_snapshot()
        elif not self._in_transaction:
            self._begin()

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        value: bytes | int | None
        try:
            if self._get_pins or self._in_transaction:
                value = self._point_cursor.execute(GET, (key,)).get
            else:
                self._get_pins = True
                value = next(self._pin_cursor.execute(GET_AND_PIN, (key,)))[0]
            if type(value) is int:
                value = self._point_cursor.execute(large_values.LARGE_VALUE, (value,)).get or b""
        except apsw.Error as error:
            error.add_note(layout.describe(key))
            raise
        return None if value is None else opened(key, cast("bytes", value))

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None] | None:
        """Give the values at some keys; None if there is a large one among them."""
        if not _HAS_ARRAYS or not keys:
            return None
        self._begin()
        self._last_range = min(keys), max(keys) + b"\0"
        stored = self._point_cursor.execute(GET_MANY, (apsw.carray(tuple(keys)),)).get
        values: Sequence[bytes | None] = stored if len(keys) > 1 else (stored,)
        if b"" in values:
            return None
        return [
            None if value is None else opened(key, value) for key, value in zip(keys, values, strict=True)
        ]

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end lazily: SQLite steps as the caller iterates."""
        self._begin()
        self._last_range = start, end
        cursor = open_scan(self._connection, start, end, reverse=reverse, limit=limit)
        self._scans.append(cursor)
        if self.seconds is not None:
            return with_timeout(opened_rows(cursor), self.seconds)
        if self._pauses is None:
            return opened_rows(cursor)
        return self._pauses.opened_rows(cast("Iterator[tuple[bytes, bytes]]", cursor))

    def _joined(
        self,
        start: bytes,
        end: bytes,
        *,
        head: int,
        limit: int,
        reverse: bool = False,
        separator: bytes = b",",
    ) -> Joined | None:
        """Give the first rows of a range in one piece; None if there is a large one among them."""
        self._begin()
        self._last_range = start, end
        if self.seconds is not None:
            self._check_deadline(self.seconds)
        has_failed = False
        if self._rows is not None:
            try:
                joined = self._rows.joined(start, end, head, limit, separator, reverse)
            except RuntimeError:
                has_failed = True  # what SQLite has met the statement will meet, and say
            else:
                return None if joined is None else Joined(*joined)
        sql = JOINED_REVERSE if reverse else JOINED
        rows, last, heads, rest = self._point_cursor.execute(sql, (start, end, head, limit, separator)).get
        if has_failed:
            # It did not come again. SQLite ends the snapshot at such an error: the statement has seen another one.
            raise apsw.IOError("rows could not be read at first")
        if rows * head != len(heads or b""):
            return None
        return Joined(rows, last or b"", heads or b"", rest or b"")

    def _packed(
        self, start: bytes, end: bytes, *, head: int, middle: int, limit: int, reverse: bool = False
    ) -> Packed | None:
        """Give the first rows of a range in pieces; None if a large one is among them, or one that is too short."""
        self._begin()
        self._last_range = start, end
        if self.seconds is not None:
            self._check_deadline(self.seconds)
        sql = PACKED_REVERSE if reverse else PACKED
        count, shortest, small, keys_format, keys, heads, middles, rests_format, rests = (
            self._point_cursor.execute(sql, (start, end, head, middle, limit)).get
        )
        if not count:
            return Packed((), b"", (), ())
        if small != count or shortest < CHECKSUM_BYTES + head + middle:
            return None
        return Packed(
            struct.unpack(keys_format, keys),
            heads,
            struct.unpack(f"{middle}s" * count, middles),
            struct.unpack(rests_format, rests),
        )

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        self._begin()
        stored = self._point_cursor.execute(COUNTER, (key,)).get
        return checked_counter(key, *stored) if stored else 0

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        self._begin()
        rows = cast("list[tuple[bytes, int, int]]", self._point_cursor.execute(COUNTERS).fetchall())
        return [(row[0], row[1]) for row in rows if checked_counter(*row)]

    def _begin(self) -> None:
        if not (self._get_pins or self._in_transaction):
            self._pin_cursor.execute("BEGIN")
            self._in_transaction = True

    def _check_deadline(self, seconds: float) -> None:
        """Raise if the step has been joining rows for too long."""
        now = time.monotonic()
        if not self._deadline:
            self._deadline = now + _JOINED_TIMEOUT_FACTOR * seconds
        elif now > self._deadline:
            raise ReadTimeout

    def end_step(self, *, keep_snapshot: bool = False) -> None:
        """Close the step's scans, and end the snapshot unless the next step may share it."""
        self._deadline = 0.0
        if self._scans:
            close_scans(self._scans)
        if self._get_pins:
            self._get_pins = False
            next(self._pin_cursor, None)
        elif self._in_transaction and not keep_snapshot:
            self.end_snapshot()

    def pin(self, commit_version: object) -> None:
        """Begin a snapshot of this version now, not with the first read."""
        self.begin_step(commit_version, 0.0)
        self._begin()
        self._point_cursor.execute(FIRST_PAGE).fetchall()

    def end_snapshot(self) -> None:
        """End the shared snapshot, if there is one."""
        if self._in_transaction:
            self._in_transaction = False
            self._pin_cursor.execute("COMMIT")

    def locate(self, error: apsw.Error) -> None:
        """Note in an error what was being read, if that is not there yet."""
        if self._last_range is not None and not hasattr(error, "__notes__"):
            error.add_note(layout.describe_range(*self._last_range))

    def close(self) -> None:
        """Close the connection."""
        self.finalize()
        self._connection.close(True)

    def finalize(self) -> None:
        """Give back what keeps the connection from being closed."""
        if self._rows is not None:
            self._rows.close()


def opened_rows(cursor: apsw.Cursor) -> Iterator[tuple[bytes, bytes]]:
    """Give the rows of a scan with their values; APSW's cursors are iterators already."""
    return map(_opened_row, cast("Iterator[tuple[bytes, bytes]]", cursor))


def _opened_row(row: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    return row[0], opened(*row)


def open_scan(
    connection: apsw.Connection, start: bytes, end: bytes, *, reverse: bool, limit: int | None
) -> apsw.Cursor:
    """Give a cursor over the stored rows of a range."""
    sql = SCAN_REVERSE if reverse else SCAN
    return connection.execute(sql, (start, end, -1 if limit is None else max(limit, 0)))


def with_timeout(rows: Iterator[tuple[bytes, bytes]], seconds: float) -> Iterator[tuple[bytes, bytes]]:
    """Give rows until the time is up, looking at the clock every 32 of them."""
    deadline = time.monotonic() + seconds
    for number, row in enumerate(rows):
        yield row
        if number & 31 == 31 and time.monotonic() > deadline:
            raise ReadTimeout


def close_scans(scans: list[apsw.Cursor]) -> None:
    """Close scans, also unfinished ones: an open one would pin its snapshot."""
    for cursor in scans:
        cursor.close(True)
    scans.clear()
