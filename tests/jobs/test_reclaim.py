"""Reclaiming space where something is in the way: damage, or a full disk."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from hashrange import logs
from hashrange.core.keys import encoding
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.storage import catalogue, layout
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import DiskFull
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES
from storage.damage import flip, pages_with, run_sql

T = TypeVar("T")

ROWS = 500


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    text = io.StringIO()
    logs.configure(level="info", form="text", stream=text)
    yield text
    logs.configure(level="warning", form="text")


def fill_table(engine: Engine, number: int) -> None:
    prefix = layout.rows_prefix(number, layout.BASE_SLOT)

    def fill(tx: Transaction) -> None:
        for row in range(ROWS):
            tx.put(prefix + b"%04d" % row, b"<table %d row %04d>" % (number, row) * 10)

    engine.write(fill)


def discard_table(engine: Engine, number: int) -> None:
    """Leave the rows of a deleted table to the job."""
    engine.write(lambda tx: catalogue.discard(tx, layout.table_rows_prefix(number)))


def rows_of(engine: Engine, number: int) -> int:
    prefix = layout.table_rows_prefix(number)
    count = 0
    while engine.write(lambda tx: tx.clear(prefix, encoding.prefix_end(prefix), limit=1)):
        count += 1
    return count


def run(job: ReclaimSpace) -> None:
    for _ in range(1000):
        if job.step(0.0) == IDLE_SECONDS:
            return
    raise AssertionError("the job does not come to rest")


def test_a_damaged_table_does_not_keep_the_others_from_being_cleared(
    tmp_path: Path, log: io.StringIO
) -> None:
    engine = SqliteEngine.open(tmp_path)
    for number in (1, 2, 3):
        fill_table(engine, number)
    for number in (2, 3):
        discard_table(engine, number)
    engine.close()
    (page, *_) = pages_with(tmp_path, b"<table 2 row 0300>")
    flip(tmp_path / "hashrange.db", page * PAGE_BYTES + 5000)
    engine = SqliteEngine.open(tmp_path)
    job = ReclaimSpace(engine)
    run(job)
    run(job)
    assert rows_of(engine, 3) == 0
    assert log.getvalue().count("reclaim.damaged") == 1
    assert 'garbage="table number 2"' in log.getvalue()
    discard_table(engine, 1)
    run(job)
    assert rows_of(engine, 1) == 0
    engine.close()


def test_a_damaged_mark_still_says_what_is_to_be_cleared(tmp_path: Path, log: io.StringIO) -> None:
    engine = SqliteEngine.open(tmp_path)
    for number in (1, 2):
        fill_table(engine, number)
        discard_table(engine, number)
    engine.close()
    run_sql(tmp_path, "UPDATE rows SET v = x'00000001' WHERE k = ?", (layout.GARBAGE + b"\x10\0\0\0\1",))
    engine = SqliteEngine.open(tmp_path)
    run(ReclaimSpace(engine))
    assert [rows_of(engine, number) for number in (1, 2)] == [0, 0]
    assert engine.read(lambda reader: list(reader.scan(b"", b"\xff"))) == []
    assert "reclaim.damaged" not in log.getvalue()
    engine.close()


class NarrowEngine(MemoryEngine):
    """Has room for the log of a few rows and pages only."""

    rows_max = 7
    pages_max = 3

    def write(self, step: Callable[[Transaction], T]) -> T:
        return super().write(lambda tx: step(Narrow(tx, self.rows_max)))  # type: ignore[arg-type]

    def maintain(self, budget_pages: int) -> int:
        if budget_pages > self.pages_max:
            raise DiskFull("made up")
        return super().maintain(budget_pages)


class Narrow:
    """A transaction that finds the disk full when it clears too much."""

    def __init__(self, tx: Transaction, rows_max: int) -> None:
        self._tx = tx
        self._rows_max = rows_max
        self.put, self.delete, self.use_reserve = tx.put, tx.delete, tx.use_reserve

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        if limit > self._rows_max:
            raise DiskFull("made up")
        return self._tx.clear(start, end, limit=limit)


def test_a_full_disk_makes_the_chunks_smaller() -> None:
    engine = NarrowEngine()
    fill_table(engine, 1)
    discard_table(engine, 1)
    run(ReclaimSpace(engine))
    assert engine.read(lambda reader: list(reader.scan(b"", b"\xff"))) == []


def test_a_disk_without_room_for_one_row_is_the_supervisors_business() -> None:
    engine = NarrowEngine()
    fill_table(engine, 1)
    discard_table(engine, 1)
    engine.rows_max = 0
    with pytest.raises(DiskFull):
        run(ReclaimSpace(engine))
