"""Incremental vacuum: returning free pages to the file system, a bounded number at a time."""

from collections.abc import Iterable
from typing import cast

import apsw

from hashrange.storage.checksums import counter_complement
from hashrange.storage.errors import DiskFull
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.group import Remedy


def incremental_vacuum(connection: apsw.Connection, pages_max: int) -> int:
    """Shorten the file by at most `pages_max` free pages; give how many it was."""
    # Commits leave counters at zero behind, because looking for them there would cost every write.
    zeros = connection.execute("SELECT k, complement FROM counters WHERE n = 0").fetchall()
    for key, complement in cast("list[tuple[bytes, int]]", zeros):
        if complement == counter_complement(key, 0):  # or else it is damaged, and not zero
            connection.execute("DELETE FROM counters WHERE k = ?", (key,))
    before = _free_pages(connection)
    if before and pages_max > 0:
        connection.execute(f"PRAGMA incremental_vacuum({int(pages_max)})").fetchall()
    return before - _free_pages(connection)


def vacuum_full_disk(connection: apsw.Connection, pages_max: int, remedies: Iterable[Remedy]) -> int:
    """Do the same on a disk that may be full: the log needs room for the pages that are moved."""
    for remedy in remedies:
        try:
            return incremental_vacuum(connection, pages_max)
        except apsw.Error as error:
            if not isinstance(translate(error), DiskFull):
                raise
            remedy()
    return incremental_vacuum(connection, pages_max)


def _free_pages(connection: apsw.Connection) -> int:
    return cast("int", connection.execute("PRAGMA freelist_count").get)
