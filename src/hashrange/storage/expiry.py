"""Expiry rows: the index by which TTL finds expired items, oldest first.

While TTL is on, every item that can expire has one row: the second of its expiry (8 bytes) and the item's key, with an
empty value, under a slot of the table. A write keeps it up to date in its own transaction. Each time TTL is switched on
it takes a new slot, so switching it off is to discard one prefix.
"""

from collections.abc import Iterator

from hashrange.core.expiry import ExpiryWindow, expiry_second
from hashrange.core.mutation import Outcome
from hashrange.core.schema import TimeToLive
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

_SECOND_BYTES = 8


def row_key(table_number: int, slot: int, second: int, item_key: bytes) -> bytes:
    """The expiry row of an item."""
    return layout.rows_prefix(table_number, slot) + second.to_bytes(_SECOND_BYTES, "big") + item_key


def split_row_key(row: bytes) -> tuple[int, bytes]:
    """The second and the item's key in the key of an expiry row."""
    behind = layout.ROWS_PREFIX_BYTES + _SECOND_BYTES
    return int.from_bytes(row[layout.ROWS_PREFIX_BYTES : behind], "big"), row[behind:]


def write(tx: Transaction, table_number: int, ttl: TimeToLive, outcome: Outcome) -> None:
    """Bring an item's expiry row up to date with a write."""
    old_item, new_item = outcome.before_item, outcome.after
    old = None if old_item is None else expiry_second(old_item, ttl.attribute)
    new = None if new_item is None else expiry_second(new_item, ttl.attribute)
    if old == new:
        # The row may be missing during a backfill, which is then still to come to this item.
        return
    if old is not None:
        tx.delete(row_key(table_number, ttl.slot, old, outcome.key))
    if new is not None:
        tx.put(row_key(table_number, ttl.slot, new, outcome.key), b"")


def expired_rows(
    reader: Reader, table_number: int, slot: int, window: ExpiryWindow, *, behind: bytes = b"", limit: int
) -> Iterator[bytes]:
    """The first expiry rows in a window, of those behind a row."""
    # Before the epoch, which a test's clock may show, nothing expires.
    start = row_key(table_number, slot, max(window.oldest, 0), b"")
    end = row_key(table_number, slot, max(window.end, 0), b"")
    return (row for row, _ in reader.scan(max(start, behind + b"\0"), end, limit=limit))
