"""Keys: making, describing, listing, disabling, deleting, tagging, rotating; and what is refused."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from hashrange.kms.key_source import KeySource
from hashrange.kms.lazy_vault import LazyVault
from hashrange.kms.root_key import RootKeyInvalid
from serving import Serving, serving


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Code and message of the error that a call ends with."""
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_new_key_is_symmetric_enabled_and_the_customers(kms: Any) -> None:
    made = kms.create_key(Description="for tests", Tags=[{"TagKey": "a", "TagValue": "b"}])["KeyMetadata"]
    assert made["Arn"] == f"arn:aws:kms:us-east-1:000000000000:key/{made['KeyId']}"
    assert isinstance(made.pop("CreationDate"), datetime)
    assert len(made.pop("CurrentKeyMaterialId")) == 64
    assert made == {
        "AWSAccountId": "000000000000",
        "KeyId": made["KeyId"],
        "Arn": made["Arn"],
        "Enabled": True,
        "Description": "for tests",
        "KeyUsage": "ENCRYPT_DECRYPT",
        "KeyState": "Enabled",
        "Origin": "AWS_KMS",
        "KeyManager": "CUSTOMER",
        "CustomerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "KeySpec": "SYMMETRIC_DEFAULT",
        "EncryptionAlgorithms": ["SYMMETRIC_DEFAULT"],
        "MultiRegion": False,
    }
    assert kms.list_resource_tags(KeyId=made["KeyId"])["Tags"] == [{"TagKey": "a", "TagValue": "b"}]


@pytest.mark.parametrize(
    "members",
    [
        {"KeySpec": "RSA_2048", "KeyUsage": "ENCRYPT_DECRYPT"},
        {"KeyUsage": "SIGN_VERIFY"},
        {"Origin": "EXTERNAL"},
        {"MultiRegion": True},
        {"CustomKeyStoreId": "cks-1"},
    ],
)
def test_other_keys_are_not_offered(kms: Any, members: dict[str, Any]) -> None:
    assert refusal(kms.create_key, **members)[0] == "UnsupportedOperationException"


def test_a_key_is_found_by_id_arn_alias_and_alias_arn(kms: Any, key: str) -> None:
    alias = f"alias/{uuid4().hex}"
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    key_id = key.rpartition("/")[2]
    for name in (key, key_id, alias, f"arn:aws:kms:us-east-1:000000000000:{alias}"):
        assert kms.describe_key(KeyId=name)["KeyMetadata"]["Arn"] == key


def test_keys_that_are_not_there(kms: Any) -> None:
    missing = str(uuid4())
    arn = f"arn:aws:kms:us-east-1:000000000000:key/{missing}"
    not_found = "NotFoundException"
    assert refusal(kms.describe_key, KeyId=missing) == (not_found, f"Key '{arn}' does not exist")
    assert refusal(kms.describe_key, KeyId=arn) == (not_found, f"Key '{arn}' does not exist")
    assert refusal(kms.describe_key, KeyId="what") == (not_found, "Invalid keyId 'what'")
    assert refusal(kms.describe_key, KeyId="alias/none") == (
        not_found,
        "Alias arn:aws:kms:us-east-1:000000000000:alias/none is not found.",
    )
    elsewhere = arn.replace("us-east-1", "eu-west-1")
    assert refusal(kms.describe_key, KeyId=elsewhere) == (not_found, "Invalid arn eu-west-1")
    assert refusal(kms.describe_key, KeyId="arn:aws:s3:::bucket")[0] == "InvalidArnException"
    assert refusal(kms.describe_key)[0] == "ValidationException"


def test_keys_belong_to_a_region(make_kms: Callable[..., Any], key: str) -> None:
    elsewhere = make_kms(region=f"test-{uuid4().hex[:8]}-1")
    assert elsewhere.list_keys()["Keys"] == []
    assert refusal(elsewhere.describe_key, KeyId=key.rpartition("/")[2])[0] == "NotFoundException"


