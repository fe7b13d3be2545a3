"""A snapshot for reading: one connection, lent to one step at a time."""

import time
from collections.abc import Iterator
from typing import cast

import apsw

from hashrange.storage.engine import Joined
from hashrange.storage.errors import TookTooLong

GET = "SELECT v FROM rows WHERE k = ?"
# A scalar subquery always gives a row, found or not, and until its statement is stepped past that row
# SQLite keeps the read transaction open. So a lone get needs no BEGIN and COMMIT around it.
GET_AND_HOLD = "SELECT (SELECT v FROM rows WHERE k = ?)"
SCAN = "SELECT k, v FROM rows WHERE k >= ? AND k < ? ORDER BY k LIMIT ?"
SCAN_REVERSE = "SELECT k, v FROM rows WHERE k >= ? AND k < ? ORDER BY k DESC LIMIT ?"
# SQLite joins rows in a fraction of the time that it takes to make Python objects of each.
_JOINED = """
SELECT count(*), {last}(k),
  CAST(group_concat(substr(v, 1, ?3), '') AS BLOB), CAST(group_concat(substr(v, ?3 + 1), ',') AS BLOB)
FROM (SELECT k, v FROM rows WHERE k >= ?1 AND k < ?2 ORDER BY k {order} LIMIT ?4)
"""
JOINED = _JOINED.format(last="max", order="")
JOINED_REVERSE = _JOINED.format(last="min", order="DESC")
_JOINED_PATIENCE = 3  # a page of these is soon done, and begun again elsewhere it would cost twice as much
COUNTER = "SELECT n FROM counters WHERE k = ?"
COUNTERS = "SELECT k, n FROM counters WHERE n <> 0 ORDER BY k"


class SnapshotReader:
    """The engine's `Reader`: its snapshot begins with the first call and ends with `release`.

    Unless nothing is committed meanwhile: then the next step may go on with the same snapshot, which saves SQLite
    the locks that beginning and ending one costs. The second step that finds the tide unchanged makes it so.
    """

    __slots__ = (
        "_begun", "_connection", "_deadline", "_held", "_holder", "_point", "_scans", "_tide", "idle", "seconds",
    )  # fmt: skip

    def __init__(self, connection: apsw.Connection) -> None:
        """Read through a connection that nobody else reads through meanwhile."""
        self._connection = connection
        self._holder = connection.cursor()
        self._point = connection.cursor()
        self._scans: list[apsw.Cursor] = []
        self._held = False
        self._begun = False
        self._tide: object = None
        self._deadline = 0.0
        self.idle = False  # not used since this was last set
        self.seconds: float | None = None  # how long a scan may take

    def renew(self, tide: object, seconds: float | None) -> None:
        """Get ready for a step that must see everything up to this tide, and may take so long."""
        self.idle = False
        self.seconds = seconds
        if tide != self._tide:
            self._tide = tide
            if self._begun:
                self.end()
        elif not self._begun:
            self._begin()

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        value: bytes | None
        if self._held or self._begun:
            value = self._point.execute(GET, (key,)).get
        else:
            self._held = True
            value = next(self._holder.execute(GET_AND_HOLD, (key,)))[0]
        return value

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, lazily: SQLite steps as the caller asks."""
        self._begin()
        cursor = open_scan(self._connection, start, end, reverse=reverse, limit=limit)
        self._scans.append(cursor)
        rows = cast("Iterator[tuple[bytes, bytes]]", cursor)
        return rows if self.seconds is None else hurried(rows, self.seconds)

    def joined(self, start: bytes, end: bytes, *, head: int, limit: int, reverse: bool = False) -> Joined:
        """Give the first rows of a range in one piece."""
        self._begin()
        if self.seconds is not None:
            self._hurry(self.seconds)
        sql = JOINED_REVERSE if reverse else JOINED
        count, last, heads, rest = self._point.execute(sql, (start, end, head, limit)).get
        return Joined(count, last or b"", heads or b"", rest or b"")

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        self._begin()
        return self._point.execute(COUNTER, (key,)).get or 0

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        self._begin()
        return cast("list[tuple[bytes, int]]", self._point.execute(COUNTERS).fetchall())

    def _begin(self) -> None:
        if not (self._held or self._begun):
            self._holder.execute("BEGIN")
            self._begun = True

    def _hurry(self, seconds: float) -> None:
        """Raise if the step has been joining rows for too long."""
        now = time.monotonic()
        if not self._deadline:
            self._deadline = now + _JOINED_PATIENCE * seconds
        elif now > self._deadline:
            raise TookTooLong

    def release(self, *, keep: bool = False) -> None:
        """End every scan that was not read to its end, and the snapshot unless it may be of use again."""
        self._deadline = 0.0
        if self._scans:
            close_scans(self._scans)
        if self._held:
            self._held = False
            next(self._holder, None)
        elif self._begun and not keep:
            self.end()

    def end(self) -> None:
        """End the snapshot."""
        if self._begun:
            self._begun = False
            self._holder.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close(True)


def open_scan(
    connection: apsw.Connection, start: bytes, end: bytes, *, reverse: bool, limit: int | None
) -> apsw.Cursor:
    """Give a cursor over a range; APSW's cursors are iterators already."""
    sql = SCAN_REVERSE if reverse else SCAN
    return connection.execute(sql, (start, end, -1 if limit is None else max(limit, 0)))


def hurried(rows: Iterator[tuple[bytes, bytes]], seconds: float) -> Iterator[tuple[bytes, bytes]]:
    """Give rows until the time is up, looking at the clock every so many of them."""
    deadline = time.monotonic() + seconds
    for number, row in enumerate(rows):
        yield row
        if number & 31 == 31 and time.monotonic() > deadline:
            raise TookTooLong


def close_scans(scans: list[apsw.Cursor]) -> None:
    """End scans wherever they are; an open one would keep its snapshot."""
    for cursor in scans:
        cursor.close(True)
    scans.clear()
