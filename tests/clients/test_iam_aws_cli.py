"""The AWS CLI with verified signatures and policies: it makes users and roles, and is what they are."""

import base64
import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from clients.aws_cli import AWS, Aws, Failed, aws_cli, environment_for
from enforcing import ACCOUNT, REGION, Enforcing, Key, document, statement, trusting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not AWS.exists(), reason="the AWS CLI is not installed beside this Python"),
]
TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/"
ITEM = {"pk": {"S": "a"}, "sk": {"S": "1"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the CLI keeps its profiles."""
    return tmp_path_factory.mktemp("aws")


@pytest.fixture(scope="module")
def nobody(iam_server: Enforcing, folder: Path) -> Iterator[Aws]:
    """The CLI without a key in its environment."""
    with aws_cli(environment_for(iam_server.endpoint, folder, {})) as run:
        yield run


@pytest.fixture(scope="module")
def admin(iam_server: Enforcing, nobody: Aws) -> Aws:
    return signed_by(nobody, iam_server.administrator)


def signed_by(aws: Aws, key: Key) -> Aws:
    """The CLI with somebody's key."""
    return partial(aws, environment=key.environment)


@pytest.fixture
def name() -> str:
    return f"cli-{uuid4().hex[:12]}"


def key_of(made: dict[str, Any]) -> Key:
    return Key(made["AccessKeyId"], made["SecretAccessKey"], made.get("SessionToken"))


def test_users_are_made_used_and_removed(iam_server: Enforcing, admin: Aws, nobody: Aws, name: str) -> None:
    iam_server.table(name)
    admin("create-user", service="iam", user_name=name, path="/people/")
    policy = document(statement(["dynamodb:PutItem", "dynamodb:GetItem"], TABLE + name))
    made = admin("create-policy", service="iam", policy_name=name, policy_document=policy)["Policy"]["Arn"]
    admin("attach-user-policy", service="iam", user_name=name, policy_arn=made)
    key = admin("create-access-key", service="iam", user_name=name)["AccessKey"]
    user = signed_by(nobody, key_of(key))
    caller = user("get-caller-identity", service="sts")
    assert caller["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/people/{name}"
    user("put-item", table_name=name, item=ITEM)
    assert user("get-item", table_name=name, key=ITEM)["Item"] == ITEM
    with pytest.raises(
        Failed, match=r"AccessDeniedException.*is not authorized to perform: dynamodb:Scan on"
    ):
        user("scan", table_name=name)
    with pytest.raises(
        Failed, match=r"AccessDenied.*iam:CreateUser on resource: .*:user/me because no identity"
    ):
        user("create-user", service="iam", user_name="me")
    admin("detach-user-policy", service="iam", user_name=name, policy_arn=made)
    with pytest.raises(Failed, match="AccessDeniedException"):
        user("get-item", table_name=name, key=ITEM)
    admin("delete-access-key", service="iam", user_name=name, access_key_id=key["AccessKeyId"])
    with pytest.raises(Failed, match="UnrecognizedClientException"):
        user("get-item", table_name=name, key=ITEM)
    with pytest.raises(Failed, match=r"InvalidClientTokenId"):
        user("get-caller-identity", service="sts")
    admin("delete-policy", service="iam", policy_arn=made)
    admin("delete-user", service="iam", user_name=name)
    assert name not in {user["UserName"] for user in admin("list-users", service="iam")["Users"]}


def test_a_role_by_hand_and_by_profile(iam_server: Enforcing, admin: Aws, nobody: Aws, name: str) -> None:
    """`aws configure set` writes the profiles; one of them has the CLI assume the role by itself."""
    iam_server.table(name)
    base = iam_server.user(name)
    trust = trusting(f"arn:aws:iam::{ACCOUNT}:user/{name}")
    role = admin("create-role", service="iam", role_name=name, assume_role_policy_document=trust)["Role"][
        "Arn"
    ]
    rule = document(statement("dynamodb:*", TABLE + name))
    admin("put-role-policy", service="iam", role_name=name, policy_name="all", policy_document=rule)
    user = signed_by(nobody, base)
    made = user("assume-role", service="sts", role_arn=role, role_session_name="by-hand")["Credentials"]
    session = signed_by(nobody, key_of(made))
    session("put-item", table_name=name, item=ITEM)
    arn = session("get-caller-identity", service="sts")["Arn"]
    assert arn == f"arn:aws:sts::{ACCOUNT}:assumed-role/{name}/by-hand"

    for setting, value in (
        ("profile.base.aws_access_key_id", base.access_key_id),
        ("profile.base.aws_secret_access_key", base.secret),
        ("profile.worker.role_arn", role),
        ("profile.worker.source_profile", "base"),
        ("profile.worker.role_session_name", "by-profile"),
    ):
        nobody("set", setting, value, service="configure")
    assert nobody("get-item", table_name=name, key=ITEM, profile="worker")["Item"] == ITEM
    caller = nobody("get-caller-identity", service="sts", profile="worker")
    assert caller["Arn"].endswith(f":assumed-role/{name}/by-profile")
    with pytest.raises(Failed, match="AccessDeniedException"):
        nobody("get-item", table_name=name, key=ITEM, profile="base")


def test_the_command_as_people_run_it(iam_server: Enforcing, folder: Path) -> None:
    environment = environment_for(iam_server.endpoint, folder, iam_server.administrator.environment)
    done = subprocess.run(
        [AWS, "sts", "get-caller-identity"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert json.loads(done.stdout)["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/admin"


def test_a_wrong_secret_is_told_so(iam_server: Enforcing, nobody: Aws) -> None:
    stranger = signed_by(nobody, iam_server.administrator._replace(secret="x" * 40))
    with pytest.raises(Failed, match=r"InvalidSignatureException.*The request signature we calculated"):
        stranger("list-tables")
    with pytest.raises(Failed, match="SignatureDoesNotMatch"):
        stranger("list-users", service="iam")


def test_keys_of_the_key_service(
    iam_server: Enforcing, admin: Aws, nobody: Aws, name: str, tmp_path: Path
) -> None:
    """A key with an alias, a table under it, and a user who may encrypt and not decrypt."""
    key = admin("create-key", service="kms", description=name)["KeyMetadata"]
    admin("create-alias", service="kms", alias_name=f"alias/{name}", target_key_id=key["KeyId"])
    aliases = admin("list-aliases", service="kms", key_id=key["KeyId"])["Aliases"]
    assert [alias["AliasName"] for alias in aliases] == [f"alias/{name}"]
    iam_server.table(name)
    encrypted = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": f"alias/{name}"}
    admin("update-table", table_name=name, sse_specification=encrypted)
    described = admin("describe-table", table_name=name)["Table"]["SSEDescription"]
    assert described["KMSMasterKeyArn"] == key["Arn"]
    user = signed_by(nobody, iam_server.user(name, statement("kms:Encrypt", key["Arn"])))
    # This version of the CLI takes bytes as they are, and gives them as base64.
    sealed = user("encrypt", service="kms", key_id=f"alias/{name}", plaintext="hello")["CiphertextBlob"]
    (tmp_path / "sealed").write_bytes(base64.b64decode(sealed))
    blob = f"fileb://{tmp_path / 'sealed'}"
    with pytest.raises(Failed, match=r"AccessDeniedException.*kms:Decrypt"):
        user("decrypt", service="kms", ciphertext_blob=blob)
    opened = admin("decrypt", service="kms", ciphertext_blob=blob)
    assert (base64.b64decode(opened["Plaintext"]), opened["KeyId"]) == (b"hello", key["Arn"])
    admin("disable-key", service="kms", key_id=key["KeyId"])
    with pytest.raises(Failed, match="DisabledException"):
        user("encrypt", service="kms", key_id=key["KeyId"], plaintext="x")
    admin("enable-key", service="kms", key_id=key["KeyId"])
