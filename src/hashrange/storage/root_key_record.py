"""The record of the root key: which one the keys and secrets in this data hang on.

It has the fingerprint of the key and nothing of the key itself. Data that has the record is never opened without the
key, because what it has encrypted could not be read, and what is new would be written in the clear.
"""

from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import OpenError

NO_TABLE = bytes(4)  # the number under which the key of all rows is that are no table's


def stored_fingerprint(reader: Reader) -> bytes | None:
    """The fingerprint of the root key; None if this data was never opened with one."""
    return reader.get(layout.ROOT_KEY)


def is_encrypted(reader: Reader) -> bool:
    """Whether this data was begun with a root key: its rows are encrypted then."""
    return reader.get(layout.DATA_KEY + NO_TABLE) is not None


def agree(engine: Engine, fingerprint: bytes | None) -> None:
    """See at the start that the root key is the one of this data; the first one becomes it."""
    stored = engine.read(stored_fingerprint)
    if stored is None and fingerprint is not None:
        stored = engine.write(lambda tx: _decide(tx, fingerprint))
    if stored == fingerprint:
        return
    place = engine.description
    if fingerprint is None:
        raise OpenError(
            f"the data in {place} is encrypted under a root key: start with --root-key. If that key is lost, so is "
            "what is encrypted under it; a backup does not help without it"
        )
    raise OpenError(
        f"the data in {place} is encrypted under another root key than the one that --root-key gives: "
        f"the fingerprints are {stored.hex() if stored else 'none'} and {fingerprint.hex()}"
    )


def _decide(tx: Transaction, fingerprint: bytes) -> bytes:
    stored = stored_fingerprint(tx)
    if stored is None:
        tx.put(layout.ROOT_KEY, fingerprint)
        return fingerprint
    return stored
