"""Walking over a table's items in chunks, for a backfill: the transaction of a chunk also saves the progress."""

import msgspec

from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Transaction

# Clients' writes wait while a chunk is written, some ten milliseconds.
_CHUNK_ITEMS = 200
_CHUNK_BYTES = 2 * 1024 * 1024


class Chunk(msgspec.Struct):
    """Some items in their stored form, by key."""

    items: dict[bytes, bytes]
    is_last: bool


def next_chunk(tx: Transaction, table_number: int, slot: int) -> Chunk:
    """Read the items that the backfill of a slot has not come to yet, and save that it has now."""
    base = layout.rows_prefix(table_number, layout.BASE_SLOT)
    progress_key = layout.backfill_key(table_number, slot)
    start = tx.get(progress_key) or base
    chunk = Chunk({}, is_last=True)
    chunk_bytes = 0
    row = b""
    for row, stored in tx.scan(start, encoding.prefix_end(base), limit=_CHUNK_ITEMS):
        chunk.items[row[len(base) :]] = stored
        chunk_bytes += len(stored)
        if chunk_bytes >= _CHUNK_BYTES:
            break
    if len(chunk.items) < _CHUNK_ITEMS and chunk_bytes < _CHUNK_BYTES:
        tx.delete(progress_key)
    else:
        tx.put(progress_key, row + b"\x00")
        chunk.is_last = False
    return chunk
