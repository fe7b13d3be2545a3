"""The record of the root key: which one the keys and secrets in this data hang on.

It has a value that is derived from the key, and nothing of the key itself. It is written with the first thing that is
under the key. Data that has the record is never opened without the key, because what it has encrypted could not be
read, and what is new would be written in the clear.
"""

import secrets

from hashrange.kms.key_id import key_id
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import OpenError

NO_TABLE = bytes(4)  # the number under which the key of all rows is that are no table's


def stored_check_value(reader: Reader) -> bytes | None:
    """What the root key is known by; None if nothing is under one."""
    return reader.get(layout.ROOT_KEY_CHECK)


def is_encrypted(reader: Reader) -> bool:
    """Whether this data was begun with a root key: its rows are encrypted then."""
    return reader.get(layout.DATA_KEY + NO_TABLE) is not None


def claim(tx: Transaction, check_value: bytes) -> None:
    """Note that something is under this root key from now on; raises if it is another than before."""
    stored = stored_check_value(tx)
    if stored is None:
        tx.put(layout.ROOT_KEY_CHECK, check_value)
    elif not secrets.compare_digest(stored, check_value):
        raise OpenError("the root key is not the one that the data was sealed with")


def check(engine: Engine, check_value: bytes | None, source: str) -> None:
    """Refuse to open data whose root key is missing, or another; `None`: there is no key."""
    compare(engine.read(stored_check_value), check_value, engine.description, source)


def compare(stored: bytes | None, check_value: bytes | None, place: str, source: str) -> None:
    """Refuse a root key that is not the one in the record."""
    if stored is None:
        return
    if check_value is None:
        raise OpenError(
            f"{place} holds what is encrypted under a root key, and there is none: name it with --root-key, or put its "
            "file back. If that key is lost, so is what is encrypted under it; a backup does not help without it"
        )
    if not secrets.compare_digest(stored, check_value):
        raise OpenError(
            f"the root key from {source} is not the one that {place} was encrypted under: use that one. Its id is "
            f"{key_id(stored)}, and this one's {key_id(check_value)} (`hashrange root-key id` tells it)"
        )
