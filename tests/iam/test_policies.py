"""Managed policies: versions, attachments, boundaries."""

from typing import Any

import pytest

from iam_refusals import ACCOUNT, ANYTHING, TRUST, pages, refused

READ_ONLY = "arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess"


def test_the_life_of_a_policy(iam: Any, name: str) -> None:
    policy = iam.create_policy(PolicyName=name, Path="/p/", PolicyDocument=ANYTHING, Description="d")[
        "Policy"
    ]
    arn = policy["Arn"]
    assert arn == f"arn:aws:iam::{ACCOUNT}:policy/p/{name}"
    with refused("EntityAlreadyExists", 409, f"A policy called {name} already exists."):
        iam.create_policy(PolicyName=name, PolicyDocument=ANYTHING)
    for number in range(2, 6):
        made = iam.create_policy_version(PolicyArn=arn, PolicyDocument=ANYTHING, SetAsDefault=number == 3)
        assert made["PolicyVersion"]["VersionId"] == f"v{number}"
    with refused("LimitExceeded", 409, "A managed policy can have up to 5 versions."):
        iam.create_policy_version(PolicyArn=arn, PolicyDocument=ANYTHING)
    listed = pages(iam.list_policy_versions, "Versions", PolicyArn=arn)
    assert [version["VersionId"] for version in listed] == ["v5", "v4", "v3", "v2", "v1"]
    assert [version["VersionId"] for version in listed if version["IsDefaultVersion"]] == ["v3"]
    with refused("DeleteConflict", 409, "Cannot delete the default version of a policy."):
        iam.delete_policy_version(PolicyArn=arn, VersionId="v3")
    with refused("DeleteConflict", 409, "This policy has more than one version."):
        iam.delete_policy(PolicyArn=arn)
    iam.set_default_policy_version(PolicyArn=arn, VersionId="v1")
    for number in range(2, 6):
        iam.delete_policy_version(PolicyArn=arn, VersionId=f"v{number}")
    assert (
        iam.create_policy_version(PolicyArn=arn, PolicyDocument=ANYTHING)["PolicyVersion"]["VersionId"]
        == "v6"
    )
    iam.delete_policy_version(PolicyArn=arn, VersionId="v6")
    shown = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]
    assert shown["Document"]["Statement"][0]["Resource"] == "*"
    iam.delete_policy(PolicyArn=arn)
    with refused("NoSuchEntity", 404, f"Policy {arn} was not found."):
        iam.get_policy(PolicyArn=arn)


def test_a_policy_that_is_in_use_stays(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    arn = iam.create_policy(PolicyName=name, PolicyDocument=ANYTHING)["Policy"]["Arn"]
    iam.attach_user_policy(UserName=name, PolicyArn=arn)
    iam.attach_user_policy(UserName=name, PolicyArn=READ_ONLY)
    iam.put_user_permissions_boundary(UserName=name, PermissionsBoundary=arn)
    assert iam.get_user(UserName=name)["User"]["PermissionsBoundary"]["PermissionsBoundaryArn"] == arn
    policy = iam.get_policy(PolicyArn=arn)["Policy"]
    assert (policy["AttachmentCount"], policy["PermissionsBoundaryUsageCount"]) == (1, 1)
    attached = pages(iam.list_attached_user_policies, "AttachedPolicies", UserName=name)
    assert {entry["PolicyArn"] for entry in attached} == {arn, READ_ONLY}
    with refused("DeleteConflict", 409, "Cannot delete a policy attached to entities."):
        iam.delete_policy(PolicyArn=arn)
    with refused("DeleteConflict", 409, "must detach all policies first"):
        iam.delete_user(UserName=name)
    iam.detach_user_policy(UserName=name, PolicyArn=arn)
    with refused("DeleteConflict", 409, "Cannot delete a policy attached to entities."):
        iam.delete_policy(PolicyArn=arn)
    iam.delete_user_permissions_boundary(UserName=name)
    iam.delete_policy(PolicyArn=arn)


@pytest.mark.parametrize(
    ("arn", "code", "status"),
    [
        (f"arn:aws:iam::{ACCOUNT}:policy/not-there", "NoSuchEntity", 404),
        ("arn:aws:iam::999999999999:policy/other", "NoSuchEntity", 404),
        ("arn:aws:iam::aws:policy/NoSuchPolicy", "InvalidInput", 400),
        (f"arn:aws:iam::{ACCOUNT}:policy/../x" + "\0", "InvalidInput", 400),
    ],
)
def test_what_is_not_there_is_not_attached(iam: Any, name: str, arn: str, code: str, status: int) -> None:
    iam.create_group(GroupName=name)
    with refused(code, status):
        iam.attach_group_policy(GroupName=name, PolicyArn=arn)


def test_limits(iam: Any, name: str) -> None:
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)
    for number in range(10):
        arn = iam.create_policy(PolicyName=f"{name}-{number}", PolicyDocument=ANYTHING)["Policy"]["Arn"]
        iam.attach_role_policy(RoleName=name, PolicyArn=arn)
    with refused("LimitExceeded", 409, "Cannot exceed quota for PoliciesPerRole: 10"):
        iam.attach_role_policy(RoleName=name, PolicyArn=READ_ONLY)
    large = ANYTHING.replace('"Effect"', f'"Sid":"{"s" * 6200}","Effect"')
    with refused("LimitExceeded", 409, "Cannot exceed quota for PolicySize: 6144"):
        iam.create_policy(PolicyName=f"{name}-large", PolicyDocument=large)
    trust = TRUST.replace('"Effect"', f'"Sid":"{"s" * 2048}","Effect"')
    with refused("LimitExceeded", 409, "Cannot exceed quota for ACLSizePerRole: 2048"):
        iam.update_assume_role_policy(RoleName=name, PolicyDocument=trust)
    with refused("LimitExceeded", 409, "TagsPerResource: 50"):
        iam.tag_role(RoleName=name, Tags=[{"Key": f"k{number}", "Value": ""} for number in range(51)])


def test_every_account_has_the_policies_that_guides_name(iam: Any) -> None:
    arns = {policy["Arn"] for policy in iam.list_policies(Scope="AWS")["Policies"]}
    assert {READ_ONLY, "arn:aws:iam::aws:policy/AdministratorAccess"} <= arns
    for arn in arns:
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        assert iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]


def test_a_value_that_nothing_can_match_is_refused(iam: Any, name: str) -> None:
    document = ANYTHING.replace(
        '"Resource"', '"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/99"}}, "Resource"'
    )
    assert document != ANYTHING
    with refused("MalformedPolicyDocument", 400, "Syntax errors in policy."):
        iam.create_policy(PolicyName=name, PolicyDocument=document)
