"""Structures that the operations of the key service share."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from hashrange.api.keys import use
from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern, Violation
from hashrange.api.protocol.structures import Response, Structure
from hashrange.api.tables.description import timestamp
from hashrange.storage.key_rows import KmsKey, key_arn
from hashrange.storage.setting_rows import Place

ALGORITHM = "SYMMETRIC_DEFAULT"


@dataclass(frozen=True, slots=True)
class SizedBlob(kinds.Blob):
    """Base64 text whose bytes have a least and a greatest number; they are not shown in errors."""

    least: int = 1
    most: int = 2**31 - 1

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        size_bytes = len(base64.b64decode(value))
        if size_bytes < self.least:
            yield "***", path, f"Member must have length greater than or equal to {self.least}"
        if size_bytes > self.most:
            yield "***", path, f"Member must have length less than or equal to {self.most}"


_ALIAS = "^[a-zA-Z0-9:/_-]+$"
_POLICY = (r"[\u0009\u000A\u000D\u0020-\u00FF]+", "[\t\n\r\x20-\xff]+")
_MARKER = (r"[\u0020-\u00FF]*", "[\x20-\xff]*")
_POLICY_CHARS_MAX = 131_072

KeyId = Annotated[str, Meta(min_length=1, max_length=2048)]
AliasName = Annotated[
    str,
    Meta(min_length=1, max_length=256, pattern=r"\A[a-zA-Z0-9:/_-]+\Z"),
    kinds.Text(least=1, most=256, pattern=kinds.compiled(_ALIAS)),
]
Description = Annotated[str, Meta(max_length=8192)]
Policy = Annotated[
    str,
    Meta(min_length=1, max_length=_POLICY_CHARS_MAX, pattern=rf"\A{_POLICY[1]}\Z"),
    kinds.Text(least=1, most=_POLICY_CHARS_MAX, pattern=JavaPattern(*_POLICY)),
]
PolicyName = Annotated[
    str,
    Meta(min_length=1, max_length=128, pattern=r"\A\w+\Z"),
    kinds.Text(least=1, most=128, pattern=kinds.compiled(r"[\w]+")),
]
PageLimit = Annotated[int, Meta(ge=1, le=1000)]
Marker = Annotated[
    str,
    Meta(min_length=1, max_length=1024, pattern=rf"\A{_MARKER[1]}\Z"),
    kinds.Text(least=1, most=1024, pattern=JavaPattern(*_MARKER)),
]
Ciphertext = Annotated[bytes, Meta(min_length=1, max_length=6144), SizedBlob(least=1, most=6144)]
Plaintext = Annotated[bytes, Meta(min_length=1, max_length=4096), SizedBlob(least=1, most=4096)]
EncryptionContext = dict[str, str]
GrantTokens = Annotated[list[Annotated[str, Meta(min_length=1, max_length=8192)]], Meta(max_length=10)]
NumberOfBytes = Annotated[int, Meta(ge=1, le=1024)]
DataKeySpec = Literal["AES_256", "AES_128"]
KeyUsage = Literal["SIGN_VERIFY", "ENCRYPT_DECRYPT", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT"]
CustomerMasterKeySpec = Literal[
    "RSA_2048",
    "RSA_3072",
    "RSA_4096",
    "ECC_NIST_P256",
    "ECC_NIST_P384",
    "ECC_NIST_P521",
    "ECC_SECG_P256K1",
    "SYMMETRIC_DEFAULT",
    "HMAC_224",
    "HMAC_256",
    "HMAC_384",
    "HMAC_512",
    "SM2",
]
KeySpec = Literal[
    "RSA_2048",
    "RSA_3072",
    "RSA_4096",
    "ECC_NIST_P256",
    "ECC_NIST_P384",
    "ECC_NIST_P521",
    "ECC_SECG_P256K1",
    "SYMMETRIC_DEFAULT",
    "HMAC_224",
    "HMAC_256",
    "HMAC_384",
    "HMAC_512",
    "SM2",
    "ML_DSA_44",
    "ML_DSA_65",
    "ML_DSA_87",
]
Origin = Literal["AWS_KMS", "EXTERNAL", "AWS_CLOUDHSM", "EXTERNAL_KEY_STORE"]
Algorithm = Literal["SYMMETRIC_DEFAULT", "RSAES_OAEP_SHA_1", "RSAES_OAEP_SHA_256", "SM2PKE"]


class Tag(Structure, kw_only=True):
    """A tag, as this service spells it."""

    tag_key: Annotated[str, Meta(min_length=1, max_length=128)]
    tag_value: Annotated[str, Meta(max_length=256)]


class TagDescription(Response, kw_only=True, omit_defaults=False):
    """A tag in an answer."""

    tag_key: str
    tag_value: str


class KeyMetadata(Response, kw_only=True):
    """What everybody may know of a key."""

    aws_account_id: str = field(name="AWSAccountId")
    key_id: str
    arn: str
    creation_date: float
    enabled: bool
    description: str
    key_usage: str
    key_state: str
    deletion_date: float | None = None
    origin: str
    key_manager: str
    customer_master_key_spec: str
    key_spec: str
    encryption_algorithms: tuple[str, ...]
    multi_region: bool
    current_key_material_id: str


class RecipientInfo(Structure, kw_only=True):
    """An enclave that an answer is for; there are none here."""

    key_encryption_algorithm: Literal["RSAES_OAEP_SHA_256"] | None = None
    attestation_document: (
        Annotated[bytes, Meta(min_length=1, max_length=262_144), SizedBlob(most=262_144)] | None
    ) = None


class Nothing(Response, kw_only=True):
    """An answer without members."""


def state_of(key: KmsKey) -> str:
    """What a key's state is called."""
    if key.deletes_at is not None:
        return "PendingDeletion"
    return "Enabled" if key.enabled else "Disabled"


def metadata(place: Place, key: KmsKey) -> KeyMetadata:
    """What everybody may know of a key."""
    return KeyMetadata(
        aws_account_id=place.account_id,
        key_id=key.id,
        arn=key_arn(place, key.id),
        creation_date=timestamp(key.created_at),
        enabled=state_of(key) == "Enabled",
        description=key.description,
        key_usage="ENCRYPT_DECRYPT",
        key_state=state_of(key),
        deletion_date=None if key.deletes_at is None else timestamp(key.deletes_at),
        origin="AWS_KMS",
        key_manager=key.manager,
        customer_master_key_spec=ALGORITHM,
        key_spec=ALGORITHM,
        encryption_algorithms=(ALGORITHM,),
        multi_region=False,
        current_key_material_id=use.newest_id(key),
    )
