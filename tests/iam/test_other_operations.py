"""What tools ask beside users, roles and policies: devices that nobody has, aliases, last uses, federated users."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from iam_refusals import ACCOUNT, ANYTHING, TRUST, refused
from owned_server import document, owned, owned_again, statement

LISTS = {
    "list_mfa_devices": "MFADevices",
    "list_service_specific_credentials": "ServiceSpecificCredentials",
    "list_signing_certificates": "Certificates",
    "list_ssh_public_keys": "SSHPublicKeys",
}
GET = "dynamodb:GetItem"


@pytest.mark.parametrize("operation", LISTS)
def test_nobody_has_what_there_is_none_of(iam: Any, name: str, operation: str) -> None:
    iam.create_user(UserName=name)
    answer = getattr(iam, operation)(UserName=name)
    assert (answer[LISTS[operation]], answer["IsTruncated"]) == ([], False)
    with refused("NoSuchEntity", 404, f"The user with name {name}-not cannot be found."):
        getattr(iam, operation)(UserName=f"{name}-not")


def test_nobody_has_a_password_or_a_device(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    assert iam.list_virtual_mfa_devices()["VirtualMFADevices"] == []
    for operation in (iam.get_login_profile, iam.delete_login_profile):
        with refused("NoSuchEntity", 404, f"Login Profile for User {name} cannot be found."):
            operation(UserName=name)


def test_the_alias_of_an_account(iam: Any) -> None:
    iam.create_account_alias(AccountAlias="acme-one")
    iam.create_account_alias(AccountAlias="acme-two")
    assert iam.list_account_aliases()["AccountAliases"] == ["acme-two"]
    with refused("NoSuchEntity", 404):
        iam.delete_account_alias(AccountAlias="acme-one")
    for wrong in ("-a-", "a--b", "Acme"):
        with refused("ValidationError", 400):
            iam.create_account_alias(AccountAlias=wrong)
    iam.delete_account_alias(AccountAlias="acme-two")
    assert iam.list_account_aliases()["AccountAliases"] == []


def test_the_summary_of_an_account(iam: Any, name: str) -> None:
    before = iam.get_account_summary()["SummaryMap"]
    iam.create_user(UserName=name)
    after = iam.get_account_summary()["SummaryMap"]
    assert after["Users"] == before["Users"] + 1
    assert (after["UsersQuota"], after["MFADevices"]) == (5000, 0)


def test_who_has_a_policy(iam: Any, name: str) -> None:
    arn = iam.create_policy(PolicyName=name, PolicyDocument=ANYTHING)["Policy"]["Arn"]
    iam.create_user(UserName=name)
    iam.create_group(GroupName=name)
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST, PermissionsBoundary=arn)
    iam.attach_user_policy(UserName=name, PolicyArn=arn)
    iam.attach_group_policy(GroupName=name, PolicyArn=arn)

    def listed(**request: Any) -> tuple[list[str], ...]:
        pages = iam.get_paginator("list_entities_for_policy").paginate(
            PolicyArn=arn, PaginationConfig={"PageSize": 1}, **request
        )
        answer = pages.build_full_result()
        return tuple(
            [entry[f"{word}Name"] for entry in answer[f"Policy{word}s"]] for word in ("User", "Group", "Role")
        )

    assert listed() == ([name], [name], [name])
    assert listed(EntityFilter="User") == ([name], [], [])
    assert listed(PolicyUsageFilter="PermissionsBoundary") == ([], [], [name])


def test_last_uses_and_federated_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with owned(tmp_path / "data", capsys) as server:
        iam = server.client("iam")
        unused = iam.create_access_key(UserName="admin")["AccessKey"]["AccessKeyId"]
        never = iam.get_access_key_last_used(AccessKeyId=unused)
        assert never["AccessKeyLastUsed"] == {"ServiceName": "N/A", "Region": "N/A"}
        key = server.user("bob", document(statement("Allow", "dynamodb:*", "sts:*")))
        server.table("orders")
        bob = server.client("sts", key)
        used = iam.get_access_key_last_used(AccessKeyId=server.key["AccessKeyId"])
        assert used["UserName"] == "admin"
        assert used["AccessKeyLastUsed"]["Region"] == "us-east-1"
        arn = iam.create_role(RoleName="role", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        assert iam.get_role(RoleName="role")["Role"]["RoleLastUsed"] == {}
        session = bob.assume_role(RoleArn=arn, RoleSessionName="me")["Credentials"]
        server.client("sts", session).get_caller_identity()
        assert iam.get_role(RoleName="role")["Role"]["RoleLastUsed"]["Region"] == "us-east-1"

        answer = bob.get_federation_token(Name="eve", Policy=document(statement("Allow", GET)))
        assert answer["FederatedUser"] == {
            "FederatedUserId": f"{ACCOUNT}:eve",
            "Arn": f"arn:aws:sts::{ACCOUNT}:federated-user/eve",
        }
        eve = server.client("dynamodb", answer["Credentials"])
        eve.get_item(TableName="orders", Key={"owner": {"S": "a"}})
        with pytest.raises(ClientError, match="no session policy allows the dynamodb:PutItem"):
            eve.put_item(TableName="orders", Item={"owner": {"S": "a"}})
        without = bob.get_federation_token(Name="eve")["Credentials"]
        with pytest.raises(ClientError, match="no session policy allows"):
            server.client("dynamodb", without).get_item(TableName="orders", Key={"owner": {"S": "a"}})
        who = server.client("sts", answer["Credentials"]).get_caller_identity()
        assert who["Arn"].endswith(":federated-user/eve")
        # Whoever may tag a session may be any tenant: that is a permission of its own.
        tagless = server.user("tagless", document(statement("Allow", "dynamodb:*", "sts:GetFederationToken")))
        tags = [{"Key": "tenant", "Value": "blue"}]
        with refused("AccessDenied", 403, "is not authorized to perform: sts:TagSession"):
            server.client("sts", tagless).get_federation_token(Name="eve", Tags=tags)
        assert bob.get_federation_token(Name="eve", Tags=tags)["Credentials"]
        own = bob.get_session_token()["Credentials"]
        with refused("AccessDenied", 403, "Cannot call GetFederationToken with session credentials"):
            server.client("sts", own).get_federation_token(Name="eve")
        with refused("AccessDenied", 403, "is not authorized to perform: sts:GetFederationToken"):
            server.client("sts", session).get_federation_token(Name="eve")
        server.serving.stop()
    with owned_again(tmp_path / "data", server.key) as again:
        seen = again.client("iam").get_role(RoleName="role")["Role"]["RoleLastUsed"]
        assert seen["Region"] == "us-east-1"
