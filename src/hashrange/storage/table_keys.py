"""Under which key of the key service the data key of a table is.

A row says it, where it is not the service's own key. The engine that encrypts (storage/encrypting.py) acts on these
rows: when one is written it wraps the table's data key anew, when one is deleted it deletes the data key. Engines that
do not encrypt keep the rows as any others.
"""

from collections.abc import Iterator

import msgspec

from hashrange.core.keys.encoding import prefix_end
from hashrange.core.schema import Table
from hashrange.kms.table_key import SealedKey
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import Corrupt, KeyUnusable

_END = prefix_end(layout.TABLE_KEY)
_REMOVED = b""  # the table is gone, and its rows are to follow
_NUMBER_BYTES = 4


class TableKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the data key of a table is wrapped with, and for."""

    key_arn: str  # empty: the service's own
    table_name: str
    account_id: str
    ciphertext: bytes = b""  # of the table's own key, if another key service has wrapped it

    @property
    def sealed(self) -> SealedKey | None:
        """The table's own key; None if it is under a key of ours."""
        return (
            SealedKey(self.key_arn, self.ciphertext, self.table_name, self.account_id)
            if self.ciphertext
            else None
        )


def of_table(table: Table) -> TableKey:
    """What a table's record says."""
    return TableKey(table.sse_key or "", table.name, table.account_id, table.sse_table_key)


_decode = msgspec.json.Decoder(TableKey).decode


def row_key(number: int) -> bytes:
    """The key of a table's row."""
    return layout.TABLE_KEY + number.to_bytes(_NUMBER_BYTES, "big")


def decoded(stored: bytes) -> TableKey | None:
    """What a row says; None if the table is gone."""
    return None if stored == _REMOVED else _decode(stored)


def arrange(tx: Transaction, table: Table) -> None:
    """Have the data key of a table under the key that its record names."""
    key = row_key(table.number)
    stored = tx.get(key)
    if stored is None and table.sse_key is None:
        return
    wanted = msgspec.json.encode(of_table(table))
    if stored != wanted:
        tx.put(key, wanted)


def wrap_again(tx: Transaction, key_arn: str) -> None:
    """Have all data keys under a key wrapped with its newest material."""
    for key, stored in list(tx.scan(layout.TABLE_KEY, _END)):
        table_key = decoded(stored)
        if table_key is not None and table_key.key_arn == key_arn and table_key.sealed is None:
            tx.put(key, stored)


def abandon(tx: Transaction, number: int) -> None:
    """Note that a table is gone: its data key goes when nothing is left that is encrypted under it."""
    tx.put(row_key(number), _REMOVED)


def abandoned(reader: Reader) -> Iterator[bytes]:
    """The rows of tables that are gone, and of which nothing is left."""
    for key, stored in reader.scan(layout.TABLE_KEY, _END):
        if stored == _REMOVED and not _has_rows(reader, key[len(layout.TABLE_KEY) :]):
            yield key


def _has_rows(reader: Reader, number: bytes) -> bool:
    """Whether there is anything left that is encrypted under a table's data key."""
    try:
        return any(
            next(iter(reader.scan(prefix, prefix_end(prefix), limit=1)), None) is not None
            for prefix in (layout.ROWS + number, layout.LOG + number)
        )
    except (KeyUnusable, Corrupt):
        return True  # it cannot be read, but it is there
