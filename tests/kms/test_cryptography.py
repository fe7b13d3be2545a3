"""Encrypt, Decrypt, ReEncrypt and data keys, as boto3 calls them."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError


def refusal(call: Callable[..., Any], **parameters: Any) -> str:
    """The code of the error that a call ends with."""
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    return str(failure.value.response["Error"]["Code"])


def test_what_is_encrypted_comes_back(kms: Any, key: str) -> None:
    context = {"tenant": "one"}
    encrypted = kms.encrypt(KeyId=key, Plaintext=b"text", EncryptionContext=context)
    assert encrypted["KeyId"] == key
    assert encrypted["EncryptionAlgorithm"] == "SYMMETRIC_DEFAULT"
    assert b"text" not in encrypted["CiphertextBlob"]
    ciphertext = encrypted["CiphertextBlob"]
    decrypted = kms.decrypt(CiphertextBlob=ciphertext, EncryptionContext=context)
    assert (decrypted["Plaintext"], decrypted["KeyId"]) == (b"text", key)
    assert (
        kms.decrypt(CiphertextBlob=ciphertext, EncryptionContext=context, KeyId=key)["Plaintext"] == b"text"
    )
    assert refusal(kms.decrypt, CiphertextBlob=ciphertext) == "InvalidCiphertextException"
    other = kms.create_key()["KeyMetadata"]["KeyId"]
    assert refusal(kms.decrypt, CiphertextBlob=ciphertext, EncryptionContext=context, KeyId=other) == (
        "IncorrectKeyException"
    )


@pytest.mark.parametrize("changed", [0, 1, 16, 17, 20, 21, 40, -1])
def test_a_changed_ciphertext_is_invalid(kms: Any, key: str, changed: int) -> None:
    ciphertext = bytearray(kms.encrypt(KeyId=key, Plaintext=b"text")["CiphertextBlob"])
    ciphertext[changed] ^= 1
    assert refusal(kms.decrypt, CiphertextBlob=bytes(ciphertext)) == "InvalidCiphertextException"


def test_a_ciphertext_of_another_region_is_invalid(kms: Any, key: str, make_kms: Callable[..., Any]) -> None:
    ciphertext = kms.encrypt(KeyId=key, Plaintext=b"text")["CiphertextBlob"]
    elsewhere = make_kms(region=f"test-{uuid4().hex[:8]}-1")
    assert refusal(elsewhere.decrypt, CiphertextBlob=ciphertext) == "InvalidCiphertextException"


@pytest.mark.parametrize(("size", "fits"), [(0, False), (1, True), (4096, True), (4097, False)])
def test_a_plaintext_has_up_to_4096_bytes(kms: Any, key: str, size: int, *, fits: bool) -> None:
    if fits:
        ciphertext = kms.encrypt(KeyId=key, Plaintext=b"x" * size)["CiphertextBlob"]
        assert kms.decrypt(CiphertextBlob=ciphertext)["Plaintext"] == b"x" * size
    else:
        assert refusal(kms.encrypt, KeyId=key, Plaintext=b"x" * size) == "ValidationException"


def test_a_plaintext_is_not_repeated_in_an_error(kms: Any, key: str) -> None:
    with pytest.raises(ClientError) as failure:
        kms.encrypt(KeyId=key, Plaintext=b"secret" * 1000)
    assert "c2VjcmV0" not in str(failure.value)
    assert "less than or equal to 4096" in str(failure.value)


def test_what_is_no_ciphertext_is_invalid(kms: Any) -> None:
    assert refusal(kms.decrypt, CiphertextBlob=b"x") == "InvalidCiphertextException"
    assert refusal(kms.decrypt, CiphertextBlob=b"\x01" * 100) == "InvalidCiphertextException"
    assert refusal(kms.decrypt, CiphertextBlob=b"") == "ValidationException"
    assert refusal(kms.decrypt) == "ValidationException"


def test_a_ciphertext_is_encrypted_again_under_another_key(kms: Any, key: str) -> None:
    other = kms.create_key()["KeyMetadata"]["Arn"]
    ciphertext = kms.encrypt(KeyId=key, Plaintext=b"text", EncryptionContext={"a": "b"})["CiphertextBlob"]
    again = kms.re_encrypt(
        CiphertextBlob=ciphertext,
        SourceEncryptionContext={"a": "b"},
        DestinationKeyId=other,
        DestinationEncryptionContext={"c": "d"},
    )
    assert (again["SourceKeyId"], again["KeyId"]) == (key, other)
    decrypted = kms.decrypt(CiphertextBlob=again["CiphertextBlob"], EncryptionContext={"c": "d"})
    assert (decrypted["Plaintext"], decrypted["KeyId"]) == (b"text", other)


@pytest.mark.parametrize(
    ("members", "size"),
    [({"KeySpec": "AES_256"}, 32), ({"KeySpec": "AES_128"}, 16), ({"NumberOfBytes": 1024}, 1024)],
)
def test_a_data_key_comes_in_the_clear_and_encrypted(
    kms: Any, key: str, members: dict[str, Any], size: int
) -> None:
    made = kms.generate_data_key(KeyId=key, **members)
    assert len(made["Plaintext"]) == size
    assert kms.decrypt(CiphertextBlob=made["CiphertextBlob"])["Plaintext"] == made["Plaintext"]
    hidden = kms.generate_data_key_without_plaintext(KeyId=key, **members)
    assert "Plaintext" not in hidden
    assert len(kms.decrypt(CiphertextBlob=hidden["CiphertextBlob"])["Plaintext"]) == size


@pytest.mark.parametrize(
    "members", [{}, {"KeySpec": "AES_256", "NumberOfBytes": 32}, {"NumberOfBytes": 1025}]
)
def test_a_data_key_has_one_size(kms: Any, key: str, members: dict[str, Any]) -> None:
    assert refusal(kms.generate_data_key, KeyId=key, **members) == "ValidationException"


def test_a_dry_run_says_that_it_would_have_worked(kms: Any, key: str) -> None:
    assert refusal(kms.encrypt, KeyId=key, Plaintext=b"x", DryRun=True) == "DryRunOperationException"


def test_random_bytes(kms: Any) -> None:
    assert len(kms.generate_random(NumberOfBytes=16)["Plaintext"]) == 16
    assert refusal(kms.generate_random) == "ValidationException"


def test_algorithms_of_other_keys_are_refused(kms: Any, key: str) -> None:
    assert refusal(kms.encrypt, KeyId=key, Plaintext=b"x", EncryptionAlgorithm="RSAES_OAEP_SHA_1") == (
        "InvalidKeyUsageException"
    )


def test_an_encryption_context_has_an_end(kms: Any, key: str) -> None:
    assert refusal(kms.encrypt, KeyId=key, Plaintext=b"x", EncryptionContext={"a": "b" * 9000}) == (
        "ValidationException"
    )
