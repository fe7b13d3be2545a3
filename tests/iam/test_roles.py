"""Roles, and the sessions that STS gives out."""

import hashlib
from typing import Any

import pytest

from iam_refusals import ACCOUNT, ANYTHING, TRUST, refused


def test_the_life_of_a_role(iam: Any, name: str) -> None:
    made = iam.create_role(
        RoleName=name, Path="/r/", AssumeRolePolicyDocument=TRUST, Description="d", MaxSessionDuration=7200
    )["Role"]
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:role/r/{name}"
    role = iam.get_role(RoleName=name)["Role"]
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Action"] == "sts:AssumeRole"
    assert (role["MaxSessionDuration"], role["Description"]) == (7200, "d")
    iam.update_role(RoleName=name, MaxSessionDuration=3600, Description="e")
    iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=ANYTHING)
    assert iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"] == []
    iam.delete_role_policy(RoleName=name, PolicyName="p")
    assert iam.get_role(RoleName=name)["Role"]["Description"] == "e"
    described = iam.update_role_description(RoleName=name, Description="f")["Role"]
    assert (described["Description"], described["MaxSessionDuration"]) == ("f", 3600)
    iam.update_role(RoleName=name, MaxSessionDuration=7200)
    assert iam.get_role(RoleName=name)["Role"]["Description"] == "f"
    iam.update_role(RoleName=name, Description="")
    assert iam.get_role(RoleName=name)["Role"]["MaxSessionDuration"] == 7200
    iam.delete_role(RoleName=name)
    with refused("NoSuchEntity", 404, f"The role with name {name} cannot be found."):
        iam.get_role(RoleName=name)


def test_a_session_of_a_role(iam: Any, sts: Any, name: str) -> None:
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]
    answer = sts.assume_role(
        RoleArn=role["Arn"],
        RoleSessionName="me",
        Policy=ANYTHING,
        PolicyArns=[{"arn": "arn:aws:iam::aws:policy/AdministratorAccess"}],
        Tags=[{"Key": "t", "Value": "v"}],
    )
    assert answer["AssumedRoleUser"] == {
        "AssumedRoleId": f"{role['RoleId']}:me",
        "Arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/{name}/me",
    }
    credentials = answer["Credentials"]
    assert credentials["AccessKeyId"].startswith("ASIA")
    assert len(credentials["SessionToken"]) >= 100
    assert 0 < answer["PackedPolicySize"] < 100
    assert (credentials["Expiration"] - role["CreateDate"]).total_seconds() >= 3600


@pytest.mark.parametrize(
    ("request_", "code", "status"),
    [
        ({"RoleArn": f"arn:aws:iam::{ACCOUNT}:role/not-there"}, "AccessDenied", 403),
        ({"RoleArn": "arn:aws:iam::999999999999:role/other"}, "AccessDenied", 403),
        ({"RoleArn": "arn:aws:iam::x:role/other"}, "ValidationError", 400),
        ({"RoleSessionName": "a b"}, "ValidationError", 400),
        ({"RoleSessionName": "a"}, "ValidationError", 400),
        ({"DurationSeconds": 899}, "ValidationError", 400),
        ({"DurationSeconds": 3601}, "ValidationError", 400),
        ({"Policy": "{}"}, "MalformedPolicyDocument", 400),
        ({"TokenCode": "123456", "SerialNumber": "123456789"}, "AccessDenied", 403),
        ({"Tags": [{"Key": "a", "Value": ""}, {"Key": "A", "Value": ""}]}, "ValidationError", 400),
        ({"TransitiveTagKeys": ["a"]}, "ValidationError", 400),
        ({"Tags": [{"Key": "AWS:x", "Value": ""}]}, "ValidationError", 400),
        (
            {"PolicyArns": [{"arn": f"arn:aws:iam::{ACCOUNT}:policy/not-there"}]},
            "MalformedPolicyDocument",
            400,
        ),
    ],
)
def test_what_is_no_session(
    iam: Any, sts: Any, name: str, request_: dict[str, Any], code: str, status: int
) -> None:
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    with refused(code, status):
        sts.assume_role(**({"RoleArn": arn, "RoleSessionName": "me"} | request_))


def test_a_session_that_no_header_has_room_for_is_refused(iam: Any, sts: Any, name: str) -> None:
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    tags = [{"Key": f"{number}", "Value": _noise(number)} for number in range(50)]
    with refused("PackedPolicyTooLarge", 400):
        sts.assume_role(RoleArn=arn, RoleSessionName="me", Tags=tags)


def _noise(number: int) -> str:
    """Text that hardly packs."""
    return "".join(hashlib.sha256(f"{number}-{part}".encode()).hexdigest() for part in range(4))


def test_session_tokens_of_the_root(sts: Any) -> None:
    credentials = sts.get_session_token(DurationSeconds=900)["Credentials"]
    assert credentials["AccessKeyId"].startswith("ASIA")


def test_the_account_of_a_key(iam: Any, sts: Any, name: str) -> None:
    iam.create_user(UserName=name)
    key_id = iam.create_access_key(UserName=name)["AccessKey"]["AccessKeyId"]
    assert sts.get_access_key_info(AccessKeyId=key_id)["Account"] == ACCOUNT
    with refused("ValidationError", 400):
        sts.get_access_key_info(AccessKeyId="AKIA" + "X" * 16)
