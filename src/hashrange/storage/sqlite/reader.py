"""A snapshot for reading: one connection, lent to one step at a time."""

from collections.abc import Iterator
from typing import cast

import apsw

GET = "SELECT v FROM rows WHERE k = ?"
# A scalar subquery always gives a row, found or not, and until that row's statement is reset SQLite
# keeps the read transaction open. So the first get of a step opens the snapshot at no extra cost.
GET_AND_HOLD = "SELECT (SELECT v FROM rows WHERE k = ?)"
HOLD = "SELECT 1 FROM meta LIMIT 1"
SCAN = "SELECT k, v FROM rows WHERE k >= ? AND k < ? ORDER BY k LIMIT ?"
SCAN_REVERSE = "SELECT k, v FROM rows WHERE k >= ? AND k < ? ORDER BY k DESC LIMIT ?"
COUNTER = "SELECT n FROM counters WHERE k = ?"


class SnapshotReader:
    """The engine's `Reader`: its snapshot begins with the first call and ends with `release`."""

    __slots__ = ("_anchor", "_connection", "_held", "_point", "_scans")

    def __init__(self, connection: apsw.Connection) -> None:
        """Take over a connection that nobody else uses."""
        self._connection = connection
        self._anchor = connection.cursor()
        self._point = connection.cursor()
        self._scans: list[apsw.Cursor] = []
        self._held = False

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        if self._held:
            return cast("bytes | None", self._point.execute(GET, (key,)).get)
        self._held = True
        return cast("bytes | None", next(self._anchor.execute(GET_AND_HOLD, (key,)))[0])

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, lazily: SQLite steps as the caller asks."""
        self._hold()
        cursor = self._connection.execute(
            SCAN_REVERSE if reverse else SCAN, (start, end, -1 if limit is None else limit)
        )
        self._scans.append(cursor)
        return cast("Iterator[tuple[bytes, bytes]]", cursor)

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        self._hold()
        return cast("int | None", self._point.execute(COUNTER, (key,)).get) or 0

    def _hold(self) -> None:
        if not self._held:
            self._held = True
            next(self._anchor.execute(HOLD))

    def release(self) -> None:
        """End the snapshot, and with it every scan that was not read to its end."""
        if self._scans:
            for cursor in self._scans:
                cursor.close(True)
            self._scans.clear()
        if self._held:
            self._held = False
            next(self._anchor, None)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close(True)
