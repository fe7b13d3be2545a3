"""GenerateDataKeyWithoutPlaintext: a new key to encrypt with elsewhere, encrypted only."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.kms import data_keys
from hashrange.services.kms.data_keys import DataKey
from hashrange.services.kms.structures import (
    DataKeySpec,
    EncryptionContext,
    GrantTokens,
    KeyId,
    NumberOfBytes,
)


class GenerateDataKeyWithoutPlaintext(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    encryption_context: EncryptionContext | None = None
    key_spec: DataKeySpec | None = None
    number_of_bytes: NumberOfBytes | None = None
    grant_tokens: GrantTokens | None = None
    dry_run: bool | None = None


SHAPE = Shape(GenerateDataKeyWithoutPlaintext)


class GenerateDataKeyWithoutPlaintextOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    ciphertext_blob: bytes
    key_id: str
    key_material_id: str


def generate_data_key_without_plaintext(context: Context, request: GenerateDataKeyWithoutPlaintext) -> Plan:
    """Whoever is going to use it decrypts it."""
    size_bytes = data_keys.size_of(request)

    def answer(made: DataKey) -> GenerateDataKeyWithoutPlaintextOutput:
        return GenerateDataKeyWithoutPlaintextOutput(
            ciphertext_blob=made.ciphertext, key_id=made.key_arn, key_material_id=made.material_id
        )

    return data_keys.generate(context, request, "GenerateDataKeyWithoutPlaintext", size_bytes, answer)
