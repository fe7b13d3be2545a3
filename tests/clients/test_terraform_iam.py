"""Terraform with --auth iam: users, keys, policies, groups, roles and policies of tables."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from clients.terraforming import CONFIGURATIONS, Terraform, adopt, terraform
from enforcing import ACCOUNT, READ_ONLY, Enforcing, Key

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture
def name() -> str:
    return f"terraform-{uuid4().hex[:12]}"


@pytest.fixture
def prepared(iam_server: Enforcing, tmp_path: Path, name: str) -> Terraform:
    key = iam_server.administrator
    return terraform(
        tmp_path,
        {
            "endpoint": iam_server.endpoint,
            "name": name,
            "access_key": key.access_key_id,
            "secret_key": key.secret,
        },
    )


def ids_of(name: str) -> dict[str, str]:
    """All but the table's policy: the service keeps it in a form of its own, which the provider compares as text."""
    policy = f"arn:aws:iam::{ACCOUNT}:policy/{name}-own"
    return {
        "aws_iam_group.readers": f"{name}-readers",
        "aws_iam_group_policy_attachment.readers": f"{name}-readers/{READ_ONLY}",
        "aws_iam_policy.own_notes": policy,
        "aws_iam_role.writer": f"{name}-writer",
        "aws_iam_role_policy.writes": f"{name}-writer:writes",
        "aws_iam_role_policy_attachment.own_notes": f"{name}-writer/{policy}",
        "aws_iam_user.app": name,
        "aws_iam_user_policy.lists": f"{name}:lists",
        "aws_iam_user_policy_attachment.own_notes": f"{name}/{policy}",
    }


def test_identities_are_made_used_changed_adopted_and_destroyed(
    prepared: Terraform, iam_server: Enforcing, name: str
) -> None:
    prepared.configure("main.tf", CONFIGURATIONS / "identities" / "before.tf")
    prepared.apply()
    assert prepared.changes() == {}
    outputs = prepared.outputs()
    facts = outputs["facts"]
    assert (facts["account"], facts["caller"]) == (ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/admin")
    key = Key(facts["key"], outputs["secret"])
    uses_what_was_made(iam_server, key, facts["role"], name)

    prepared.configure("main.tf", CONFIGURATIONS / "identities" / "after.tf")
    prepared.apply()
    assert prepared.changes() == {}
    assert code_of(iam_server.client("dynamodb", key).list_tables) == "UnrecognizedClientException"
    adopt(prepared, ids_of(name))
    prepared.destroy()
    iam = iam_server.client("iam", iam_server.administrator)
    assert name not in {user["UserName"] for user in iam.list_users()["Users"]}
    assert f"{name}-writer" not in {role["RoleName"] for role in iam.list_roles()["Roles"]}
    assert iam.list_policies(Scope="Local")["Policies"] == []


def code_of(call: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    return str(raised.value.response["Error"]["Code"])


def uses_what_was_made(iam_server: Enforcing, key: Key, role: str, name: str) -> None:
    """The user reads, by way of the group; the role writes, and does not delete what its table keeps."""
    user = iam_server.client("dynamodb", key)
    item = {"pk": {"S": name}}
    assert user.get_item(TableName=name, Key={"pk": {"S": "theirs"}})
    assert code_of(user.put_item, TableName=name, Item=item) == "AccessDeniedException"
    sts = iam_server.client("sts", key)
    made = sts.assume_role(RoleArn=role, RoleSessionName="notes", DurationSeconds=7200)["Credentials"]
    session = Key(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
    writer = iam_server.client("dynamodb", session)
    writer.put_item(TableName=name, Item=item)
    assert code_of(writer.delete_item, TableName=name, Key=item) == "AccessDeniedException"
