"""Asking a key service that speaks as AWS KMS does: few operations, each with a deadline. It waits for a network."""

import binascii
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from hashrange.admin import AdminFailed, Message, sent
from hashrange.core.schema import KeyState
from hashrange.kms.sizes import KEY_BYTES

_TARGET = "TrentService."
_OK = 200
_SERVER_ERROR = 500
_SECONDS = 5.0  # for a whole request
_ANSWER_BYTES_MAX = 65_536
_TEXT_CHARS_MAX = 400
_STATES: dict[str, KeyState] = {
    "DisabledException": "disabled",
    "KMSInvalidStateException": "pending",
    "NotFoundException": "missing",
    "InvalidArnException": "missing",
    "InvalidAliasNameException": "missing",
    "InvalidKeyUsageException": "unfit",
}
# These say nothing about the key; whoever sends them may answer the next time.
_PASSING = frozenset({"ThrottlingException", "LimitExceededException", "RequestLimitExceeded"})

T = TypeVar("T")


class KmsFailed(Exception):
    """The key service did not do it."""

    def __init__(self, state: KeyState, reason: str, key_arn: str = "") -> None:
        """`state` is what it means for the key, whose ARN may be known.

        The reason is the service's, or ours if there was no answer.
        """
        super().__init__(reason)
        self.key_arn = key_arn
        self.state: KeyState = state
        self.reason = reason


class KeyMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a key's description that counts."""

    arn: str = msgspec.field(name="Arn")
    key_state: str = msgspec.field(name="KeyState", default="Enabled")
    key_usage: str = msgspec.field(name="KeyUsage", default="ENCRYPT_DECRYPT")
    key_spec: str = msgspec.field(name="KeySpec", default="SYMMETRIC_DEFAULT")


class NewKey(NamedTuple):
    """A key that the service has made: as it is, and wrapped."""

    key_arn: str
    plaintext: bytes
    ciphertext: bytes

    def __repr__(self) -> str:
        return f"NewKey({self.key_arn!r})"


class _Described(msgspec.Struct, frozen=True, kw_only=True):
    metadata: KeyMetadata = msgspec.field(name="KeyMetadata")


class _Generated(msgspec.Struct, frozen=True, kw_only=True):
    plaintext: bytes = msgspec.field(name="Plaintext")
    ciphertext: bytes = msgspec.field(name="CiphertextBlob")


class _Decrypted(msgspec.Struct, frozen=True, kw_only=True):
    plaintext: bytes = msgspec.field(name="Plaintext")


class _Refused(msgspec.Struct, frozen=True, kw_only=True):
    code: str = msgspec.field(name="__type", default="")
    message: str = msgspec.field(name="message", default="")
    other_message: str = msgspec.field(name="Message", default="")


class KmsClient(NamedTuple):
    """A key service; requests are signed with the key that AWS's tools take from the environment."""

    endpoint: str
    region: str

    def usable_key(self, name: str) -> str:
        """The ARN of a key that data keys can be made under."""
        key = self._ask("DescribeKey", {"KeyId": name}, _Described).metadata
        match key.key_state:
            case "Enabled":
                pass
            case "PendingDeletion" | "PendingReplicaDeletion":
                raise KmsFailed("pending", f"{key.arn} is pending deletion.", key.arn)
            case _:
                raise KmsFailed("disabled", f"{key.arn} is disabled.", key.arn)
        if key.key_usage != "ENCRYPT_DECRYPT" or key.key_spec != "SYMMETRIC_DEFAULT":
            raise KmsFailed("unfit", f"{key.arn} is not a symmetric key that encrypts", key.arn)
        return key.arn

    def new_key(self, key_arn: str, context: Mapping[str, str]) -> NewKey:
        """A new key under a key of the service."""
        request = {"KeyId": key_arn, "KeySpec": "AES_256", "EncryptionContext": dict(context)}
        made = self._ask("GenerateDataKey", request, _Generated)
        if not made.ciphertext:
            raise KmsFailed("unreachable", "the answer has no wrapped key")
        return NewKey(key_arn, _checked(made.plaintext), made.ciphertext)

    def opened_key(self, key_arn: str, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """A key that the service has wrapped; it must be under this very key of the service."""
        request = {
            "KeyId": key_arn,
            "CiphertextBlob": b64encode(ciphertext).decode(),
            "EncryptionContext": dict(context),
        }
        return _checked(self._ask("Decrypt", request, _Decrypted).plaintext)

    def _ask(self, operation: str, request: Mapping[str, Any], shape: type[T]) -> T:
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": _TARGET + operation}
        body = msgspec.json.encode(request).decode()
        message = Message("POST", "/", body, service="kms", headers=headers, region=self.region)
        try:
            reply = sent(self.endpoint, message, seconds=_SECONDS, bytes_max=_ANSWER_BYTES_MAX)
        except AdminFailed as problem:
            raise KmsFailed("unreachable", str(problem)) from None
        if reply.status != _OK:
            raise _failure(operation, reply.status, reply.text)
        try:
            return msgspec.json.decode(reply.text, type=shape)
        except (msgspec.MsgspecError, binascii.Error):
            # Not what it was: it may hold a key.
            raise KmsFailed("unreachable", f"the answer to {operation} cannot be read") from None


def _failure(operation: str, status: int, text: str) -> KmsFailed:
    try:
        refused = msgspec.json.decode(text, type=_Refused)
    except msgspec.MsgspecError:
        return KmsFailed("unreachable", f"{operation} was answered with the status {status}")
    code = refused.code.rpartition("#")[2]
    message = refused.message or refused.other_message
    if status >= _SERVER_ERROR or code in _PASSING or not code:
        return KmsFailed("unreachable", f"{operation}: {code or status}"[:_TEXT_CHARS_MAX])
    # All else is about who asks, or about ciphertexts: the service does not tell these two apart either.
    state = _STATES.get(code, "denied")
    shown = message if state != "denied" and message else f"{operation}: {code}"
    return KmsFailed(state, "".join(filter(str.isprintable, shown))[:_TEXT_CHARS_MAX])


def _checked(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise KmsFailed("unreachable", "the answer has no key of 32 bytes")
    return key
