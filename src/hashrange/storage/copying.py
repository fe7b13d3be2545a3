"""Copying all data from one engine to another, in chunks that each remember where to go on, and checking it.

A chunk and the note of how far it came are one transaction on the target, so a copy that was interrupted goes
on where it stopped. When everything is there, both sides are read once more and compared; only then is the note
removed, and only then does a server start on the target.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import OpenError

_CHUNK_ROWS = 500
_CHUNK_BYTES = 4 * 1024 * 1024
_END = b"\xff" * 8  # behind every key of the layout
# What belongs to a place and not to the data.
_LEFT_OUT = (layout.LEASE, layout.MIGRATION)


class Copyable(Engine, Protocol):
    """An engine that can be copied whole."""

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""


class Progress(msgspec.Struct, frozen=True):
    """How far a copy has come."""

    source: str
    at: bytes
    rows: int


class Sum(msgspec.Struct, frozen=True):
    """What an engine holds: how many rows, and a digest of rows and counters."""

    rows: int
    digest: str


Report = Callable[[str, int], None]  # told what is being done, and with how many rows so far


class NotTheSame(OpenError):
    """Source and target differ although everything was copied."""


def copy(source: Copyable, target: Copyable, report: Report) -> Sum:
    """Copy everything, check it, and give what both sides hold now."""
    progress = target.read(stored_progress) or _begin(source, target)
    if progress.source != source.description:
        raise OpenError(f"{target.description} has an unfinished copy of something else: {progress.source}")
    while (further := _copy_chunk(source, target, progress)) is not None:
        progress = further
        report("copied", progress.rows)
    _copy_counters(source, target)
    expected = summed(source, lambda rows: report("read again", rows))
    found = summed(target, lambda rows: report("checked", rows))
    if found != expected:
        message = (
            f"the copy differs: {expected.rows} rows in {source.description}, {found.rows} in "
            f"{target.description}. If the source was in use since the copy began, empty the target and begin again"
        )
        raise NotTheSame(message)
    target.write(lambda tx: tx.delete(layout.MIGRATION))
    return found


def stored_progress(reader: Reader) -> Progress | None:
    """The note of a copy that is not complete."""
    stored = reader.get(layout.MIGRATION)
    return None if stored is None else msgspec.json.decode(stored, type=Progress)


def refuse_unfinished(engine: Engine) -> None:
    """Keep a server from starting on half the data."""
    progress = engine.read(stored_progress)
    if progress is not None:
        raise OpenError(f"the copy from {progress.source} is not complete: run `hashrange migrate` again")


def _begin(source: Copyable, target: Copyable) -> Progress:
    if target.read(lambda reader: next(_rows(reader, b""), None)) is not None or target.counters():
        raise OpenError(f"{target.description} is not empty")
    progress = Progress(source.description, b"", 0)
    target.write(lambda tx: _note(tx, progress))
    return progress


def _note(tx: Transaction, progress: Progress) -> None:
    tx.put(layout.MIGRATION, msgspec.json.encode(progress))


def _copy_chunk(source: Copyable, target: Copyable, progress: Progress) -> Progress | None:
    chunk = source.read(lambda reader: _chunk(reader, progress.at))
    if not chunk:
        return None
    further = Progress(progress.source, chunk[-1][0] + b"\0", progress.rows + len(chunk))

    def step(tx: Transaction) -> None:
        for key, value in chunk:
            tx.put(key, value)
        _note(tx, further)

    target.write(step)
    return further


def _chunk(reader: Reader, start: bytes) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in _rows(reader, start):
        found.append((key, value))
        size += len(value)
        if len(found) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
            break
    return found


def _rows(reader: Reader, start: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All rows from here on, without those that belong to a place."""
    return (row for row in reader.scan(start, _END) if not row[0].startswith(_LEFT_OUT))


def _copy_counters(source: Copyable, target: Copyable) -> None:
    """Bring the target's counters to the source's values; done twice, the second changes nothing."""
    wanted = dict(source.counters())

    def step(tx: Transaction) -> None:
        for key in wanted.keys() | there.keys():
            tx.add(key, wanted.get(key, 0) - there.get(key, 0))

    there = dict(target.counters())
    target.write(step)


def summed(engine: Copyable, seen: Callable[[int], None]) -> Sum:
    """Read everything and give its sum."""
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
        seen(rows)
    for key, number in engine.counters():
        digest.update(b"%d=%d:" % (len(key), number))
        digest.update(key)
    return Sum(rows, digest.hexdigest())