def test_keys_and_aliases_are_listed_by_pages(make_kms: Callable[..., Any]) -> None:
    kms = make_kms(region=f"test-{uuid4().hex[:8]}-1")
    made = sorted(kms.create_key()["KeyMetadata"]["KeyId"] for _ in range(5))
    for number, key_id in enumerate(made):
        kms.create_alias(AliasName=f"alias/n{number}", TargetKeyId=key_id)
    pages = list(kms.get_paginator("list_keys").paginate(PaginationConfig={"PageSize": 2}))
    assert [len(page["Keys"]) for page in pages] == [2, 2, 1]
    assert [key["KeyId"] for page in pages for key in page["Keys"]] == made
    assert [page["Truncated"] for page in pages] == [True, True, False]
    aliases = kms.get_paginator("list_aliases").paginate(PaginationConfig={"PageSize": 2})
    assert [one["TargetKeyId"] for page in aliases for one in page["Aliases"]] == made
    assert [one["AliasName"] for one in kms.list_aliases(KeyId=made[3])["Aliases"]] == ["alias/n3"]
    assert refusal(kms.list_keys, Marker="!")[0] == "InvalidMarkerException"


def test_aliases(kms: Any, key: str) -> None:
    alias, other = f"alias/{uuid4().hex}", kms.create_key()["KeyMetadata"]["Arn"]
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    arn = f"arn:aws:kms:us-east-1:000000000000:{alias}"
    assert refusal(kms.create_alias, AliasName=alias, TargetKeyId=other) == (
        "AlreadyExistsException",
        f"An alias with the name {arn} already exists",
    )
    kms.update_alias(AliasName=alias, TargetKeyId=other)
    assert kms.describe_key(KeyId=alias)["KeyMetadata"]["Arn"] == other
    kms.delete_alias(AliasName=alias)
    for call, more in ((kms.delete_alias, {}), (kms.update_alias, {"TargetKeyId": key})):
        assert refusal(call, AliasName=alias, **more) == ("NotFoundException", f"Alias {arn} is not found.")
    assert refusal(kms.create_alias, AliasName="name", TargetKeyId=key)[0] == "ValidationException"
    assert refusal(kms.create_alias, AliasName="alias/aws/x", TargetKeyId=key)[0] == "NotAuthorizedException"
    assert refusal(kms.create_alias, AliasName="alias/a:b", TargetKeyId=key)[0] == "InvalidAliasNameException"
    assert refusal(kms.create_alias, AliasName="alias/a b", TargetKeyId=key)[0] == "ValidationException"


def test_a_disabled_key_is_not_used_until_it_is_enabled(kms: Any, key: str) -> None:
    ciphertext = kms.encrypt(KeyId=key, Plaintext=b"text")["CiphertextBlob"]
    kms.disable_key(KeyId=key)
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Disabled"
    disabled = ("DisabledException", f"{key} is disabled.")
    assert refusal(kms.encrypt, KeyId=key, Plaintext=b"text") == disabled
    assert refusal(kms.decrypt, CiphertextBlob=ciphertext) == disabled
    assert refusal(kms.generate_data_key, KeyId=key, KeySpec="AES_256") == disabled
    assert refusal(kms.enable_key_rotation, KeyId=key) == disabled
    kms.enable_key(KeyId=key)
    assert kms.decrypt(CiphertextBlob=ciphertext)["Plaintext"] == b"text"


def test_a_key_that_is_pending_deletion_can_be_saved_and_is_disabled_then(kms: Any, key: str) -> None:
    answer = kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
    assert answer["KeyId"] == key
    assert answer["KeyState"] == "PendingDeletion"
    assert answer["PendingWindowInDays"] == 7
    assert 6.9 < (answer["DeletionDate"] - datetime.now(UTC)).total_seconds() / 86_400 < 7.1
    described = kms.describe_key(KeyId=key)["KeyMetadata"]
    assert described["KeyState"] == "PendingDeletion"
    assert described["DeletionDate"] == answer["DeletionDate"]
    assert described["Enabled"] is False
    pending = ("KMSInvalidStateException", f"{key} is pending deletion.")
    assert refusal(kms.encrypt, KeyId=key, Plaintext=b"text") == pending
    assert refusal(kms.enable_key, KeyId=key) == pending
    assert refusal(kms.schedule_key_deletion, KeyId=key) == pending
    assert kms.cancel_key_deletion(KeyId=key)["KeyId"] == key
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Disabled"
    assert refusal(kms.cancel_key_deletion, KeyId=key)[0] == "KMSInvalidStateException"


@pytest.mark.parametrize("days", [1, 6, 31, 365])
def test_the_waiting_period_is_seven_to_thirty_days(kms: Any, key: str, days: int) -> None:
    assert refusal(kms.schedule_key_deletion, KeyId=key, PendingWindowInDays=days)[0] == "ValidationException"


