"""Tables that a job has filled: they open to their clients in one commit."""

from hashrange.core import partitions
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Transaction


def open_table(tx: Transaction, table: Table, now: float) -> None:
    """Make a table ACTIVE with its indexes, divided as its size asks for."""
    sizes = {index.name: store.size_bytes(tx, table, index) for index in table.global_indexes}
    ready = changed(
        partitions.grown(table, store.size_bytes(tx, table), sizes),
        status="ACTIVE",
        settles_at=now,
        indexes=tuple(changed(index, status="ACTIVE", settles_at=now) for index in table.indexes),
        restoring=None,
        version=table.version + 1,
    )
    catalogue.save(tx, ready, now)
