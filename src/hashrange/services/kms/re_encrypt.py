"""ReEncrypt: decrypt and encrypt again under another key or context; the plaintext stays here."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted, use
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
)
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import key_arn


class ReEncrypt(Request, kw_only=True):
    """The request."""

    ciphertext_blob: Ciphertext | None = None
    source_encryption_context: EncryptionContext | None = None
    source_key_id: KeyId | None = None
    destination_key_id: KeyId
    destination_encryption_context: EncryptionContext | None = None
    source_encryption_algorithm: Algorithm | None = None
    destination_encryption_algorithm: Algorithm | None = None
    grant_tokens: GrantTokens | None = None
    dry_run: bool | None = None


SHAPE = Shape(ReEncrypt)


class ReEncryptOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    ciphertext_blob: bytes
    source_key_id: str
    key_id: str
    source_encryption_algorithm: str
    destination_encryption_algorithm: str
    source_key_material_id: str
    destination_key_material_id: str


def re_encrypt(context: Context, request: ReEncrypt) -> Plan:
    """Both keys must be usable."""
    requests.check(request.source_encryption_algorithm, request.source_encryption_context)
    requests.check(request.destination_encryption_algorithm, request.destination_encryption_context)
    vault, place = use.vault_of(context), lookup.place_of(context)
    if request.ciphertext_blob is None:
        raise requests.ciphertext_missing()
    ciphertext = request.ciphertext_blob

    def step(reader: Reader) -> Described:
        source = requests.key_of(
            context,
            reader,
            "ReEncryptFrom",
            request.source_key_id,
            requests.Encrypted(ciphertext, request.source_encryption_context),
        )
        key = permitted.find(
            context,
            reader,
            "ReEncryptTo",
            request.destination_key_id,
            encryption_context=request.destination_encryption_context,
        )
        use.refuse_unusable(place, key)
        requests.end_dry_run(request.dry_run)
        plaintext, material = use.decrypt(vault, place, source, ciphertext, request.source_encryption_context)
        return Described(
            ReEncryptOutput(
                ciphertext_blob=use.encrypt(
                    vault, place, key, plaintext, request.destination_encryption_context
                ),
                source_key_id=key_arn(place, source.id),
                key_id=key_arn(place, key.id),
                source_encryption_algorithm=ALGORITHM,
                destination_encryption_algorithm=ALGORITHM,
                source_key_material_id=material_id(source.id, material.number),
                destination_key_material_id=use.newest_id(key),
            )
        )

    return Read(step)
