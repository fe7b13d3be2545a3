"""Walking over a whole store in chunks: each is one short snapshot, so that a live server's log stays short.

A damaged row or page does not end the walk: it is reported, and the walk goes on behind it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from hashrange.core import items
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.errors import Corrupt, DamagedRow, NotChecked, ReadTimeout
from hashrange.storage.verification.gaps import END, first_key, next_readable
from hashrange.storage.verification.report import Problem, Report, ReportProgress
from hashrange.storage.verification.rows import problems_of
from hashrange.storage.verification.tables import NO_TABLES, Tables, find_index, read_tables

T = TypeVar("T")

CHUNK_ROWS = 256
CHUNK_BYTES = 4 * 1024 * 1024
RECOUNT_SECONDS = 10.0

Slot = tuple[int, int]  # table number and slot


class Verifiable(Protocol):
    """An engine that can be verified."""

    @property
    def description(self) -> str:
        """Name the engine and where its data is."""

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero."""

    def structure_problems(self) -> Iterator[str]:
        """What the database itself finds wrong with its files."""


class Tally(msgspec.Struct):
    """The rows of a table or index that were counted."""

    rows: int = 0
    size: int = 0
    is_complete: bool = True  # no row of it was unreadable


class Chunk(msgspec.Struct):
    """What one snapshot has shown."""

    tables: Tables
    next_key: bytes | None
    rows: int = 0
    problems: list[Problem] = []
    tallies: dict[Slot, Tally] = {}


def verify(engine: Verifiable, progress: ReportProgress) -> Report:
    """Read everything and compare it."""
    walk = Walk(engine, progress)
    try:
        for detail in engine.structure_problems():
            walk.report.add(Problem("damaged structure", engine.description, detail))
    except NotChecked as reason:
        walk.report.skipped.append(str(reason))
    walk.run()
    walk.compare_counters()
    return walk.report


