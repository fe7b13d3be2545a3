"""Data keys: random bytes that clients encrypt with, and their ciphertext under a key."""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.protocol.plan import Read
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.services.kms import requests
from hashrange.services.kms.structures import DataKeySpec
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import key_arn

_SPEC_BYTES = {"AES_256": 32, "AES_128": 16}


class DataKey(NamedTuple):
    """A data key that was made."""

    plaintext: bytes
    ciphertext: bytes
    key_arn: str
    material_id: str


class Asking(Protocol):
    """What both operations have."""

    key_id: str
    encryption_context: dict[str, str] | None
    number_of_bytes: int | None
    key_spec: DataKeySpec | None
    dry_run: bool | None


def size_of(request: Asking) -> int:
    """How many bytes are wanted: exactly one member says so."""
    if (request.key_spec is None) == (request.number_of_bytes is None):
        raise errors.validation("Please specify either number of bytes or key spec.")
    return request.number_of_bytes or _SPEC_BYTES[str(request.key_spec)]


def generate(
    context: Context, request: Asking, action: str, size_bytes: int, answer: Callable[[DataKey], Response]
) -> Read:
    """Make a data key under the key that the request names."""
    encryption_context: Mapping[str, str] | None = request.encryption_context
    requests.check(None, encryption_context)
    vault, place = use.vault_of(context), lookup.place_of(context)

    def step(reader: Reader) -> Described:
        key = permitted.find(context, reader, action, request.key_id, encryption_context=encryption_context)
        use.refuse_unusable(place, key)
        requests.end_dry_run(request.dry_run)
        plaintext = os.urandom(size_bytes)
        ciphertext = use.encrypt(vault, place, key, plaintext, encryption_context)
        return Described(answer(DataKey(plaintext, ciphertext, key_arn(place, key.id), use.newest_id(key))))

    return Read(step)
