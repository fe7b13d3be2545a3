"""Sequence numbers in the order of commits."""

from hashrange.storage.engine import Reader, Transaction

_BYTES = 8


def next_number(tx: Transaction, key: bytes) -> int:
    """The next number of the sequence kept in the row `key`; the first is 1.

    The row is read and written in the step's own transaction, so a step that gets a number has seen the commit of the
    number before it: no reader ever sees a number before a smaller one, and a step that fails leaves no gap.
    """
    number = last_number(tx, key) + 1
    tx.put(key, number.to_bytes(_BYTES, "big"))
    return number


def last_number(reader: Reader, key: bytes) -> int:
    """The last number of the sequence so far; 0 before the first."""
    return int.from_bytes(reader.get(key) or b"", "big")
