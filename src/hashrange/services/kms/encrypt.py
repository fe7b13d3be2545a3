"""Encrypt: encrypt a few bytes under a key."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import requests
from hashrange.services.kms.structures import (
    ALGORITHM,
    Algorithm,
    EncryptionContext,
    GrantTokens,
    KeyId,
    Plaintext,
)
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import key_arn


class Encrypt(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    plaintext: Plaintext
    encryption_context: EncryptionContext | None = None
    grant_tokens: GrantTokens | None = None
    encryption_algorithm: Algorithm | None = None
    dry_run: bool | None = None


SHAPE = Shape(Encrypt)


class EncryptOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    ciphertext_blob: bytes
    key_id: str
    encryption_algorithm: str


def encrypt(context: Context, request: Encrypt) -> Plan:
    """The context is no secret, and is needed to decrypt."""
    requests.check(request.encryption_algorithm, request.encryption_context)
    vault, place = use.vault_of(context), lookup.place_of(context)

    def step(reader: Reader) -> Described:
        key = permitted.find(
            context, reader, "Encrypt", request.key_id, encryption_context=request.encryption_context
        )
        use.refuse_unusable(place, key)
        requests.end_dry_run(request.dry_run)
        return Described(
            EncryptOutput(
                ciphertext_blob=use.encrypt(vault, place, key, request.plaintext, request.encryption_context),
                key_id=key_arn(place, key.id),
                encryption_algorithm=ALGORITHM,
            )
        )

    return Read(step)
