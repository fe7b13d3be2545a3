"""Data keys: every table has one for its rows, and the store one for all other rows.

They are kept in rows of their own, wrapped under the root key, or under a key of the key service if the table names
one. A key that is new is used by its own transaction only until its commit is known: if that failed, rows under the key
would be lost with it. Unwrapped keys are forgotten after a while, so that a key of the key service that was disabled or
deleted is noticed.
"""

import os

import msgspec

from hashrange.auth import arns
from hashrange.core.keys.encoding import prefix_end
from hashrange.kms import ciphertexts
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.row_cipher import RowCipher, Salt
from hashrange.kms.sizes import KEY_BYTES
from hashrange.kms.table_key import SealedKey, TableKeys, encryption_context
from hashrange.kms.vault import Vault
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import key_rows, layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import DamagedRow, KeyNeeded, KeyUnusable
from hashrange.storage.key_rows import KEYS, KmsKey
from hashrange.storage.root_key_record import NO_TABLE
from hashrange.storage.setting_rows import Place
from hashrange.storage.table_keys import TableKey

_PURPOSE = "data key"
STORE = NO_TABLE
_NUMBER = slice(1, 5)
# Rows whose keys have the number of a table behind the first byte, and whose contents are items. What rows held before
# (storage/past.py) is kept for seconds, and swept for all tables at once, which one table's key must not stop.
_OF_TABLES = frozenset((layout.ROWS[0], layout.LOG[0]))
# What has to be read before there is a key, the progress of a copy, which copies rows as they are, and leases, which
# commands hold that have no key.
_PLAIN = frozenset((layout.ROOT_KEY_CHECK[0], layout.MIGRATION[0], layout.LEASE[0]))


class DataKey(msgspec.Struct, frozen=True):
    """A wrapped data key."""

    wrapped: bytes
    key_arn: str = ""  # of the key of the key service; empty: it is under the root key
    context: dict[str, str] = {}
    table_key: SealedKey | None = None  # what it is wrapped with, if another key service has that


_decode = msgspec.msgpack.Decoder(DataKey).decode


def is_plain(key: bytes) -> bool:
    """Whether the row at this key is kept in the clear."""
    return not key or key[0] in _PLAIN


def number_of(key: bytes) -> bytes:
    """The number of the table under whose data key a row is."""
    return key[_NUMBER] if key[0] in _OF_TABLES else STORE


