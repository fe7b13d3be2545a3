"""TagResource, UntagResource and ListTagsOfResource."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import invalid, make_table, refused, unique

TOO_MANY = "Number of Tags exceed the current limit for the provided ResourceArn"


@pytest.fixture
def arn(client: Any) -> str:
    name = make_table(client, "p")
    return str(client.describe_table(TableName=name)["Table"]["TableArn"])


def tags(**pairs: str) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in pairs.items()]


def listed(client: Any, arn: str) -> dict[str, str]:
    answer = client.list_tags_of_resource(ResourceArn=arn)
    assert "NextToken" not in answer
    return {tag["Key"]: tag["Value"] for tag in answer["Tags"]}


def test_tags_are_added_replaced_and_removed(client: Any, arn: str) -> None:
    assert listed(client, arn) == {}
    client.tag_resource(ResourceArn=arn, Tags=tags(team="blue", cost="7"))
    client.tag_resource(ResourceArn=arn, Tags=tags(team="red", empty=""))
    assert listed(client, arn) == {"team": "red", "cost": "7", "empty": ""}
    client.untag_resource(ResourceArn=arn, TagKeys=["team", "never there"])
    assert listed(client, arn) == {"cost": "7", "empty": ""}


def test_the_answers_are_empty(raw: Any, arn: str) -> None:
    answer = raw("TagResource", {"ResourceArn": arn, "Tags": tags(a="b")})
    assert (answer.status, answer.headers["content-length"]) == (200, "0")
    answer = raw("UntagResource", {"ResourceArn": arn, "TagKeys": ["a"]})
    assert (answer.status, answer.headers["content-length"]) == (200, "0")


def test_fifty_tags_and_no_more(client: Any, arn: str) -> None:
    client.tag_resource(ResourceArn=arn, Tags=tags(**{f"k{at}": "v" for at in range(50)}))
    assert len(listed(client, arn)) == 50
    client.tag_resource(ResourceArn=arn, Tags=tags(k0="new"))
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=tags(k0="newer", k50="v")) == TOO_MANY
    assert listed(client, arn)["k0"] == "new"
    assert invalid(client.untag_resource, ResourceArn=arn, TagKeys=[f"k{at}" for at in range(51)]) == TOO_MANY


def test_lengths(client: Any, arn: str) -> None:
    client.tag_resource(ResourceArn=arn, Tags=tags(**{"k" * 128: "v" * 256}))
    key, value = "k" * 129, "v" * 257
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=tags(good="x", **{key: "v"})) == (
        f"The Tag Key provided is invalid, Key: {key}"
    )
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=tags(k=value)) == (
        f"The Tag Value provided is invalid, Value: {value}"
    )
    assert invalid(client.untag_resource, ResourceArn=arn, TagKeys=[key]) == (
        f"The Tag Key provided is invalid, Key: {key}"
    )
    assert "good" not in listed(client, arn)


@pytest.mark.parametrize("text", ["ключ", "café", "表", "a+b-c=d.e_f:g/h@i", "with space"])
def test_characters_that_are_allowed(client: Any, arn: str, text: str) -> None:
    client.tag_resource(ResourceArn=arn, Tags=tags(**{text: text}))
    assert listed(client, arn) == {text: text}


@pytest.mark.parametrize("text", ["100%", "a,b", "(x)", "a#b", "~a", "<a>", "\U0001f511"])
def test_characters_that_are_not_allowed(client: Any, arn: str, text: str) -> None:
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=tags(**{text: "v"})) == (
        f"The Tag Key provided is invalid, Key: {text}"
    )
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=tags(k=text)) == (
        f"The Tag Value provided is invalid, Value: {text}"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Atleast one Tag needs to be provided as Input."),
        ([{"Key": "k"}], "The Tag Value provided is invalid, Value: null"),
        ([{"Value": "v"}], "The Tag Key provided is invalid, Key: null"),
        (tags(**{"aws:x": "v"}), "Tag Key cannot be prefixed with aws:, Key: aws:x"),
        (
            tags(dup="1") + tags(dup="2"),
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup",
        ),
    ],
)
def test_tags_that_are_not_allowed(client: Any, arn: str, given: list[Any], message: str) -> None:
    assert invalid(client.tag_resource, ResourceArn=arn, Tags=given) == message


def test_members_that_are_missing(client: Any, arn: str) -> None:
    assert invalid(client.tag_resource) == "Invalid TableArn"
    for call, member in ((client.tag_resource, "tags"), (client.untag_resource, "tagKeys")):
        assert invalid(call, ResourceArn=arn) == (
            f"1 validation error detected: Value null at '{member}' failed to satisfy constraint: Member must not "
            "be null"
        )
    assert invalid(client.untag_resource, ResourceArn=arn, TagKeys=[]) == (
        "Atleast one Tag Key needs to be provided as Input."
    )


def test_arns_that_are_not_allowed(client: Any, arn: str) -> None:
    wrong = "One or more parameter values were invalid: "
    denied = ("AccessDeniedException", "Access is denied")
    assert invalid(client.list_tags_of_resource, ResourceArn="name") == (
        wrong + "ARNs must start with 'arn:': name"
    )
    other_service = arn.replace(":dynamodb:", ":sqs:")
    other_account = arn.replace("000000000000", "111111111111")
    for other in (other_service, other_account):
        assert refused(client.list_tags_of_resource, ResourceArn=other) == denied
    other_region = arn.replace("us-east-1", "eu-west-1")
    assert invalid(client.list_tags_of_resource, ResourceArn=other_region) == (
        f"Invalid TableArn: Invalid ResourceArn provided as input {other_region}"
    )
    index = arn + "/index/glo"
    assert invalid(client.list_tags_of_resource, ResourceArn=index) == (
        f"{wrong}Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {index}"
    )
    missing = arn + "x"
    for call, members in (
        (client.list_tags_of_resource, {}),
        (client.tag_resource, {"Tags": tags(a="b")}),
        (client.untag_resource, {"TagKeys": ["a"]}),
    ):
        assert refused(call, ResourceArn=missing, **members) == (
            "ResourceNotFoundException",
            f"Requested resource not found: ResourceArn: {missing} not found",
        )


def test_a_table_with_too_many_tags_is_not_created(client: Any) -> None:
    name = unique("tagged")
    many = tags(**{f"k{at}": "v" for at in range(51)})
    with pytest.raises(ClientError, match=TOO_MANY):
        make_table(client, "p", TableName=name, Tags=many)
    assert refused(client.describe_table, TableName=name)[0] == "ResourceNotFoundException"
    make_table(client, "p", TableName=name, Tags=many[:50])