class Walk:
    """One pass over all rows."""

    def __init__(self, engine: Verifiable, progress: ReportProgress) -> None:
        self._engine = engine
        self._progress = progress
        self._tables: Tables | None = None
        self._knows_tables = False
        self._tallies: dict[Slot, Tally] = {}
        self.report = Report()

    def run(self) -> None:
        """Go over all rows."""
        self._knows_tables = self._can_read_tables()
        start: bytes | None = b""
        while start is not None:
            start = self._advance(start)
            self._progress(self.report.rows)
        if self._knows_tables and self._tables is not None:
            self.report.tables = len(self._tables.by_number)
        else:
            self.report.skipped.append(
                "whether rows belong together: the records of the tables cannot be read"
            )

    def _can_read_tables(self) -> bool:
        try:
            self._engine.read(lambda reader: read_tables(reader, None))
        except Corrupt:
            return False
        return True

    def _advance(self, start: bytes) -> bytes | None:
        """Check the next rows; where pages are damaged, fewer and fewer at a time."""
        rows_max = CHUNK_ROWS
        while rows_max:
            try:
                return self._take(self._engine.read(partial(self._chunk, start, rows_max)))
            except Corrupt as error:
                damage, rows_max = error, rows_max // 4
        return self._skip(start, damage)

    def _chunk(self, start: bytes, rows_max: int, reader: Reader) -> Chunk:
        tables = read_tables(reader, self._tables) if self._knows_tables else NO_TABLES
        chunk = Chunk(tables, None, problems=[], tallies={})
        size, scan = 0, reader.scan(start, END, limit=rows_max)
        while True:
            try:
                row = next(scan, None)
            except DamagedRow as damaged:
                chunk.problems.append(Problem("damaged row", tables.name(damaged.key), str(damaged)))
                _tally(chunk, damaged.key).is_complete = False
                chunk.next_key = damaged.key + b"\0"
                return chunk
            if row is None or size >= CHUNK_BYTES:
                return chunk
            key, value = row
            chunk.rows += 1
            size += len(value)
            _count(chunk, key, value)
            if self._knows_tables:
                chunk.problems += problems_of(reader, tables, key, value)
            if chunk.rows == rows_max or size >= CHUNK_BYTES:
                chunk.next_key = key + b"\0"

    def _take(self, chunk: Chunk) -> bytes | None:
        self._tables = chunk.tables
        self.report.rows += chunk.rows
        for problem in chunk.problems:
            self.report.add(problem)
        for slot, counted in chunk.tallies.items():
            tally = self._tallies.setdefault(slot, Tally())
            tally.rows += counted.rows
            tally.size += counted.size
            tally.is_complete &= counted.is_complete
        return chunk.next_key

    def _skip(self, start: bytes, damage: Corrupt) -> bytes | None:
        """Go on behind a damaged page, or behind a row whose checks met one."""
        key = first_key(self._engine, start)
        if key is not None:
            return (
                key + b"\0"
            )  # the row itself is readable, and what its checks met is reported in its own place
        behind = next_readable(self._engine, start)
        place = f"between {layout.describe(start)} and {layout.describe(behind) if behind else 'the end'}"
        self.report.add(Problem("damaged page", place, str(damage)))
        for key in (start, behind or b""):
            if key.startswith(layout.ROWS) and len(key) >= layout.ROWS_PREFIX_BYTES:
                self._tallies.setdefault(layout.split_rows_key(key), Tally()).is_complete = False
        return behind

    # Counters.

    def compare_counters(self) -> None:
        """Compare what was counted with the counters of rows and bytes."""
        if not self._knows_tables:
            return
        try:
            counters = dict(self._engine.counters())
        except Corrupt as error:
            self.report.add(Problem("damaged counter", self._engine.description, str(error)))
            return
        for slot in sorted({*self._tallies, *_slots_of(counters)}):
            self._compare(slot, counters)

    def _compare(self, slot: Slot, counters: dict[bytes, int]) -> None:
        tables = self._tables
        if tables is None or slot[1] == layout.COLLECTION_SLOT:
            return
        table = tables.by_number.get(slot[0])
        if table is None or (slot[1] != layout.BASE_SLOT and find_index(table, slot[1]) is None):
            if not tables.is_garbage(layout.rows_prefix(*slot)) and _counted(counters, slot) != (0, 0):
                self.report.add(
                    Problem("orphan counter", tables.name_slot(*slot), "there is no such table or index")
                )
            return
        tally = self._tallies.get(slot, Tally())
        if not tally.is_complete:
            self.report.skipped.append(f"counters of {tables.name_slot(*slot)}: not all of it can be read")
        elif (tally.rows, tally.size) != _counted(counters, slot):
            self._recount(slot, tables.name_slot(*slot))

    def _recount(self, slot: Slot, place: str) -> None:
        """Compare again in one snapshot: on a live server rows come and go during the walk."""
        try:
            actual, expected = self._engine.read(
                lambda reader: _recounted(reader, slot), seconds=RECOUNT_SECONDS
            )
        except ReadTimeout:
            self.report.skipped.append(
                f"counters of {place}: it is in use and too large to be counted in one go"
            )
            return
        except Corrupt as error:
            self.report.skipped.append(f"counters of {place}: {error}")
            return
        if actual != expected:
            detail = (
                f"{expected[0]} rows and {expected[1]} bytes counted, {actual[0]} and {actual[1]} are there"
            )
            self.report.add(Problem("wrong counter", place, detail))


def _tally(chunk: Chunk, key: bytes) -> Tally:
    if key.startswith(layout.ROWS) and len(key) >= layout.ROWS_PREFIX_BYTES:
        return chunk.tallies.setdefault(layout.split_rows_key(key), Tally())
    return Tally()


def _count(chunk: Chunk, key: bytes, value: bytes) -> None:
    tally = _tally(chunk, key)
    tally.rows += 1
    tally.size += items.stored_size(value)


def _counted(counters: dict[bytes, int], slot: Slot) -> tuple[int, int]:
    return counters.get(layout.count_key(*slot), 0), counters.get(layout.size_key(*slot), 0)


def _slots_of(counters: dict[bytes, int]) -> set[Slot]:
    keys = (key for key in counters if key[:1] in (layout.COUNT, layout.SIZE))
    return {(int.from_bytes(key[1:5], "big"), int.from_bytes(key[5:7], "big")) for key in keys}


def _recounted(reader: Reader, slot: Slot) -> tuple[tuple[int, int], tuple[int, int]]:
    prefix = layout.rows_prefix(*slot)
    rows = size = 0
    for _, value in reader.scan(prefix, encoding.prefix_end(prefix)):
        rows += 1
        size += items.stored_size(value)
    expected = reader.counter(layout.count_key(*slot)), reader.counter(layout.size_key(*slot))
    return (rows, size), expected
