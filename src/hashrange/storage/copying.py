"""Copying all data from one engine to another in chunks, and comparing both by a checksum.

A chunk and the progress record are written in one transaction on the target, so an interrupted copy resumes where it
stopped. When everything is copied, both sides are read again and compared. Only then is the progress record deleted,
and only then does a server start on the target.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from hashrange.storage import clock_record, layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import OpenError

_CHUNK_ROWS = 500
_CHUNK_BYTES = 4 * 1024 * 1024
_END = b"\xff" * 8  # behind every key of the layout
# These belong to one engine and not to the data; of the clock only how far it was moved does.
_NOT_COPIED = (layout.LEASE, layout.MIGRATION, layout.CLOCK, layout.PAST, layout.CHARGES, layout.FAULTS)


class Copyable(Engine, Protocol):
    """An engine that can be copied whole."""

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""


class Progress(msgspec.Struct, frozen=True):
    """How far a copy has come."""

    source: str
    at: bytes
    rows: int


class Checksum(msgspec.Struct, frozen=True):
    """The number of rows in an engine, and a digest of its rows and counters."""

    rows: int
    digest: str


ReportProgress = Callable[[str, int], None]  # takes what is being done, and the number of rows so far


class CopyDiffers(OpenError):
    """Source and target differ although everything was copied."""


def copy(source: Copyable, target: Copyable, report: ReportProgress) -> Checksum:
    """Copy everything, compare both sides, and give their checksum."""
    progress = target.read(stored_progress) or begin(source.description, target)
    if progress.source != source.description:
        raise OpenError(f"{target.description} has an unfinished copy of something else: {progress.source}")
    while (progress_after := _copy_chunk(source, target, progress)) is not None:
        progress = progress_after
        report("copied", progress.rows)
    _copy_counters(source, target)
    expected = checksum(source, lambda rows: report("read again", rows))
    actual = checksum(target, lambda rows: report("checked", rows))
    if actual != expected:
        message = (
            f"the copy differs: {expected.rows} rows in {source.description}, {actual.rows} in "
            f"{target.description}. If the source was in use since the copy began, empty the target and begin again"
        )
        raise CopyDiffers(message)
    clock = source.read(clock_record.stored_record)

    def finish(tx: Transaction) -> None:
        if clock is not None:
            tx.put(layout.CLOCK, clock.encode())
        tx.delete(layout.MIGRATION)

    target.write(finish)
    return actual


def stored_progress(reader: Reader) -> Progress | None:
    """The progress of a copy that is not complete."""
    stored = reader.get(layout.MIGRATION)
    return None if stored is None else msgspec.json.decode(stored, type=Progress)


def refuse_unfinished(engine: Engine) -> None:
    """Raise if a copy into this engine is not complete: a server must not start on half the data."""
    progress = engine.read(stored_progress)
    if progress is not None:
        raise OpenError(
            f"the copy from {progress.source} is not complete: run the command that makes it again"
        )


def begin(source: str, target: Copyable) -> Progress:
    """Mark an empty engine as one that something is being copied into."""
    if target.read(lambda reader: next(_rows(reader, b""), None)) is not None or target.counters():
        raise OpenError(f"{target.description} is not empty")
    progress = Progress(source, b"", 0)
    target.write(lambda tx: _save_progress(tx, progress))
    return progress


def _save_progress(tx: Transaction, progress: Progress) -> None:
    tx.put(layout.MIGRATION, msgspec.json.encode(progress))


def _copy_chunk(source: Copyable, target: Copyable, progress: Progress) -> Progress | None:
    chunk = source.read(lambda reader: _chunk(reader, progress.at))
    if not chunk:
        return None
    progress_after = Progress(progress.source, chunk[-1][0] + b"\0", progress.rows + len(chunk))

    def step(tx: Transaction) -> None:
        for key, value in chunk:
            tx.put(key, value)
        _save_progress(tx, progress_after)

    target.write(step)
    return progress_after


def _chunk(reader: Reader, start: bytes) -> list[tuple[bytes, bytes]]:
    rows: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in _rows(reader, start):
        rows.append((key, value))
        size += len(value)
        if len(rows) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
            break
    return rows


def _rows(reader: Reader, start: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All rows from `start` on that are copied."""
    return (row for row in reader.scan(start, _END) if not row[0].startswith(_NOT_COPIED))


def _copy_counters(source: Copyable, target: Copyable) -> None:
    """Bring the target's counters to the source's values; idempotent."""
    expected = dict(source.counters())
    actual = dict(target.counters())

    def step(tx: Transaction) -> None:
        for key in expected.keys() | actual.keys():
            tx.add(key, expected.get(key, 0) - actual.get(key, 0))

    target.write(step)


def checksum(engine: Copyable, report: Callable[[int], None]) -> Checksum:
    """Read everything and give its checksum; `report` takes the number of rows so far."""
    digest = hashlib.sha256()
    rows = 0
    start = b""
    while chunk := engine.read(lambda reader, start=start: _chunk(reader, start)):  # type: ignore[misc]
        for key, value in chunk:
            digest.update(b"%d,%d:" % (len(key), len(value)))
            digest.update(key)
            digest.update(value)
        rows += len(chunk)
        start = chunk[-1][0] + b"\0"
        report(rows)
    for key, number in engine.counters():
        digest.update(b"%d=%d:" % (len(key), number))
        digest.update(key)
    return Checksum(rows, digest.hexdigest())
