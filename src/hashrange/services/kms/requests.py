"""What the operations that encrypt and decrypt check in common."""

from collections.abc import Mapping
from typing import NamedTuple

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, permitted, use
from hashrange.services.kms.structures import ALGORITHM, RecipientInfo
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import KmsKey, find_key

_CONTEXT_BYTES_MAX = 8192  # KMS Developer Guide: encryption context


def check(algorithm: str | None, encryption_context: Mapping[str, str] | None) -> None:
    """Refuse algorithms that symmetric keys do not have, and contexts without end."""
    if algorithm not in (None, ALGORITHM):
        raise ApiError(
            "InvalidKeyUsageException", f"Algorithm {algorithm} is incompatible with key spec {ALGORITHM}."
        )
    if encryption_context is None:
        return
    size_bytes = 0
    for name, value in encryption_context.items():
        try:
            size_bytes += len(name.encode()) + len(value.encode())
        except UnicodeEncodeError:
            raise errors.validation("An encryption context is text") from None
    if size_bytes > _CONTEXT_BYTES_MAX:
        raise errors.validation(f"An encryption context has at most {_CONTEXT_BYTES_MAX} bytes")


def refuse_recipient(recipient: RecipientInfo | None) -> None:
    """Refuse to answer an enclave."""
    if recipient:
        raise ApiError("UnsupportedOperationException", "Recipients are not supported")


def end_dry_run(dry_run: bool | None) -> None:
    """Tell a dry run that the request would have succeeded."""
    if dry_run:
        raise ApiError(
            "DryRunOperationException", "The request would have succeeded, but the DryRun option is set."
        )


def ciphertext_missing() -> ApiError:
    """ValidationException: there is nothing to decrypt."""
    return errors.validation(
        "1 validation error detected: Value null at 'ciphertextBlob' failed to satisfy constraint: "
        "Member must not be null"
    )


class Encrypted(NamedTuple):
    """A ciphertext and the encryption context that it was made with, if the request says the truth."""

    ciphertext: bytes
    encryption_context: Mapping[str, str] | None


def key_of(context: Context, reader: Reader, action: str, name: str | None, encrypted: Encrypted) -> KmsKey:
    """The key that a ciphertext was made with; one that the request names must be the same."""
    place, now = lookup.place_of(context), context.clock.now()
    key_id = use.head_of(encrypted.ciphertext).key_id
    if name is None:
        key = find_key(reader, place, key_id, now)
        if key is None:
            raise use.invalid_ciphertext()
        permitted.allowed(context, reader, action, key, encryption_context=encrypted.encryption_context)
    else:
        key = permitted.find(context, reader, action, name, encryption_context=encrypted.encryption_context)
    if key.id != key_id:
        raise ApiError(
            "IncorrectKeyException",
            "The key ID in the request does not identify a CMK that can perform this operation.",
        )
    use.refuse_unusable(place, key)
    return key
