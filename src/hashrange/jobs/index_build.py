"""One index being filled: rounds of reading items, sorting their entries, and writing these in the order of the index.

Entries in the order of the table would each go to another page of the index, and cost a page in the log and one in the
file. Items are read outside of write transactions; what keeps stale entries out is in `_write_chunk`. The reasons and
figures are in docs/design/051-building-indexes.md.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import partial

from hashrange.capacity.series import Place, series_name
from hashrange.core import capacity, indexes, items, plain_items
from hashrange.core.expressions.partial_json import attribute_decoder
from hashrange.core.keys import encoding
from hashrange.core.schema import Index, Table, changed
from hashrange.core.values import Item
from hashrange.storage import backfill_rows, catalogue, layout, metric_rows
from hashrange.storage.backfill_rows import Progress, percent_at
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.sorted_runs import SortedRuns, packed, unpacked

# What one step reads, in some milliseconds: other jobs have their turns in between.
_SLICE_ITEMS = 512
_SLICE_BYTES = 1024 * 1024
# A round that a killed server was at is begun anew.
_ROUND_BYTES = 512 * 1024 * 1024  # of entries, in a scratch file
_ROUND_SECONDS = 300.0  # of reading
# Clients' writes wait while a chunk is written: for its step, for as long again until the rows are in the database, and
# for the disk, which takes its time whatever the size of a chunk is.
_CHUNK_SECONDS = 0.007  # of its step
_CHUNK_ENTRIES_MIN = 200
_CHUNK_ENTRIES_MAX = 2000
_CHUNK_BYTES = 1024 * 1024

MakeRow = Callable[[bytes, bytes], bytes | None]
"""Gives the packed entry of an item by its key and stored form; None if it has none."""


class IndexBuild:
    """A backfill under way in this process: where the next round begins is in its row, everything else is here."""

    def __init__(self, engine: Engine, table: Table, index: Index) -> None:
        self._engine = engine
        self._table = table
        self._index = index
        self._make_row = _row_maker(table, index)
        self._entries_max = _CHUNK_ENTRIES_MIN
        self._round: _Round | None = None

    @property
    def slot(self) -> tuple[int, int]:
        """The table's number and the index's slot."""
        return self._table.number, self._index.slot

    def close(self) -> None:
        """Forget the round."""
        if self._round is not None:
            self._round.runs.close()
            self._round = None

    def advance(self, now: float) -> bool:
        """Read some items or write some entries; true if the table's record may be another one now."""
        if self._round is None:
            progress = self._engine.read(lambda reader: backfill_rows.read(reader, *self.slot))
            runs = SortedRuns(self._engine.directory, encrypted=self._engine.encrypted)
            self._round = _Round(progress.start, runs)
        if self._round.is_reading:
            self._read(self._round)
            return False
        return self._write(self._round, now)

    def _read(self, this: "_Round") -> None:
        rows, end = self._engine.read(partial(_read_rows, start=this.end, make_row=self._make_row))
        with self._closing_on_error():
            this.add(rows, end)

    def _write(self, this: "_Round", now: float) -> bool:
        with self._closing_on_error():
            chunk = this.chunk(self._entries_max)
        write = partial(
            _write_chunk,
            planned=self._table,
            planned_index=self._index,
            chunk=chunk,
            progress=this.progress,
            now=now,
        )

        def timed(tx: Transaction) -> tuple[bool, float]:
            began = time.monotonic()
            return write(tx), time.monotonic() - began

        is_changed, seconds = self._engine.write(timed)
        this.count_written()
        self._adapt(len(chunk), seconds)
        if this.is_over or is_changed:
            self.close()
        return is_changed

    @contextlib.contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        """Begin the round anew if its scratch file fails: nobody knows what is in it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _adapt(self, entries: int, seconds: float) -> None:
        """Choose the size of the next chunk: beside clients one takes longer, and the next one is smaller."""
        if entries:
            fitting = min(int(entries * _CHUNK_SECONDS / max(seconds, 1e-6)), _CHUNK_ENTRIES_MAX)
            # Half of the way: one chunk that had to wait says little of the next.
            self._entries_max = max(_CHUNK_ENTRIES_MIN, (self._entries_max + fitting) // 2)


class _Round:
    """A part of the table, whose entries are read, and then written."""

    def __init__(self, start: bytes, runs: SortedRuns) -> None:
        self.runs = runs
        self.end = start  # of what was read
        self.is_reading = True
        self.is_over = False
        self._start = start
        self._is_last = False
        self._read_until = time.monotonic() + _ROUND_SECONDS
        self._merged: Iterator[bytes] = iter(())
        self._chunk: list[bytes] | None = None  # that is being written, maybe for the second time
        self._written = 0

    def add(self, rows: list[bytes], end: bytes | None) -> None:
        """Take the entries of items up to a row's key, or of all that were left."""
        self.runs.add(rows)
        self.end = end or self.end
        self._is_last = end is None
        if self._is_last or self.runs.size >= _ROUND_BYTES or time.monotonic() > self._read_until:
            self.is_reading = False
            self._merged = self.runs.merged()

    def chunk(self, entries_max: int) -> list[bytes]:
        """The entries that are to be written next; the last chunk may be empty."""
        if self._chunk is None:
            self._chunk = []
            size = 0
            for row in self._merged:
                self._chunk.append(row)
                size += len(row)
                if len(self._chunk) >= entries_max or size >= _CHUNK_BYTES:
                    break
            self.is_over = self._written + len(self._chunk) == self.runs.count
        return self._chunk

    @property
    def progress(self) -> Progress | None:
        """How far the backfill has come with the chunk; None if that is all."""
        if self.is_over:
            return None if self._is_last else Progress(self.end, percent_at(self.end))
        before = percent_at(self._start)
        after = 100.0 if self._is_last else percent_at(self.end)
        return Progress(self._start, before + (after - before) * self._written / self.runs.count)

    def count_written(self) -> None:
        """Go on to the next chunk."""
        self._written += len(self._chunk or ())
        self._chunk = None


