"""A root key that is kept wrapped by another key service: `--root-key kms:PATH`.

The file has the ciphertext of the root key and says who can decrypt it: AWS KMS, or whatever speaks as it does, another
Hashrange among them. Requests are signed with the key that AWS's tools take from the environment. Without a word of
that service no server starts.
"""

import base64
import binascii
import os
from pathlib import Path
from typing import Any

import msgspec

from hashrange.admin import AdminFailed, Message, sent
from hashrange.kms.root_key import RootKey, RootKeyInvalid
from hashrange.kms.sizes import KEY_BYTES

_TARGET = "TrentService."
_CONTEXT = {"hashrange:purpose": "root key"}
_FILE_BYTES_MAX = 65_536
_OK = 200


class WrappedRootKey(msgspec.Struct, frozen=True, kw_only=True):
    """What the file has; none of it is a secret."""

    endpoint: str
    region: str
    key_id: str
    ciphertext: bytes


class _Generated(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the answer to GenerateDataKeyWithoutPlaintext that counts."""

    ciphertext: bytes = msgspec.field(name="CiphertextBlob")
    key_id: str = msgspec.field(name="KeyId")


class _Decrypted(msgspec.Struct, frozen=True, kw_only=True):
    plaintext: bytes = msgspec.field(name="Plaintext")


class _Refused(msgspec.Struct, frozen=True, kw_only=True):
    code: str = msgspec.field(name="__type", default="")


def create_file(path: Path, endpoint: str, region: str, key_id: str) -> str:
    """Have the service make a root key, and write it down as the service wraps it; gives the ARN of its key there."""
    answer = _ask(
        endpoint,
        region,
        "GenerateDataKeyWithoutPlaintext",
        {"KeyId": key_id, "KeySpec": "AES_256", "EncryptionContext": _CONTEXT},
    )
    made = _read(answer, _Generated, endpoint)
    wrapped = WrappedRootKey(endpoint=endpoint, region=region, key_id=made.key_id, ciphertext=made.ciphertext)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(wrapped) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RootKeyInvalid(f"the file {path} cannot be made: {error.strerror}") from None
    return wrapped.key_id


def load(path: Path) -> RootKey:
    """The root key, decrypted by the service that wrapped it."""
    try:
        with path.open("rb") as file:
            wrapped = msgspec.json.decode(file.read(_FILE_BYTES_MAX), type=WrappedRootKey)
    except OSError as error:
        raise RootKeyInvalid(f"the wrapped root key {path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError:
        raise RootKeyInvalid(
            f"{path} is no wrapped root key: `hashrange root-key create` makes one"
        ) from None
    request = {
        "CiphertextBlob": base64.b64encode(wrapped.ciphertext).decode(),
        "KeyId": wrapped.key_id,
        "EncryptionContext": _CONTEXT,
    }
    answer = _ask(wrapped.endpoint, wrapped.region, "Decrypt", request)
    key = _read(answer, _Decrypted, wrapped.endpoint).plaintext
    if len(key) != KEY_BYTES:
        raise RootKeyInvalid(f"{wrapped.endpoint} gave no root key: it has {len(key)} bytes")
    return RootKey(key, f"{wrapped.key_id} of {wrapped.endpoint}")


def _ask(endpoint: str, region: str, operation: str, request: dict[str, Any]) -> str:
    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": _TARGET + operation}
    body = msgspec.json.encode(request).decode()
    try:
        reply = sent(endpoint, Message("POST", "/", body, service="kms", headers=headers, region=region))
    except AdminFailed as problem:
        raise RootKeyInvalid(f"the root key cannot be decrypted: {problem}") from None
    if reply.status != _OK:
        try:
            code = msgspec.json.decode(reply.text, type=_Refused).code.rpartition("#")[2]
        except msgspec.MsgspecError:
            code = ""
        raise RootKeyInvalid(f"{endpoint} refused {operation}: {code or reply.status}")
    return reply.text


def _read(answer: str, shape: type[Any], endpoint: str) -> Any:
    try:
        return msgspec.json.decode(answer, type=shape)
    except (msgspec.MsgspecError, binascii.Error):
        # Not what it was: it may hold the key.
        raise RootKeyInvalid(f"what {endpoint} answered cannot be read") from None
