"""Lines of a job's report on their way into files: written with what they report, in one transaction.

So a line is neither lost nor there twice after a crash. When enough lines wait, the job writes a file of them and
removes them; a file that was written, and whose lines were not removed, is written again under the same name.
"""

import msgspec

from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.job_rows import JobPlace

_NUMBER_BYTES = 8
_FILE_LINES = 1000
_FORGOTTEN_MAX = 5000  # more do not wait: the job fails when it cannot write its files
_FILE_BYTES = 4 * 1024 * 1024


class Report(msgspec.Struct, frozen=True):
    """How far a report is."""

    lines: int = 0
    files: int = 0  # that are finished
    waiting_lines: int = 0
    waiting_bytes: int = 0

    @property
    def is_due(self) -> bool:
        """Whether a file should be written now."""
        return self.waiting_lines >= _FILE_LINES or self.waiting_bytes >= _FILE_BYTES


class Batch(msgspec.Struct, frozen=True):
    """Lines for one file."""

    keys: list[bytes]
    lines: list[bytes]


def add(tx: Transaction, place: JobPlace, name: str, report: Report, lines: list[bytes]) -> Report:
    """Store lines; give the report with them."""
    prefix = _prefix(place, name)
    for number, line in enumerate(lines, report.lines):
        tx.put(prefix + number.to_bytes(_NUMBER_BYTES, "big"), line)
    return Report(
        report.lines + len(lines),
        report.files,
        report.waiting_lines + len(lines),
        report.waiting_bytes + sum(map(len, lines)),
    )


def waiting(reader: Reader, place: JobPlace, name: str) -> Batch:
    """The oldest lines that are in no file yet, as many as a file takes."""
    prefix = _prefix(place, name)
    batch = Batch([], [])
    size = 0
    for key, line in reader.scan(prefix, encoding.prefix_end(prefix), limit=_FILE_LINES):
        batch.keys.append(key)
        batch.lines.append(line)
        size += len(line)
        if size >= _FILE_BYTES:
            break
    return batch


def remove(tx: Transaction, report: Report, batch: Batch) -> Report:
    """Forget lines that are in a file now; give the report without them."""
    for key in batch.keys:
        tx.delete(key)
    return Report(
        report.lines,
        report.files + 1,
        report.waiting_lines - len(batch.lines),
        report.waiting_bytes - sum(map(len, batch.lines)),
    )


def forget(tx: Transaction, place: JobPlace) -> None:
    """Remove the lines of a job that never came into a file, because there was no bucket for them."""
    prefix = layout.REPORT + "\0".join((*place, "")).encode()
    tx.clear(prefix, encoding.prefix_end(prefix), limit=_FORGOTTEN_MAX)


def _prefix(place: JobPlace, name: str) -> bytes:
    return layout.REPORT + "\0".join((*place, name, "")).encode()
