"""What the operations that encrypt and decrypt check in common."""

from collections.abc import Mapping

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, use
from hashrange.services.kms.structures import ALGORITHM, RecipientInfo
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import KmsKey, find_key
from hashrange.storage.setting_rows import Place

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


def key_of(reader: Reader, place: Place, ciphertext: bytes, name: str | None, now: float) -> KmsKey:
    """The key that a ciphertext was made with; one that the request names must be the same."""
    key_id = use.head_of(ciphertext).key_id
    key = find_key(reader, place, key_id, now) if name is None else lookup.find(reader, place, name, now)
    if key is None:
        raise use.invalid_ciphertext()
    if key.id != key_id:
        raise ApiError(
            "IncorrectKeyException",
            "The key ID in the request does not identify a CMK that can perform this operation.",
        )
    use.refuse_unusable(place, key)
    return key
