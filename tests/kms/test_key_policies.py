"""Keys and permissions: the policy of a key decides who may use it, for whatever."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from enforcing import ACCOUNT, Enforcing, enforcing, statement
from hashrange.api.permissions.declared import NEEDS
from hashrange.services.kms.registry import KMS

ROOT = f"arn:aws:iam::{ACCOUNT}:root"
NOBODY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/00000000-0000-0000-0000-000000000000"
MALFORMED = "MalformedPolicyDocumentException"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enforcing]:
    with enforcing(tmp_path_factory.mktemp("keys") / "data") as running:
        yield running


@pytest.fixture
def kms(server: Enforcing) -> Any:
    return server.client("kms", server.administrator)


@pytest.fixture
def key(kms: Any) -> str:
    return str(kms.create_key()["KeyMetadata"]["Arn"])


def user(server: Enforcing, *statements: dict[str, Any]) -> tuple[str, Callable[[str], Any]]:
    """The ARN of a new user, and what makes their clients."""
    name = f"u{uuid4().hex}"
    made = server.user(name, *statements)
    return f"arn:aws:iam::{ACCOUNT}:user/{name}", lambda service: server.client(service, made)


def granting(principal: str, *actions: str, **more: Any) -> dict[str, Any]:
    grant = {"Effect": "Allow", "Principal": {"AWS": principal}, "Action": actions, "Resource": "*"}
    return grant | more


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def denied(call: Callable[..., Any], **parameters: Any) -> str:
    code, message = refusal(call, **parameters)
    assert code == "AccessDeniedException", message
    return message


def requests(key: str, ciphertext: bytes) -> dict[str, dict[str, Any]]:
    """A request for every operation."""
    of_key: dict[str, dict[str, Any]] = {
        name: {"KeyId": key}
        for name in (
            *("cancel_key_deletion", "describe_key", "disable_key", "disable_key_rotation", "enable_key"),
            *("enable_key_rotation", "get_key_policy", "get_key_rotation_status", "list_key_policies"),
            *("list_key_rotations", "list_resource_tags", "rotate_key_on_demand", "schedule_key_deletion"),
        )
    }
    alias = {"AliasName": f"alias/{uuid4().hex}", "TargetKeyId": key}
    return of_key | {
        "create_alias": alias,
        "create_key": {},
        "decrypt": {"CiphertextBlob": ciphertext},
        "delete_alias": {"AliasName": "alias/nobody"},
        "encrypt": {"KeyId": key, "Plaintext": b"x"},
        "generate_data_key": {"KeyId": key, "KeySpec": "AES_256"},
        "generate_data_key_without_plaintext": {"KeyId": key, "KeySpec": "AES_256"},
        "generate_random": {"NumberOfBytes": 1},
        "list_aliases": {},
        "list_keys": {},
        "put_key_policy": {"KeyId": key, "Policy": policy(granting(ROOT, "kms:*"))},
        "re_encrypt": {"CiphertextBlob": ciphertext, "DestinationKeyId": key},
        "tag_resource": {"KeyId": key, "Tags": [{"TagKey": "a", "TagValue": "b"}]},
        "untag_resource": {"KeyId": key, "TagKeys": ["a"]},
        "update_alias": alias,
        "update_key_description": {"KeyId": key, "Description": "d"},
    }


def test_who_has_no_permission_can_do_nothing_and_learns_nothing(
    server: Enforcing, kms: Any, key: str
) -> None:
    assert {operation.action for operation in KMS.operations.values()} <= NEEDS.keys()
    ciphertext = kms.encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    _, clients = user(server)
    theirs = clients("kms")
    asked = requests(key, ciphertext)
    assert len(asked) == len(KMS.operations)
    for name, parameters in asked.items():
        denied(getattr(theirs, name), **parameters)
        if "KeyId" in parameters:
            denied(getattr(theirs, name), **parameters | {"KeyId": NOBODY})
    denied(theirs.describe_key, KeyId="alias/nobody")
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["Enabled"]


def test_the_default_policy_leaves_it_to_the_policies_of_the_account(
    server: Enforcing, kms: Any, key: str
) -> None:
    other = str(kms.create_key()["KeyMetadata"]["Arn"])
    arn, clients = user(server, statement("kms:Encrypt", key))
    theirs = clients("kms")
    ciphertext = theirs.encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    denied(theirs.encrypt, KeyId=other, Plaintext=b"x")
    assert denied(theirs.decrypt, CiphertextBlob=ciphertext) == (
        f"User: {arn} is not authorized to perform: kms:Decrypt on resource: {key} "
        "because no identity-based policy allows the kms:Decrypt action"
    )


def test_a_key_policy_grants_by_itself_and_without_its_word_nobody_may(server: Enforcing, kms: Any) -> None:
    arn, clients = user(server)
    admin = server.client("sts", server.administrator).get_caller_identity()["Arn"]
    mine = granting(admin, "kms:PutKeyPolicy", "kms:DescribeKey")
    grant = granting(arn, "kms:Encrypt", Condition={"StringEquals": {"kms:EncryptionContext:a": "b"}})
    key = kms.create_key(Policy=policy(mine, grant))["KeyMetadata"]["KeyId"]
    theirs = clients("kms")
    theirs.encrypt(KeyId=key, Plaintext=b"x", EncryptionContext={"a": "b"})
    denied(theirs.encrypt, KeyId=key, Plaintext=b"x", EncryptionContext={"a": "c"})
    denied(theirs.encrypt, KeyId=key, Plaintext=b"x")
    assert "no resource-based policy allows" in denied(kms.encrypt, KeyId=key, Plaintext=b"x")
    kms.put_key_policy(KeyId=key, Policy=policy(granting(ROOT, "kms:*")))
    kms.encrypt(KeyId=key, Plaintext=b"x")
    denied(theirs.encrypt, KeyId=key, Plaintext=b"x", EncryptionContext={"a": "b"})


def test_nobody_locks_themselves_out_unless_they_insist(server: Enforcing, kms: Any, key: str) -> None:
    arn, _ = user(server)
    foreign = policy(granting(arn, "kms:*"))
    assert refusal(kms.put_key_policy, KeyId=key, Policy=foreign) == (
        MALFORMED,
        "The new key policy will not allow you to update the key policy in the future.",
    )
    assert refusal(kms.create_key, Policy=foreign)[0] == MALFORMED
    kms.put_key_policy(KeyId=key, Policy=foreign, BypassPolicyLockoutSafetyCheck=True)
    denied(kms.describe_key, KeyId=key)


def create_table(client: Any, key: str) -> dict[str, Any]:
    made: dict[str, Any] = client.create_table(
        TableName=f"t{uuid4().hex}",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key},
    )["TableDescription"]
    return made


def test_a_table_is_made_only_under_keys_that_its_maker_may_use(
    server: Enforcing, kms: Any, key: str
) -> None:
    arn, clients = user(server, statement("dynamodb:*"), statement("kms:DescribeKey"))
    client = clients("dynamodb")
    message = denied(create_table, client=client, key=key)
    assert message.startswith(
        "KMS key access denied error: com.amazonaws.services.kms.model.AWSKMSException: "
        f"User: {arn} is not authorized to perform: kms:CreateGrant on resource: {key} because "
    )
    via = {
        "StringEquals": {"kms:ViaService": "dynamodb.us-east-1.amazonaws.com", "kms:CallerAccount": ACCOUNT},
        "Bool": {"kms:GrantIsForAWSResource": "true"},
    }
    kms.put_key_policy(
        KeyId=key, Policy=policy(granting(ROOT, "kms:*"), granting(arn, "kms:CreateGrant", Condition=via))
    )
    assert create_table(client, key)["SSEDescription"]["KMSMasterKeyArn"] == key
    denied(clients("kms").disable_key, KeyId=key)
    # Nobody needs a permission for the key that the service manages.
    _, others = user(server, statement("dynamodb:*"))
    assert create_table(others("dynamodb"), "alias/aws/dynamodb")["SSEDescription"]["SSEType"] == "KMS"


def test_who_is_made_again_with_the_same_name_is_somebody_else(server: Enforcing, kms: Any) -> None:
    arn, clients = user(server)
    name = arn.rpartition("/")[2]
    sent = policy(granting(ROOT, "kms:*"), granting(arn, "kms:Encrypt"))
    made = str(kms.create_key(Policy=sent)["KeyMetadata"]["Arn"])
    put = str(kms.create_key()["KeyMetadata"]["Arn"])
    kms.put_key_policy(KeyId=put, Policy=sent)
    for key in (made, put):
        clients("kms").encrypt(KeyId=key, Plaintext=b"x")
        assert kms.get_key_policy(KeyId=key)["Policy"] == sent
    iam = server.client("iam", server.administrator)
    unique_id = iam.get_user(UserName=name)["User"]["UserId"]
    for access_key in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]:
        iam.delete_access_key(UserName=name, AccessKeyId=access_key["AccessKeyId"])
    iam.delete_user(UserName=name)
    again = server.client("kms", server.user(name))
    for key in (made, put):
        denied(again.encrypt, KeyId=key, Plaintext=b"x")
        shown = json.loads(kms.get_key_policy(KeyId=key)["Policy"])
        assert shown["Statement"][1]["Principal"] == {"AWS": [unique_id]}
    kms.put_key_policy(KeyId=put, Policy=sent)
    again.encrypt(KeyId=put, Plaintext=b"x")


def test_a_policy_that_names_nobody_is_refused(kms: Any, key: str) -> None:
    nobody = policy(granting(ROOT, "kms:*"), granting(f"arn:aws:iam::{ACCOUNT}:user/nobody", "kms:Encrypt"))
    told = MALFORMED, "Policy contains a statement with one or more invalid principals."
    assert refusal(kms.put_key_policy, KeyId=key, Policy=nobody) == told
    assert refusal(kms.create_key, Policy=nobody) == told
    kms.put_key_policy(KeyId=key, Policy=policy(granting(ACCOUNT, "kms:*"), granting("*", "kms:Encrypt")))


def test_a_refusal_about_an_alias_does_not_tell_its_key(server: Enforcing, kms: Any, key: str) -> None:
    alias = f"alias/{uuid4().hex}"
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    arn = f"arn:aws:kms:us-east-1:{ACCOUNT}:{alias}"
    _, clients = user(server, statement(["kms:DeleteAlias", "kms:UpdateAlias"], arn), statement("dynamodb:*"))
    theirs = clients("kms")
    key_id = key.rpartition("/")[2]
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (theirs.delete_alias, {"AliasName": alias}),
        (theirs.update_alias, {"AliasName": alias, "TargetKeyId": NOBODY}),
    ]
    for name in (alias, arn):
        calls += [
            (theirs.describe_key, {"KeyId": name}),
            (theirs.encrypt, {"KeyId": name, "Plaintext": b"x"}),
            (theirs.generate_data_key, {"KeyId": name, "KeySpec": "AES_256"}),
            (
                clients("dynamodb").create_table,
                TABLE | {"SSESpecification": {"SSEType": "KMS", "KMSMasterKeyId": name}},
            ),
        ]
    for call, parameters in calls:
        message = denied(call, **parameters)
        assert key_id not in message
        assert arn in message


TABLE = {
    "TableName": "under-an-alias",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
