"""How far the backfill of an index has come, as its row says."""

import msgspec

from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction


class Progress(msgspec.Struct, frozen=True, array_like=True):
    """Where the items begin that may lack entries, and how much is done altogether."""

    start: bytes  # a row's key
    percent: float


_decode = msgspec.msgpack.Decoder(Progress).decode
_encode = msgspec.msgpack.Encoder().encode


def percent_at(row_key: bytes) -> float:
    """How much of a table is before a row: the key of an item begins with a hash."""
    start = row_key[layout.ROWS_PREFIX_BYTES :][:HASH_BYTES].ljust(HASH_BYTES, b"\0")
    return 100 * int.from_bytes(start, "big") / (1 << 64)


def read(reader: Reader, table_number: int, slot: int) -> Progress:
    """The progress; of a backfill that has not begun, that of its beginning."""
    stored = reader.get(layout.backfill_key(table_number, slot))
    if stored is None:
        return Progress(layout.rows_prefix(table_number, layout.BASE_SLOT), 0.0)
    if stored.startswith(layout.ROWS):  # until 0.1 this was all there was
        return Progress(stored, percent_at(stored))
    return _decode(stored)


def save(tx: Transaction, table_number: int, slot: int, progress: Progress) -> None:
    """Note the progress."""
    tx.put(layout.backfill_key(table_number, slot), _encode(progress))