def test_tags(kms: Any, key: str) -> None:
    kms.tag_resource(KeyId=key, Tags=[{"TagKey": f"k{n}", "TagValue": "v"} for n in range(50)])
    assert refusal(kms.tag_resource, KeyId=key, Tags=[{"TagKey": "more", "TagValue": ""}])[0] == (
        "LimitExceededException"
    )
    kms.untag_resource(KeyId=key, TagKeys=[f"k{n}" for n in range(49)] + ["none"])
    assert kms.list_resource_tags(KeyId=key)["Tags"] == [{"TagKey": "k49", "TagValue": "v"}]
    assert refusal(kms.tag_resource, KeyId=key, Tags=[{"TagKey": "aws:x", "TagValue": ""}]) == (
        "TagException",
        "Tags beginning with aws: are reserved",
    )


def test_policies(kms: Any, key: str) -> None:
    stored = json.loads(kms.get_key_policy(KeyId=key, PolicyName="default")["Policy"])
    assert stored["Statement"][0]["Principal"] == {"AWS": "arn:aws:iam::000000000000:root"}
    stored["Statement"][0]["Sid"] = "Changed"
    kms.put_key_policy(KeyId=key, PolicyName="default", Policy=json.dumps(stored))
    assert json.loads(kms.get_key_policy(KeyId=key)["Policy"]) == stored
    assert kms.list_key_policies(KeyId=key)["PolicyNames"] == ["default"]
    malformed = refusal(kms.put_key_policy, KeyId=key, Policy="{}")
    assert malformed[0] == "MalformedPolicyDocumentException"
    assert refusal(kms.create_key, Policy="no json")[0] == "MalformedPolicyDocumentException"
    assert refusal(kms.get_key_policy, KeyId=key, PolicyName="other")[0] == "NotFoundException"


def test_a_description_is_changed(kms: Any, key: str) -> None:
    kms.update_key_description(KeyId=key, Description="anew")
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["Description"] == "anew"


def test_rotation_by_itself_is_switched_on_and_off(kms: Any, key: str) -> None:
    assert kms.get_key_rotation_status(KeyId=key)["KeyRotationEnabled"] is False
    kms.enable_key_rotation(KeyId=key, RotationPeriodInDays=90)
    status = kms.get_key_rotation_status(KeyId=key)
    assert status["KeyRotationEnabled"] is True
    assert status["RotationPeriodInDays"] == 90
    assert 89 < (status["NextRotationDate"] - datetime.now(UTC)).total_seconds() / 86_400 < 91
    kms.disable_key_rotation(KeyId=key)
    assert "NextRotationDate" not in kms.get_key_rotation_status(KeyId=key)


def test_what_was_encrypted_before_a_rotation_is_decrypted_after_it(kms: Any, key: str) -> None:
    before = kms.encrypt(KeyId=key, Plaintext=b"before")["CiphertextBlob"]
    first = kms.describe_key(KeyId=key)["KeyMetadata"]["CurrentKeyMaterialId"]
    assert kms.rotate_key_on_demand(KeyId=key)["KeyId"] == key
    second = kms.describe_key(KeyId=key)["KeyMetadata"]["CurrentKeyMaterialId"]
    after = kms.encrypt(KeyId=key, Plaintext=b"after")["CiphertextBlob"]
    assert second != first
    old, new = kms.decrypt(CiphertextBlob=before), kms.decrypt(CiphertextBlob=after)
    assert (old["Plaintext"], old["KeyMaterialId"]) == (b"before", first)
    assert (new["Plaintext"], new["KeyMaterialId"]) == (b"after", second)
    rotations = kms.list_key_rotations(KeyId=key)["Rotations"]
    assert [(one["KeyMaterialId"], one["RotationType"]) for one in rotations] == [(second, "ON_DEMAND")]
    every = kms.list_key_rotations(KeyId=key, IncludeKeyMaterial="ALL_KEY_MATERIAL")["Rotations"]
    assert [one["KeyMaterialId"] for one in every] == [first, second]


def test_servers_that_share_data_need_a_root_key_that_is_named(make_client: Callable[..., Any]) -> None:
    with serving("--in-memory") as running:
        assert make_client("kms", endpoint=running.endpoint).create_key()["KeyMetadata"]["Enabled"]
    with pytest.raises(RootKeyInvalid, match="--root-key"):
        LazyVault(KeySource(None, folder=None, shared=True)).opened()


def test_an_unknown_operation_is_refused(kms_server: Serving, make_client: Callable[..., Any]) -> None:
    kms = make_client("kms", endpoint=kms_server.endpoint)
    assert refusal(kms.describe_custom_key_stores)[0] == "UnknownOperationException"
