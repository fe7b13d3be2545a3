"""GenerateDataKey: a new key to encrypt with elsewhere, in the clear and encrypted."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.kms import data_keys, requests
from hashrange.services.kms.data_keys import DataKey
from hashrange.services.kms.structures import (
    DataKeySpec,
    EncryptionContext,
    GrantTokens,
    KeyId,
    NumberOfBytes,
    RecipientInfo,
)


class GenerateDataKey(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    encryption_context: EncryptionContext | None = None
    number_of_bytes: NumberOfBytes | None = None
    key_spec: DataKeySpec | None = None
    grant_tokens: GrantTokens | None = None
    recipient: RecipientInfo | None = None
    dry_run: bool | None = None


SHAPE = Shape(GenerateDataKey)


class GenerateDataKeyOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    ciphertext_blob: bytes
    plaintext: bytes
    key_id: str
    key_material_id: str


def generate_data_key(context: Context, request: GenerateDataKey) -> Plan:
    """The server forgets it; Decrypt gives it back."""
    requests.refuse_recipient(request.recipient)
    size_bytes = data_keys.size_of(request)

    def answer(made: DataKey) -> GenerateDataKeyOutput:
        return GenerateDataKeyOutput(
            ciphertext_blob=made.ciphertext,
            plaintext=made.plaintext,
            key_id=made.key_arn,
            key_material_id=made.material_id,
        )

    return data_keys.generate(context, request, "GenerateDataKey", size_bytes, answer)
