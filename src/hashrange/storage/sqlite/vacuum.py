"""Giving free pages back to the file system, a bounded bit at a time."""

from typing import cast

import apsw


def give_back(connection: apsw.Connection, budget_pages: int) -> int:
    """Shorten the file by at most `budget_pages` free pages; give how many it was."""
    # Only a counter that was used can be at zero, so the few that are get dropped here, not in commits.
    connection.execute("DELETE FROM counters WHERE n = 0")
    before = _free_pages(connection)
    if before and budget_pages > 0:
        connection.execute(f"PRAGMA incremental_vacuum({int(budget_pages)})").fetchall()
    return before - _free_pages(connection)


def _free_pages(connection: apsw.Connection) -> int:
    return cast("int", connection.execute("PRAGMA freelist_count").get)
