"""The tables of a whole account at once, as test suites clear away what a test has left."""

from collections.abc import Sequence

from hashrange.core.schema import Table
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction


def remove_tables(tx: Transaction, tables: Sequence[Table], now: float) -> None:
    """Remove tables whatever their status and their protection, and keep no backup; a job clears their rows."""
    for table in tables:
        stored = catalogue.stored_table(tx, *catalogue.address(table))
        if stored is not None and stored.number == table.number:
            catalogue.remove(tx, stored, now)
