"""Data keys: every table has one for its rows, and the store one for all other rows.

They are kept wrapped under the root key, in rows of their own. A key that is new is used by its own transaction only
until its commit is known: if that failed, rows under the key would be lost with it.
"""

import os

from hashrange.core.keys.encoding import prefix_end
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.row_cipher import RowCipher
from hashrange.kms.sizes import KEY_BYTES
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import DamagedRow
from hashrange.storage.root_key_record import NO_TABLE

_PURPOSE = "data key"
STORE = NO_TABLE
_NUMBER = slice(1, 5)
_PAST_NUMBER = slice(2, 6)
# Rows whose keys have the number of a table behind the first byte, and whose contents are the table's.
_OF_TABLES = frozenset(
    prefix[0]
    for prefix in (
        *(layout.ROWS, layout.LOG, layout.LOG_HEAD, layout.LOG_SHARD, layout.BACKFILL),
        *(layout.HOLD, layout.HEAT, layout.INSIGHT),
    )
)
_PAST = layout.PAST[0]
# What has to be read before there is a key, the progress of a copy, which copies rows as they are, and leases, which
# commands hold that have no key.
_PLAIN = frozenset(prefix[0] for prefix in (layout.ROOT_KEY_CHECK, layout.MIGRATION, layout.LEASE))


def is_plain(key: bytes) -> bool:
    """Whether the row at this key is kept in the clear."""
    return not key or key[0] in _PLAIN


def number_of(key: bytes) -> bytes:
    """The number of the table under whose data key a row is."""
    kind = key[0]
    if kind in _OF_TABLES:
        return key[_NUMBER]
    if kind == _PAST:
        return key[_PAST_NUMBER] if len(key) > 1 and key[1] in _OF_TABLES else STORE
    return STORE


class DataKeys:
    """The ciphers of all tables whose keys this process has seen."""

    def __init__(self, wrapping: Wrapping) -> None:
        self._wrapping = wrapping
        self.known: dict[bytes, RowCipher] = {}  # committed ones only

    def read(self, stored: Reader, number: bytes) -> RowCipher | None:
        """The cipher whose key a snapshot or transaction has."""
        key = layout.DATA_KEY + number
        wrapped = stored.get(key)
        if wrapped is None:
            return None
        try:
            return RowCipher(self._wrapping.unwrap(_PURPOSE, wrapped, number.hex()))
        except NotAuthentic:
            raise DamagedRow(key) from None

    def make(self, tx: Transaction, number: bytes) -> RowCipher:
        """A new key, which is there when the transaction is committed."""
        rows = layout.ROWS + number
        if next(iter(tx.scan(rows, prefix_end(rows), limit=1)), None) is not None:
            # The key is lost, and with it these rows: another one would only hide that.
            raise DamagedRow(layout.DATA_KEY + number)
        key = os.urandom(KEY_BYTES)
        tx.put(layout.DATA_KEY + number, self._wrapping.wrap(_PURPOSE, key, number.hex()))
        return RowCipher(key)


def rewrapped(number: bytes, stored: bytes, old: Wrapping, new: Wrapping) -> bytes:
    """The row of a data key, under another root key; raises `NotAuthentic`."""
    return new.wrap(_PURPOSE, old.unwrap(_PURPOSE, stored, number.hex()), number.hex())