class DataKeys:
    """The ciphers of all tables whose keys this process has seen lately."""

    def __init__(
        self, root: Wrapping, *, checks_states: bool = True, table_keys: TableKeys | None = None
    ) -> None:
        """Unless it `checks_states`, keys of the key service open what is under them whatever their state is.

        `table_keys` has what another key service opens, if there is one.
        """
        self._root = root
        self._table_keys = table_keys
        self._sealed: dict[bytes, SealedKey] = {}  # what committed data keys are wrapped with
        self._vault = Vault(root)
        self._checks_states = checks_states
        self.known: dict[bytes, RowCipher] = {}  # committed ones only
        self._salts: dict[bytes, Salt] = {}
        self._known_since: dict[bytes, float] = {}

    def forget(self, now: float, life_seconds: float) -> None:
        """Forget the keys of tables that were unwrapped so long ago; to be called at intervals."""
        if self._table_keys is not None:
            self._table_keys.tick()
        since = self._known_since
        for number in list(self.known):
            if number == STORE:
                continue
            age_seconds = now - since.setdefault(number, now)
            if age_seconds >= life_seconds or self._is_withdrawn(number):
                self.known.pop(number, None)
                del since[number]

    def _is_withdrawn(self, number: bytes) -> bool:
        """Whether a table's own key is gone, which was opened before the data key under it was."""
        sealed = self._sealed.get(number)
        return sealed is not None and (self._table_keys is None or not self._table_keys.holds(sealed))

    def read(self, reader: Reader, stored: Reader, number: bytes) -> RowCipher | None:
        """The cipher whose key a snapshot or transaction has; `reader` opens what `stored` has."""
        data_key = self._stored(stored, number)
        if data_key is None:
            return None
        cipher = self._cipher(self._unwrapped(reader, data_key, number), number)
        if data_key.table_key is not None:
            self._sealed[number] = data_key.table_key
        else:
            self._sealed.pop(number, None)
        return cipher

    def make(self, tx: Transaction, number: bytes) -> RowCipher:
        """A new key, which is there when the transaction is committed."""
        rows = layout.ROWS + number
        if next(iter(tx.scan(rows, prefix_end(rows), limit=1)), None) is not None:
            # The key is lost, and with it these rows: another one would only hide that.
            raise DamagedRow(layout.DATA_KEY + number)
        key = os.urandom(KEY_BYTES)
        _save(tx, number, self._wrapped_by_root(key, number))
        return self._cipher(key, number)

    def wrap(self, reader: Reader, tx: Transaction, number: bytes, table_key: TableKey) -> RowCipher:
        """Wrap a table's data key anew, or the first time; the key itself stays the same."""
        before = self._stored(tx, number)
        key = os.urandom(KEY_BYTES) if before is None else self._unwrapped(reader, before, number)
        if table_key.sealed is not None:
            after = self._wrapped_by_table_key(key, number, table_key.sealed)
        elif table_key.key_arn:
            after = self._wrapped_by_service(reader, key, number, table_key)
        else:
            after = self._wrapped_by_root(key, number)
        _save(tx, number, after)
        return self._cipher(key, number)

    def remove(self, tx: Transaction, number: bytes) -> None:
        """Delete a data key: what is encrypted under it can never be read again."""
        tx.delete(layout.DATA_KEY + number)

    def _cipher(self, key: bytes, number: bytes) -> RowCipher:
        return RowCipher(key, self._salts.setdefault(number, Salt()))

    def _stored(self, stored: Reader, number: bytes) -> DataKey | None:
        key = layout.DATA_KEY + number
        row = stored.get(key)
        try:
            return None if row is None else _decode(row)
        except msgspec.MsgspecError:
            raise DamagedRow(key) from None

    def _unwrapped(self, reader: Reader, data_key: DataKey, number: bytes) -> bytes:
        try:
            if not data_key.key_arn:
                return self._root.unwrap(_PURPOSE, data_key.wrapped, number.hex())
            if data_key.table_key is not None:
                return self._wrapping(data_key.table_key).unwrap(_PURPOSE, data_key.wrapped, number.hex())
            head = ciphertexts.head_of(data_key.wrapped)
            place, key = self._usable(reader, data_key.key_arn)
            material = key_rows.material(place, key, head.material_number)
            if material is not None and data_key.context == {**data_key.context, **_context(number)}:
                return self._vault.decrypt(material, data_key.wrapped, data_key.context)
        except NotAuthentic:
            pass
        raise DamagedRow(layout.DATA_KEY + number) from None

    def _wrapped_by_root(self, key: bytes, number: bytes) -> DataKey:
        return DataKey(self._root.wrap(_PURPOSE, key, number.hex()))

    def _wrapped_by_table_key(self, key: bytes, number: bytes, sealed: SealedKey) -> DataKey:
        wrapped = self._wrapping(sealed).wrap(_PURPOSE, key, number.hex())
        return DataKey(wrapped, sealed.key_arn, table_key=sealed)

    def _wrapping(self, sealed: SealedKey) -> Wrapping:
        """What a table's own key does, if it is at hand: nobody waits for a network here."""
        found = "unreachable" if self._table_keys is None else self._table_keys.find(sealed)
        if isinstance(found, bytes):
            return Wrapping(found)
        if found is None:
            raise KeyNeeded(sealed)
        raise KeyUnusable(sealed.key_arn, found)

    def _wrapped_by_service(self, reader: Reader, key: bytes, number: bytes, table_key: TableKey) -> DataKey:
        place, kms_key = self._usable(reader, table_key.key_arn)
        context = {
            **encryption_context(table_key.table_name, table_key.account_id),
            **_context(number),
        }
        material = key_rows.material(place, kms_key)
        if material is None:
            raise KeyUnusable(table_key.key_arn, "missing")
        return DataKey(self._vault.encrypt(material, key, context), table_key.key_arn, context)

    def _usable(self, reader: Reader, key_arn: str) -> tuple[Place, KmsKey]:
        """The key of this ARN; raises `KeyUnusable` if it may not be used."""
        arn = arns.parsed(key_arn)
        if arn is None:
            raise KeyUnusable(key_arn, "missing")
        place = Place(arn.account_id, arn.region)
        key = KEYS.find(reader, place, arn.resource.removeprefix("key/"))
        state = key_rows.state_of(key)
        if key is None or (state is not None and self._checks_states):
            raise KeyUnusable(key_arn, state or "missing")
        return place, key


def _context(number: bytes) -> dict[str, str]:
    """What binds a wrapped key to its table, beside the pairs that the service has."""
    return {"hashrange:tableNumber": number.hex()}


def _save(tx: Transaction, number: bytes, data_key: DataKey) -> None:
    tx.put(layout.DATA_KEY + number, msgspec.msgpack.encode(data_key))


def rewrapped(number: bytes, stored: bytes, old: Wrapping, new: Wrapping) -> bytes:
    """The row of a data key, under another root key; raises `NotAuthentic`. One under a key of KMS stays as it is."""
    data_key = _decode(stored)
    if data_key.key_arn:
        return stored
    wrapped = new.wrap(_PURPOSE, old.unwrap(_PURPOSE, data_key.wrapped, number.hex()), number.hex())
    return msgspec.msgpack.encode(DataKey(wrapped))
