"""Users, their keys, their policies and their groups, as boto3 manages them."""

from typing import Any

import pytest

from iam_refusals import ACCOUNT, ANYTHING, pages, refused


def test_the_life_of_a_user(iam: Any, name: str) -> None:
    made = iam.create_user(UserName=name, Path="/team/", Tags=[{"Key": "a", "Value": "1"}])["User"]
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/team/{name}"
    assert made["UserId"].startswith("AIDA")
    assert iam.get_user(UserName=name.upper())["User"] == made
    with refused("EntityAlreadyExists", 409, f"User with name {name.upper()} already exists."):
        iam.create_user(UserName=name.upper())
    iam.tag_user(UserName=name, Tags=[{"Key": "b", "Value": "2"}, {"Key": "A", "Value": "3"}])
    iam.untag_user(UserName=name, TagKeys=["b"])
    assert iam.list_user_tags(UserName=name)["Tags"] == [{"Key": "A", "Value": "3"}]
    assert name in [user["UserName"] for user in iam.list_users(PathPrefix="/team/")["Users"]]
    iam.delete_user(UserName=name)
    with refused("NoSuchEntity", 404, f"The user with name {name} cannot be found."):
        iam.get_user(UserName=name)


def test_a_key_shows_its_secret_once(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    assert (len(key["AccessKeyId"]), len(key["SecretAccessKey"]), key["Status"]) == (20, 40, "Active")
    assert key["AccessKeyId"].startswith("AKIA")
    iam.create_access_key(UserName=name)
    with refused("LimitExceeded", 409, "Cannot exceed quota for AccessKeysPerUser: 2"):
        iam.create_access_key(UserName=name)
    iam.update_access_key(UserName=name, AccessKeyId=key["AccessKeyId"], Status="Inactive")
    listed = {
        entry["AccessKeyId"]: entry
        for entry in pages(iam.list_access_keys, "AccessKeyMetadata", UserName=name)
    }
    assert len(listed) == 2
    assert listed[key["AccessKeyId"]]["Status"] == "Inactive"
    assert "SecretAccessKey" not in str(listed)
    with refused("DeleteConflict", 409, "must delete access keys first"):
        iam.delete_user(UserName=name)
    for key_id in listed:
        iam.delete_access_key(UserName=name, AccessKeyId=key_id)
    iam.delete_user(UserName=name)


def test_a_key_is_its_own_users(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    iam.create_user(UserName=f"{name}-2")
    key_id = iam.create_access_key(UserName=name)["AccessKey"]["AccessKeyId"]
    with refused("NoSuchEntity", 404, f"The Access Key with id {key_id} cannot be found."):
        iam.delete_access_key(UserName=f"{name}-2", AccessKeyId=key_id)
    iam.update_user(UserName=name, NewUserName=f"{name}-3")
    assert iam.list_access_keys(UserName=f"{name}-3")["AccessKeyMetadata"][0]["AccessKeyId"] == key_id


def test_inline_policies(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    for policy in ("one", "two"):
        iam.put_user_policy(UserName=name, PolicyName=policy, PolicyDocument=ANYTHING)
    assert pages(iam.list_user_policies, "PolicyNames", UserName=name) == ["one", "two"]
    document = iam.get_user_policy(UserName=name, PolicyName="one")["PolicyDocument"]
    assert document["Statement"][0]["Action"] == "*"
    with refused("DeleteConflict", 409, "must delete policies first"):
        iam.delete_user(UserName=name)
    iam.delete_user_policy(UserName=name, PolicyName="one")
    with refused("NoSuchEntity", 404, "The user policy with name one cannot be found."):
        iam.get_user_policy(UserName=name, PolicyName="one")


@pytest.mark.parametrize(
    "document", ["{", "[]", "null", '{"Statement":[]}', ANYTHING.replace("Allow", "Perhaps"), "[" * 60_000]
)
def test_a_document_that_is_no_policy_is_refused(iam: Any, name: str, document: str) -> None:
    iam.create_user(UserName=name)
    with refused("MalformedPolicyDocument", 400):
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=document)
    assert iam.list_user_policies(UserName=name)["PolicyNames"] == []


def test_inline_policies_have_a_size_limit_in_which_blanks_do_not_count(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    room = 2048 - len(ANYTHING)
    full = ANYTHING.replace('"*"}', '"*"' + " " * 500 + "}").replace(
        '"Effect"', f'"Sid":"{"s" * (room - 9)}","Effect"'
    )
    iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=full)
    with refused("LimitExceeded", 409, "Maximum policy size of 2048 bytes exceeded for user"):
        iam.put_user_policy(UserName=name, PolicyName="q", PolicyDocument=ANYTHING)


@pytest.mark.parametrize(
    "bad", ["", "a b", "a/b", "../x", "a\0b", "é", "x" * 65, "<script>", "a:b", "a*", "\uff41", "a\n"]
)
def test_a_name_that_breaks_its_pattern_is_refused(iam: Any, bad: str) -> None:
    with refused("ValidationError", 400, "userName"):
        iam.create_user(UserName=bad)


@pytest.mark.parametrize("path", ["x", "/x", "x/", "//é/", "/a b/", "/" + "x" * 511 + "/"])
def test_a_path_that_breaks_its_pattern_is_refused(iam: Any, name: str, path: str) -> None:
    with refused("ValidationError", 400, "path"):
        iam.create_user(UserName=name, Path=path)


def test_groups(iam: Any, name: str) -> None:
    iam.create_user(UserName=name)
    group = iam.create_group(GroupName=name)["Group"]
    assert group["GroupId"].startswith("AGPA")
    iam.add_user_to_group(GroupName=name, UserName=name)
    iam.add_user_to_group(GroupName=name, UserName=name)
    assert [user["UserName"] for user in iam.get_group(GroupName=name)["Users"]] == [name]
    assert [entry["GroupName"] for entry in iam.list_groups_for_user(UserName=name)["Groups"]] == [name]
    with refused("DeleteConflict", 409, "must remove users from group first"):
        iam.delete_group(GroupName=name)
    with refused("DeleteConflict", 409, "must remove users from group first"):
        iam.delete_user(UserName=name)
    iam.remove_user_from_group(GroupName=name, UserName=name)
    iam.delete_group(GroupName=name)
    iam.delete_user(UserName=name)


def test_whoever_asks_without_verified_signatures_is_the_root(iam: Any) -> None:
    assert iam.get_user()["User"]["Arn"] == f"arn:aws:iam::{ACCOUNT}:root"