def _read_rows(reader: Reader, *, start: bytes, make_row: MakeRow) -> tuple[list[bytes], bytes | None]:
    """The packed entries of the next items, and where the rest begins; None if there is none."""
    rows: list[bytes] = []
    end = encoding.prefix_end(start[: layout.ROWS_PREFIX_BYTES])
    count = size = 0
    key = b""
    for key, stored in reader.scan(start, end, limit=_SLICE_ITEMS):
        row = make_row(key[layout.ROWS_PREFIX_BYTES :], stored)
        if row is not None:
            rows.append(row)
        count += 1
        size += len(stored)
        if size >= _SLICE_BYTES:
            break
    is_last = count < _SLICE_ITEMS and size < _SLICE_BYTES
    return rows, None if is_last else key + b"\0"


def _row_maker(table: Table, index: Index) -> MakeRow:
    """What makes the entries of an index. Only what they carry is decoded."""
    names = indexes.projected_names(table, index)
    if names is None:
        return partial(_whole_row, index)
    return partial(_projected_row, index, names, attribute_decoder(names))


def _whole_row(index: Index, base_key: bytes, stored: bytes) -> bytes | None:
    key = indexes.entry_key(index, items.decode(stored), base_key)
    return None if key is None else packed(key, stored)


def _projected_row(
    index: Index, names: frozenset[str], decode: Callable[[bytes], Item], base_key: bytes, stored: bytes
) -> bytes | None:
    is_large = len(stored) > items.LARGE_BYTES
    item = items.decode(stored) if is_large else decode(items.stored_json(stored))
    key = indexes.entry_key(index, item, base_key)
    if key is None:
        return None
    if not item.keys() <= names:
        item = {name: value for name, value in item.items() if name in names}
    size, json = plain_items.measured(item)
    return packed(key, items.encode(item, size, items.stored_time(stored), json))


def _write_chunk(
    tx: Transaction,
    *,
    planned: Table,
    planned_index: Index,
    chunk: list[bytes],
    progress: Progress | None,
    now: float,
) -> bool:
    """Write entries; true if the table's record is not the planned one any more, by this step or before it."""
    table = catalogue.stored_table(tx, *catalogue.address(planned))
    index = None if table is None else table.index_by_name.get(planned_index.name)
    if table is None or index is None or table.number != planned.number:
        return True
    if index.slot != planned_index.slot or not index.backfilling:
        return True
    _write_entries(tx, table, index, dict(map(unpacked, chunk)), now)
    if progress is not None:
        backfill_rows.save(tx, table.number, index.slot, progress)
        return False
    tx.delete(layout.backfill_key(table.number, index.slot))
    catalogue.discard(tx, layout.removed_entries_prefix(table.number, index.slot))
    ready = changed(index, backfilling=False, status="ACTIVE")
    indexes_after = tuple(ready if other.slot == index.slot else other for other in table.indexes)
    catalogue.save(tx, changed(table, indexes=indexes_after, version=table.version + 1), now)
    return True


def _write_entries(
    tx: Transaction, table: Table, index: Index, entries: dict[bytes, bytes], now: float
) -> None:
    """Write the entries that no write has been about since their items were read.

    Such a write, which knows the index, has left either a row, which is newer, or the mark of a removed entry.
    """
    if not entries:
        return
    prefix = layout.rows_prefix(table.number, index.slot)
    removed = _removed(tx, table, index, entries)
    tx.prefetch([prefix + key for key in entries])  # behind the scan, which forgets what was read ahead
    count = size = units = 0
    for key, stored in entries.items():
        entry_size = items.stored_size(stored)
        units += capacity.write_units(entry_size)
        if key not in removed and tx.get(prefix + key) is None:
            tx.put(prefix + key, stored)
            count += 1
            size += entry_size
    if count:
        tx.add(layout.count_key(table.number, index.slot), count)
        tx.add(layout.size_key(table.number, index.slot), size)
    name = series_name("OnlineIndexConsumedWriteCapacity", {"GlobalSecondaryIndexName": index.name})
    metric_rows.add_samples(tx, Place(*catalogue.address(table)), now, {name: float(units)})


def _removed(tx: Transaction, table: Table, index: Index, entries: dict[bytes, bytes]) -> set[bytes]:
    marks = layout.removed_entries_prefix(table.number, index.slot)
    rows = tx.scan(marks + min(entries), marks + max(entries) + b"\0")
    return {key[len(marks) :] for key, _ in rows}
