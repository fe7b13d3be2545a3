"""Decrypt: decrypt what Encrypt or GenerateDataKey encrypted."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, use
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.kms.ciphertexts import material_id
from hashrange.services.kms import requests
from hashrange.services.kms.structures import (
    ALGORITHM,
    Algorithm,
    Ciphertext,
    EncryptionContext,
    GrantTokens,
    KeyId,
    RecipientInfo,
)
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import key_arn


class Decrypt(Request, kw_only=True):
    """The request."""

    ciphertext_blob: Ciphertext | None = None
    encryption_context: EncryptionContext | None = None
    grant_tokens: GrantTokens | None = None
    key_id: KeyId | None = None
    encryption_algorithm: Algorithm | None = None
    recipient: RecipientInfo | None = None
    dry_run: bool | None = None


SHAPE = Shape(Decrypt)


class DecryptOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    key_id: str
    plaintext: bytes
    encryption_algorithm: str
    key_material_id: str


def decrypt(context: Context, request: Decrypt) -> Plan:
    """The ciphertext says under which key; a key that is named besides must be that one."""
    requests.check(request.encryption_algorithm, request.encryption_context)
    requests.refuse_recipient(request.recipient)
    vault, place = use.vault_of(context), lookup.place_of(context)
    if request.ciphertext_blob is None:
        raise requests.ciphertext_missing()
    ciphertext = request.ciphertext_blob

    def step(reader: Reader) -> Described:
        encrypted = requests.Encrypted(ciphertext, request.encryption_context)
        key = requests.key_of(context, reader, "Decrypt", request.key_id, encrypted)
        requests.end_dry_run(request.dry_run)
        plaintext, material = use.decrypt(vault, place, key, ciphertext, request.encryption_context)
        return Described(
            DecryptOutput(
                key_id=key_arn(place, key.id),
                plaintext=plaintext,
                encryption_algorithm=ALGORITHM,
                key_material_id=material_id(key.id, material.number),
            )
        )

    return Read(step)
