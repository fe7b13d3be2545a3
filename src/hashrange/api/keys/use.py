"""Using keys: which states let one be used, and what it encrypts and decrypts."""

from collections.abc import Mapping

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.kms import ciphertexts
from hashrange.kms.ciphertexts import material_id
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.interface import KeyVault, Material
from hashrange.kms.root_key import RootKeyInvalid
from hashrange.storage.key_rows import KmsKey, StoredMaterial, key_arn
from hashrange.storage.setting_rows import Place


def vault_of(context: Context) -> KeyVault:
    """Who holds the root key; without one there are no keys."""
    try:
        if context.vault is not None:
            return context.vault.opened()
        problem = "this server has no keys"
    except RootKeyInvalid as invalid:
        problem = str(invalid)
    raise ApiError("UnsupportedOperationException", problem)


def refuse_pending(place: Place, key: KmsKey) -> None:
    """Refuse what cannot be done to a key that is pending deletion."""
    if key.deletes_at is not None:
        raise ApiError("KMSInvalidStateException", f"{key_arn(place, key.id)} is pending deletion.")


def refuse_unusable(place: Place, key: KmsKey) -> None:
    """Refuse a key that is disabled or pending deletion."""
    refuse_pending(place, key)
    if not key.enabled:
        raise ApiError("DisabledException", f"{key_arn(place, key.id)} is disabled.")


def refuse_managed(place: Place, key: KmsKey, action: str) -> None:
    """Refuse what only a service does to the keys that it manages."""
    if key.manager == "AWS":
        raise ApiError(
            "AccessDeniedException",
            f"Not authorized to perform: kms:{action} on resource: {key_arn(place, key.id)}, which AWS manages",
        )


def newest(key: KmsKey) -> StoredMaterial:
    """What a key encrypts with."""
    return key.materials[-1]


def newest_id(key: KmsKey) -> str:
    """The id of what a key encrypts with."""
    return material_id(key.id, newest(key).number)


def encrypt(
    vault: KeyVault, place: Place, key: KmsKey, plaintext: bytes, context: Mapping[str, str] | None
) -> bytes:
    """The ciphertext under a key."""
    return vault.encrypt(_material(place, key, newest(key)), plaintext, context or {})


def decrypt(
    vault: KeyVault, place: Place, key: KmsKey, ciphertext: bytes, context: Mapping[str, str] | None
) -> tuple[bytes, StoredMaterial]:
    """The plaintext, and the material it was encrypted with."""
    number = head_of(ciphertext).material_number
    stored = next((material for material in key.materials if material.number == number), None)
    if stored is None:
        raise invalid_ciphertext()
    try:
        return vault.decrypt(_material(place, key, stored), ciphertext, context or {}), stored
    except NotAuthentic:
        raise invalid_ciphertext() from None


def head_of(ciphertext: bytes) -> ciphertexts.Head:
    """Whose ciphertext it is."""
    try:
        return ciphertexts.head_of(ciphertext)
    except NotAuthentic:
        raise invalid_ciphertext() from None


def invalid_ciphertext() -> ApiError:
    """InvalidCiphertextException, which says nothing more."""
    return ApiError("InvalidCiphertextException", None)


def _material(place: Place, key: KmsKey, stored: StoredMaterial) -> Material:
    return Material(key_arn(place, key.id), stored.number, stored.wrapped)
