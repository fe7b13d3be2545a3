"""Holds: who reads the past of a table keeps its rows and its change log from being cleared away meanwhile.

A hold also switches the log on where nobody else wants one, so that a backup can read the table chunk by chunk while
writes go on. It outlives the table: the rows of a deleted one are cleared when the last hold is released.
"""

from collections.abc import Iterator

from hashrange.core.keys import encoding
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, change_log, layout
from hashrange.storage.engine import Reader, Transaction

_TIME_BYTES = 8


def hold(tx: Transaction, table: Table, holder: str, now: float, *, moment_us: int | None = None) -> int:
    """Keep the past of a table from a moment on; without one, from this very transaction on. Gives the moment.

    Whatever is committed later than this transaction is younger than the moment.
    """
    if not table.held:
        table = catalogue.save(tx, changed(table, held=True, version=table.version + 1), now)
    if moment_us is None:
        moment_us = max(change_log.microseconds(now), change_log.latest_time(tx, table))
    change_log.fence(tx, table, moment_us)
    tx.put(_key(table.number, holder), moment_us.to_bytes(_TIME_BYTES, "big"))
    return moment_us


def release(tx: Transaction, table: Table, holder: str, now: float) -> None:
    """Give up a hold; what was only kept for it can go."""
    tx.delete(_key(table.number, holder))
    if any(True for _ in held(tx, table.number)):
        return
    stored = catalogue.stored_table(tx, *catalogue.address(table))
    if stored is None or stored.number != table.number:
        catalogue.discard(tx, layout.table_rows_prefix(table.number))
    elif stored.held:
        catalogue.save(tx, changed(stored, held=False, version=stored.version + 1), now)


def held(reader: Reader, table_number: int) -> Iterator[int]:
    """The moments from which on the past of a table is kept."""
    prefix = layout.holds_prefix(table_number)
    for _, stored in reader.scan(prefix, encoding.prefix_end(prefix)):
        yield int.from_bytes(stored, "big")


def _key(table_number: int, holder: str) -> bytes:
    return layout.holds_prefix(table_number) + holder.encode()
