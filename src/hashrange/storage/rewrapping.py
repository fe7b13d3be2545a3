"""Rotating the root key: all that is wrapped under it is wrapped under another one, in one transaction.

No item is written. Data keys, key material and secrets stay what they are, so whoever has the old root key and an old
copy of the data can still read that copy.
"""

import msgspec

from hashrange.core.keys.encoding import prefix_end
from hashrange.core.schema import changed
from hashrange.kms import vault
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.file_seals import RootFileSeals
from hashrange.kms.interface import Material
from hashrange.kms.root_key import RootKey
from hashrange.kms.sealing import ACCESS_KEYS, NotSealed, Seal, check_value
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import data_keys, identity_rows, layout, root_key_record
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.data_keys import DataKeys
from hashrange.storage.encrypting import EncryptedTransaction
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Corrupt
from hashrange.storage.export_rows import EXPORTS
from hashrange.storage.key_rows import KEYS, key_arn, save_key


class Rewrapped(msgspec.Struct):
    """How many of each are under the new key now."""

    data_keys: int = 0
    key_material: int = 0
    secrets: int = 0
    unfinished_backups: int = 0
    unfinished_exports: int = 0


class RootKeyChange:
    """A change from one root key to another."""

    def __init__(self, old: RootKey, new: RootKey) -> None:
        self._old, self._new = Wrapping(old.reveal()), Wrapping(new.reveal())
        self._old_secrets, self._new_secrets = Seal(old, ACCESS_KEYS), Seal(new, ACCESS_KEYS)
        self._old_files = RootFileSeals(old, seals_new=False)
        self._new_files = RootFileSeals(new, seals_new=False)
        self._check_value = check_value(new)

    def step(self, tx: Transaction) -> Rewrapped:
        """Change everything; `tx` is of the engine itself, which knows nothing of encryption."""
        is_encrypted = root_key_record.is_encrypted(tx)
        opened = EncryptedTransaction(tx, DataKeys(self._old)) if is_encrypted else tx
        done = Rewrapped()
        try:
            self._change_material(opened, done)
            self._change_secrets(opened, done)
            self._change_backups(opened, done)
            self._change_exports(opened, done)
            # The last: what is above is read under the old ones.
            self._change_data_keys(tx, done)
        except (NotAuthentic, NotSealed):
            raise Corrupt(
                "something that should be under the root key is not: `hashrange verify` says what is damaged. Nothing "
                "was changed"
            ) from None
        tx.put(layout.ROOT_KEY_CHECK, self._check_value)
        return done

    def _change_material(self, tx: Transaction, done: Rewrapped) -> None:
        for place, key_id, key in list(KEYS.everywhere(tx)):
            arn = key_arn(place, key_id)
            materials = tuple(
                changed(
                    one,
                    wrapped=vault.rewrapped(Material(arn, one.number, one.wrapped), self._old, self._new),
                )
                for one in key.materials
            )
            save_key(tx, place, changed(key, materials=materials))
            done.key_material += len(materials)

    def _change_secrets(self, tx: Transaction, done: Rewrapped) -> None:
        for place, row_id, key in list(identity_rows.ACCESS_KEYS.everywhere(tx)):
            label = key.id.encode()
            sealed = self._new_secrets.seal(self._old_secrets.open(key.sealed, label), label)
            identity_rows.ACCESS_KEYS.save(tx, place, row_id, changed(key, sealed=sealed))
            done.secrets += 1

    def _change_backups(self, tx: Transaction, done: Rewrapped) -> None:
        for place, backup in list(BACKUPS.everywhere(tx)):
            if backup.keys:
                BACKUPS.save(tx, place, changed(backup, keys=self._file_keys(backup.keys)), active=True)
                done.unfinished_backups += 1

    def _change_exports(self, tx: Transaction, done: Rewrapped) -> None:
        for place, export in list(EXPORTS.everywhere(tx)):
            if export.keys:
                EXPORTS.save(tx, place, changed(export, keys=self._file_keys(export.keys)), active=True)
                done.unfinished_exports += 1

    def _file_keys(self, keys: dict[str, bytes]) -> dict[str, bytes]:
        new_id = self._new_files.key_id
        return {new_id: self._old_files.shared_with(self._new_files, keys)[new_id]}

    def _change_data_keys(self, tx: Transaction, done: Rewrapped) -> None:
        for key, stored in list(tx.scan(layout.DATA_KEY, prefix_end(layout.DATA_KEY))):
            number = key[len(layout.DATA_KEY) :]
            tx.put(key, data_keys.rewrapped(number, stored, self._old, self._new))
            done.data_keys += 1
