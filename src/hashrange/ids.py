"""Identifiers: request ids in the form the service uses, and random unique ids."""

import os
import uuid
from collections.abc import Iterator

REQUEST_ID_CHARS = 52
_IDS_PER_BLOCK = 256
_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUV"
_TO_ALPHABET = bytes(_ALPHABET[byte % 32] for byte in range(256))


def request_ids() -> Iterator[bytes]:
    """Give random request ids without end; one call for randomness serves a whole block of them."""
    while True:
        block = os.urandom(_IDS_PER_BLOCK * REQUEST_ID_CHARS).translate(_TO_ALPHABET)
        for start in range(0, len(block), REQUEST_ID_CHARS):
            yield block[start : start + REQUEST_ID_CHARS]


def unique_id() -> str:
    """Give a random UUID in its text form, as table and index ids have it."""
    return str(uuid.uuid4())
