"""Tags of identities: only what the service takes, so that no policy variable is ever more than a text."""

from typing import Any

import pytest

from iam_refusals import refused


@pytest.mark.parametrize("value", ["", "red", "a b", "tenant:1/x=y+z-@_.", "Größe", "東京 42"])
def test_a_tag(iam: Any, name: str, value: str) -> None:
    iam.create_user(UserName=name, Tags=[{"Key": "Team:A/b", "Value": value}])
    assert iam.list_user_tags(UserName=name)["Tags"] == [{"Key": "Team:A/b", "Value": value}]


@pytest.mark.parametrize(
    "tag",
    [
        {"Key": "team", "Value": "*"},
        {"Key": "team", "Value": "b?"},
        {"Key": "team", "Value": "${aws:username}"},
        {"Key": "te*m", "Value": "red"},
        {"Key": "team", "Value": "red\nblue"},
        {"Key": "te\tam", "Value": "red"},
    ],
)
def test_what_is_no_tag(iam: Any, sts: Any, name: str, tag: dict[str, str]) -> None:
    with refused("ValidationError", 400):
        iam.create_user(UserName=name, Tags=[tag])
    with refused("ValidationError", 400):
        sts.assume_role(RoleArn="arn:aws:iam::000000000000:role/any", RoleSessionName="me", Tags=[tag])


def test_a_key_is_sent_once_whatever_its_case(iam: Any, name: str) -> None:
    twice = [{"Key": "tenant", "Value": "blue"}, {"Key": "Tenant", "Value": "red"}]
    with refused("InvalidInput", 400, "Duplicate tag keys found"):
        iam.create_user(UserName=name, Tags=twice)
    iam.create_user(UserName=name, Tags=twice[:1])
    with refused("InvalidInput", 400, "Duplicate tag keys found"):
        iam.tag_user(UserName=name, Tags=twice)
    iam.tag_user(UserName=name, Tags=twice[1:])
    assert iam.list_user_tags(UserName=name)["Tags"] == twice[1:]
