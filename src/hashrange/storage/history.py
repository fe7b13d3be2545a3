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

import apsw
import msgspec

from hashrange.core import change_record
from hashrange.core.keys import encoding
from hashrange.core.schema import Table
from hashrange.storage import change_log, layout
from hashrange.storage.engine import Engine, Reader

CHUNK_ROWS = 256
CHUNK_BYTES = 2 * 1024 * 1024
_SCRATCH_CACHE_KIB = 4096

Row = tuple[bytes, bytes]  # the item's key, its stored form


class Replaced(msgspec.Struct, frozen=True):
    """What the first change after the moment has replaced."""

    key: bytes
    before: bytes | None  # None: there was no item


class _Chunk(msgspec.Struct):
    """What one snapshot has shown."""

    replaced: list[Replaced]
    is_complete: bool  # whether the log was read to its end, and rows were read
    positions: dict[int, int]
    rows: list[Row]
    end: bytes | None  # where the rows end; None: there are no more


class PastTable:
    """A table as it was after everything that happened up to a moment, that included."""

    def __init__(self, engine: Engine, table: Table, moment_us: int) -> None:
        self._engine = engine
        self._table = table
        self._moment_us = moment_us
        self._positions: dict[int, int] = {}  # of the next record to read, by shard
        self._scratch = _Scratch()

    def close(self) -> None:
        """Delete the scratch file."""
        self._scratch.close()

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items in key order, those behind a key: a reading that was cut off can go on there."""
        start: bytes | None = b"" if after is None else after + b"\0"
        while start is not None:
            chunk = self._engine.read(partial(self._read, start))
            self._positions = chunk.positions
            self._scratch.add(chunk.replaced)
            if chunk.is_complete:
                yield list(self._merged(start, chunk))
                start = chunk.end

    def _merged(self, start: bytes, chunk: _Chunk) -> Iterator[Row]:
        """The rows of a chunk with what was replaced laid over them."""
        replaced = self._scratch.between(start, chunk.end)
        old = next(replaced, None)
        for key, stored in chunk.rows:
            while old is not None and old.key < key:
                if old.before is not None:
                    yield old.key, old.before
                old = next(replaced, None)
            if old is None or old.key != key:
                yield key, stored
                continue
            if old.before is not None:
                yield key, old.before
            old = next(replaced, None)
        while old is not None:
            if old.before is not None:
                yield old.key, old.before
            old = next(replaced, None)

    # Inside one snapshot.

    def _read(self, start: bytes, reader: Reader) -> _Chunk:
        positions = dict(self._positions)
        replaced, is_complete = self._read_log(reader, positions)
        if not is_complete:
            return _Chunk(replaced, is_complete, positions, [], start)
        rows, end = self._read_rows(reader, start)
        return _Chunk(replaced, is_complete, positions, rows, end)

    def _read_log(self, reader: Reader, positions: dict[int, int]) -> tuple[list[Replaced], bool]:
        """The next records of all shards: of a key, the shard of the older records has the lower number."""
        replaced: list[Replaced] = []
        size = 0
        number = self._table.number
        for shard in change_log.shards(reader, number):
            position = positions.get(shard.number)
            if position is None:
                position = change_log.position_at(reader, number, shard, self._moment_us + 1)
            for at, _, stored in change_log.records(reader, number, shard, position):
                record = change_record.decode(stored)
                replaced.append(Replaced(record.key, record.before))
                size += len(stored)
                positions[shard.number] = at + 1
                if len(replaced) >= CHUNK_ROWS or size >= CHUNK_BYTES:
                    return replaced, False
            positions.setdefault(shard.number, position)
        return replaced, True

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
    """What was replaced, by key, in a temporary database that the operating system forgets when it is closed."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")  # a temporary file, written to when the cache is full
        self._connection.execute(f"PRAGMA cache_size = -{_SCRATCH_CACHE_KIB}").fetchall()
        self._connection.execute("PRAGMA journal_mode = OFF").fetchall()
        self._connection.execute("PRAGMA synchronous = OFF").fetchall()
        self._connection.execute("CREATE TABLE replaced(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID").fetchall()

    def add(self, replaced: list[Replaced]) -> None:
        """Keep what is the first of its key."""
        if replaced:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR IGNORE INTO replaced VALUES (?, ?)",
                    [(old.key, old.before) for old in replaced],
                )

    def between(self, start: bytes, end: bytes | None) -> Iterator[Replaced]:
        """What was replaced in a range of keys, in their order."""
        query = "SELECT k, v FROM replaced WHERE k >= ? AND (? IS NULL OR k < ?) ORDER BY k"
        for key, before in self._connection.execute(query, (start, end, end)):
            yield Replaced(key, before)

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()
