"""An external merge sort: more rows than memory should hold, given back in the order of their keys.

Rows are gathered, sorted and written to a scratch file as runs, which are merged in the end. A row is one piece of
bytes (its key, its value, the length of the key), because a list of such sorts several times as fast as one of pairs.
So the order is that of keys, except where one key is the beginning of another: whoever sorts rows to write neighbours
together does not mind.
"""

import heapq
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from struct import Struct
from typing import cast

import msgspec

from hashrange.storage.scratch import ScratchFile

RUN_BYTES = 8 * 1024 * 1024  # sorted in memory at once
_BLOCK_BYTES = 64 * 1024  # of a run in memory while runs are merged
_ROW_BYTES = 48  # what Python needs to hold a row, besides its bytes
_KEY_LENGTH = Struct(">H")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[bytes]).decode


def packed(key: bytes, value: bytes) -> bytes:
    """A row as it is sorted."""
    return key + value + _KEY_LENGTH.pack(len(key))


def unpacked(row: bytes) -> tuple[bytes, bytes]:
    """The key and the value of a row."""
    (length,) = _KEY_LENGTH.unpack_from(row, len(row) - _KEY_LENGTH.size)
    return row[:length], row[length : -_KEY_LENGTH.size]


class SortedRuns:
    """Packed rows on their way. Nothing is written to the disk before the first run is full."""

    def __init__(self, directory: Path | None, *, encrypted: bool) -> None:
        self._directory = directory
        self._encrypted = encrypted
        self._file: ScratchFile | None = None
        self._runs: list[range] = []  # the numbers of the blocks of each run
        self._rows: list[bytes] = []
        self._rows_bytes = 0
        self.count = 0
        self.size = 0  # bytes of all rows

    def add(self, rows: list[bytes]) -> None:
        """Take some rows, which are sorted in place."""
        rows.sort()  # sorting all of a run finds them in order, and holds Python's lock for a shorter time
        self._rows += rows
        size = sum(map(len, rows))
        self._rows_bytes += size + _ROW_BYTES * len(rows)
        self.count += len(rows)
        self.size += size
        if self._rows_bytes >= RUN_BYTES:
            self._write_run()

    def merged(self) -> Iterator[bytes]:
        """All rows in order; none may be added any more."""
        self._rows.sort()
        if self._file is None:
            return iter(self._rows)
        return heapq.merge(self._rows, *map(partial(_read_run, self._file), self._runs))

    def close(self) -> None:
        """Give the space back."""
        if self._file is not None:
            self._file.close()

    def _write_run(self) -> None:
        if self._file is None:
            self._file = ScratchFile(
                self._directory,
                "CREATE TABLE blocks(id INTEGER PRIMARY KEY, v BLOB)",
                encrypted=self._encrypted,
            )
        self._rows.sort()
        first = number = self._runs[-1].stop if self._runs else 0
        for block in _blocks(self._rows):
            stored = self._file.stored(_block_key(number), _encode(block))
            self._file.write([("INSERT INTO blocks VALUES (?, ?)", [(number, stored)])])
            number += 1
        self._runs.append(range(first, number))
        self._rows, self._rows_bytes = [], 0


def _read_run(file: ScratchFile, numbers: range) -> Iterator[bytes]:
    for number in numbers:
        ((stored,),) = file.rows("SELECT v FROM blocks WHERE id = ?", (number,))
        yield from _decode(cast("bytes", file.opened(_block_key(number), cast("bytes", stored))))


def _block_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _blocks(rows: list[bytes]) -> Iterator[list[bytes]]:
    """Cut rows into blocks of about one size."""
    start, size = 0, 0
    for at, row in enumerate(rows):
        if size + len(row) > _BLOCK_BYTES and at > start:
            yield rows[start:at]
            start, size = at, 0
        size += len(row)
    if start < len(rows):
        yield rows[start:]
