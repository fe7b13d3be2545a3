"""The items of a table that were changed between two moments: as they were before the first and after the last change.

This is a comparison of two states, not a list of changes: what was changed and changed again is one change. The caller
must have a hold on the table from the first moment on, and the second must have passed (storage/holds.py).
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, cast

from hashrange.core.schema import Table
from hashrange.storage import history, layout
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.history import Logged, LogTail
from hashrange.storage.scratch import ScratchFile


class ChangedItem(NamedTuple):
    """One item that was changed."""

    key: bytes
    before: bytes | None  # stored form at the first moment; None: there was no item
    after: bytes | None  # at the second
    time_us: int  # of the last change up to the second


class _Snapshot(NamedTuple):
    """What one snapshot has shown."""

    changes: list[Logged]
    is_complete: bool
    positions: dict[int, int]
    rows: dict[bytes, bytes | None]


class ChangedItems:
    """Changes after one moment, up to another, that included."""

    def __init__(self, engine: Engine, table: Table, after_us: int, until_us: int) -> None:
        self._engine = engine
        self._table = table
        self._until_us = until_us
        self._tail = LogTail(table, after_us)
        self._positions: dict[int, int] = {}
        self._scratch = _Scratch(engine)

    def close(self) -> None:
        """Delete the scratch file."""
        self._scratch.close()

    def chunks(self, after: bytes | None = None) -> Iterator[list[ChangedItem]]:
        """All changed items in key order, those behind a key; items that came and went in between are left out."""
        start = b"" if after is None else after + b"\0"
        while not self._advance([]).is_complete:
            pass
        while keys := self._scratch.keys(start, history.CHUNK_ROWS):
            snapshot = self._advance(keys)
            if not snapshot.is_complete:
                continue
            found = (self._scratch.changed(key, snapshot.rows) for key in keys)
            yield [item for item in found if item.before is not None or item.after is not None]
            start = keys[-1] + b"\0"

    def _advance(self, keys: list[bytes]) -> _Snapshot:
        snapshot = self._engine.read(partial(self._read, keys))
        self._positions = snapshot.positions
        self._scratch.add(snapshot.changes, self._until_us)
        return snapshot

    def _read(self, keys: list[bytes], reader: Reader) -> _Snapshot:
        positions = dict(self._positions)
        changes, is_complete = self._tail.read(reader, positions)
        prefix = layout.rows_prefix(self._table.number, layout.BASE_SLOT)
        rows = {key: reader.get(prefix + key) for key in keys} if is_complete else {}
        return _Snapshot(changes, is_complete, positions, rows)


class _Scratch:
    """What is known of every changed key: `later` is what a change after the second moment has replaced."""

    def __init__(self, engine: Engine) -> None:
        self._file = ScratchFile(
            engine.directory,
            "CREATE TABLE changed(k BLOB PRIMARY KEY, before BLOB, time INTEGER NOT NULL, later BLOB, "
            "has_later INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
            encrypted=engine.encrypted,
        )

    def add(self, changes: list[Logged], until_us: int) -> None:
        within = [change for change in changes if change.time_us <= until_us]
        later = [change for change in changes if change.time_us > until_us]
        insert = (
            "INSERT INTO changed (k, before, time) VALUES (?, ?, ?) "
            "ON CONFLICT (k) DO UPDATE SET time = excluded.time"
        )
        update = "UPDATE changed SET later = ?, has_later = 1 WHERE k = ? AND NOT has_later"
        self._file.write(
            [
                (insert, [(change.key, self._before(change), change.time_us) for change in within]),
                (update, [(self._before(change), change.key) for change in later]),
            ]
        )

    def keys(self, start: bytes, limit: int) -> list[bytes]:
        query = "SELECT k FROM changed WHERE k >= ? ORDER BY k LIMIT ?"
        return [cast("bytes", key) for (key,) in self._file.rows(query, (start, limit))]

    def changed(self, key: bytes, rows: dict[bytes, bytes | None]) -> ChangedItem:
        query = "SELECT before, time, later, has_later FROM changed WHERE k = ?"
        (row,) = self._file.rows(query, (key,))
        before, time_us, later, has_later = cast("tuple[bytes | None, int, bytes | None, int]", row)
        after = self._file.opened(key, later) if has_later else rows[key]
        return ChangedItem(key, self._file.opened(key, before), after, time_us)

    def _before(self, change: Logged) -> bytes | None:
        return self._file.stored(change.key, change.before)

    def close(self) -> None:
        self._file.close()
