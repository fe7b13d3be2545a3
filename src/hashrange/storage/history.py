"""The past: the items of a table as they were at a moment, read in chunks while writes go on.

What a key held at the moment is what the first change after it replaced; a key without such a change holds now what it
held then. So the reader takes the rows as they are now, and lays over them what the change log says they replaced. The
log is read up to the very snapshot in which a chunk of rows is read: rows and log always fit together, and no snapshot
has to be kept open for longer than a chunk takes.

What the log says goes into a scratch file, so that memory does not matter. The caller must have a hold on the table
from the moment on (storage/holds.py).
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, cast

import msgspec

from hashrange.core import change_record
from hashrange.core.keys import encoding
from hashrange.core.schema import Table
from hashrange.storage import change_log, layout
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.scratch import ScratchFile

CHUNK_ROWS = 256
CHUNK_BYTES = 2 * 1024 * 1024
_LOG_PARTS = 32  # of the log that are read in one go: it must be read faster than it grows

Row = tuple[bytes, bytes]  # the item's key, its stored form


class Logged(NamedTuple):
    """A change as the log has it."""

    key: bytes
    time_us: int
    before: bytes | None  # None: there was no item


class LogTail:
    """What was changed after a moment, read in parts. The positions are the caller's: a snapshot may be read twice."""

    def __init__(self, table: Table, after_us: int) -> None:
        self._number = table.number
        self._after_us = after_us

    def read(self, reader: Reader, positions: dict[int, int]) -> tuple[list[Logged], bool]:
        """The next changes of all shards, and whether these are all there are in this snapshot.

        The records of one key are in shards whose numbers rise, so that the changes of a key come in their order.
        """
        changes: list[Logged] = []
        size = 0
        for shard in change_log.shards(reader, self._number):
            position = positions.get(shard.number)
            if position is None:
                position = change_log.position_at(reader, self._number, shard, self._after_us + 1)
            positions[shard.number] = position
            for at, time_us, stored in change_log.records(reader, self._number, shard, position):
                record = change_record.decode(stored)
                changes.append(Logged(record.key, time_us, record.before))
                size += len(stored)
                positions[shard.number] = at + 1
                if len(changes) >= CHUNK_ROWS or size >= CHUNK_BYTES:
                    return changes, False
        return changes, True


class _Chunk(msgspec.Struct):
    """What one snapshot has shown."""

    changes: list[Logged]
    is_complete: bool  # whether the log was read to its end, and rows were read
    positions: dict[int, int]
    rows: list[Row]
    end: bytes | None  # where the rows end; None: there are no more


class PastTable:
    """A table as it was after everything that happened up to a moment, that included."""

    def __init__(self, engine: Engine, table: Table, moment_us: int) -> None:
        self._engine = engine
        self._table = table
        self._tail = LogTail(table, moment_us)
        self._positions: dict[int, int] = {}  # of the next record to read, by shard
        self._scratch = _Scratch(engine)

    def close(self) -> None:
        """Delete the scratch file."""
        self._scratch.close()

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items in key order, those behind a key: a reading that was cut off can go on there.

        A chunk may be empty: then only a part of the log was read, and the caller can see to other things.
        """
        start: bytes | None = b"" if after is None else after + b"\0"
        while start is not None:
            for _ in range(_LOG_PARTS):
                chunk = self._engine.read(partial(self._read, start))
                self._positions = chunk.positions
                self._scratch.add(chunk.changes)
                if chunk.is_complete:
                    break
            yield list(self._merged(start, chunk)) if chunk.is_complete else []
            start = chunk.end

    def _merged(self, start: bytes, chunk: _Chunk) -> Iterator[Row]:
        """The rows of a chunk with what was replaced laid over them."""
        replaced = self._scratch.between(start, chunk.end)
        old = next(replaced, None)
        for key, stored in chunk.rows:
            while old is not None and old[0] < key:
                if old[1] is not None:
                    yield old[0], old[1]
                old = next(replaced, None)
            if old is None or old[0] != key:
                yield key, stored
                continue
            if old[1] is not None:
                yield key, old[1]
            old = next(replaced, None)
        while old is not None:
            if old[1] is not None:
                yield old[0], old[1]
            old = next(replaced, None)

    def _read(self, start: bytes, reader: Reader) -> _Chunk:
        """Inside one snapshot: the log first, and when it is read to its end, rows."""
        positions = dict(self._positions)
        changes, is_complete = self._tail.read(reader, positions)
        if not is_complete:
            return _Chunk(changes, is_complete, positions, [], start)
        rows, end = self._read_rows(reader, start)
        return _Chunk(changes, is_complete, positions, rows, end)

    def _read_rows(self, reader: Reader, start: bytes) -> tuple[list[Row], bytes | None]:
        prefix = layout.rows_prefix(self._table.number, layout.BASE_SLOT)
        rows: list[Row] = []
        size = 0
        for key, stored in reader.scan(prefix + start, encoding.prefix_end(prefix), limit=CHUNK_ROWS):
            rows.append((key[len(prefix) :], stored))
            size += len(stored)
            if size >= CHUNK_BYTES:
                break
        is_last = len(rows) < CHUNK_ROWS and size < CHUNK_BYTES
        return rows, None if is_last else rows[-1][0] + b"\0"


class _Scratch:
    """What was replaced, by key."""

    def __init__(self, engine: Engine) -> None:
        self._file = ScratchFile(
            engine.directory,
            "CREATE TABLE replaced(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
            encrypted=engine.encrypted,
        )

    def add(self, changes: list[Logged]) -> None:
        """Keep what is the first of its key."""
        if changes:
            rows = [(change.key, self._file.stored(change.key, change.before)) for change in changes]
            self._file.write([("INSERT OR IGNORE INTO replaced VALUES (?, ?)", rows)])

    def between(self, start: bytes, end: bytes | None) -> Iterator[tuple[bytes, bytes | None]]:
        """What was replaced in a range of keys, in their order: key and stored form, None if there was no item."""
        query = "SELECT k, v FROM replaced WHERE k >= ? AND (? IS NULL OR k < ?) ORDER BY k"
        rows = cast("Iterator[tuple[bytes, bytes | None]]", self._file.rows(query, (start, end, end)))
        return ((key, self._file.opened(key, stored)) for key, stored in rows)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()
