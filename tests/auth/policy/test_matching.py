"""Which actions and resources a statement is about."""

import pytest

from auth.policy.asking import OURS, TABLE, allows, asked, policy
from hashrange.auth.policy.decision import Rules, decide
from hashrange.auth.policy.keys import KeyValue

ACTIONS = [
    ("dynamodb:GetItem", "dynamodb:GetItem", True),
    ("dynamodb:getitem", "dynamodb:GetItem", True),
    ("DynamoDB:GETITEM", "dynamodb:GetItem", True),
    ("dynamodb:*", "dynamodb:GetItem", True),
    ("dynamodb:Get*", "dynamodb:GetItem", True),
    ("dynamodb:Get*", "dynamodb:BatchGetItem", False),
    ("dynamodb:*Get*", "dynamodb:BatchGetItem", True),
    ("dynamodb:*Item", "dynamodb:GetItem", True),
    ("dynamodb:*Item", "dynamodb:GetItems", False),
    ("dynamodb:?etItem", "dynamodb:GetItem", True),
    ("dynamodb:?etItem", "dynamodb:etItem", False),
    ("dynamodb:??????e", "dynamodb:PutItem", False),
    ("dynamodb:???????", "dynamodb:PutItem", True),
    ("dynamodb:G*t*m", "dynamodb:GetItem", True),
    ("dynamodb:G*t*m*", "dynamodb:GetItem", True),
    ("dynamodb:*t*t*t*", "dynamodb:GetItem", False),
    ("*", "dynamodb:GetItem", True),
    ("*", "kms:Decrypt", True),
    ("s3:*", "dynamodb:GetItem", False),
    ("dynamodb:Query", "dynamodb:GetItem", False),
    ("dynamodb:Quer", "dynamodb:Query", False),
    ("dynamodb:Queryy", "dynamodb:Query", False),
    ("dynamodb:**", "dynamodb:Query", True),
    ("dynamodb:*?", "dynamodb:Query", True),
    ("dynamodb:Query?", "dynamodb:Query", False),
    ("dynamodb:Query*", "dynamodb:Query", True),
]


@pytest.mark.parametrize(("pattern", "action", "expected"), ACTIONS)
def test_an_action_is_matched_without_regard_to_case(pattern: str, action: str, expected: bool) -> None:
    assert allows(asked(action), Action=pattern) is expected
    assert allows(asked(action), Action=["sqs:SendMessage", pattern]) is expected
    assert allows(asked(action), NotAction=pattern) is not expected


STREAM = f"{TABLE}/stream/2026-10-09T00:29:04.041"
RESOURCES = [
    (TABLE, TABLE, True),
    ("*", TABLE, True),
    (TABLE, TABLE.replace("orders", "Orders"), False),
    (TABLE, f"{TABLE}/index/by-date", False),
    (f"{TABLE}/*", f"{TABLE}/index/by-date", True),
    (f"{TABLE}/*", TABLE, False),
    (f"{TABLE}*", TABLE, True),
    (f"{TABLE}*", f"{TABLE}-old", True),
    (f"{TABLE}/index/*", f"{TABLE}/index/by-date", True),
    (f"{TABLE}/index/*", STREAM, False),
    (f"{TABLE}/stream/*", STREAM, True),
    (f"{TABLE}/stream/2026-10-09T00:29:04.041", STREAM, True),
    (f"{TABLE}/stream/2026*", STREAM, True),
    (f"{TABLE}/stream/*:04.041", STREAM, True),
    (f"{TABLE}/stream/????-10-*", STREAM, True),
    ("arn:aws:dynamodb:*:*:table/orders", TABLE, True),
    ("arn:aws:dynamodb:*:*:table/*", TABLE, True),
    ("arn:aws:dynamodb:us-*-1:*:table/*", TABLE, True),
    ("arn:aws:dynamodb:eu-*:*:table/*", TABLE, False),
    (f"arn:aws:dynamodb:us-east-1:{OURS}:*", TABLE, True),
    ("arn:aws:dynamodb:us-east-1:222222222222:table/orders", TABLE, False),
    ("arn:aws:dynamodb:*:table/orders:x:y", TABLE, False),
    ("arn:*:dynamodb:*:*:*", TABLE, True),
    ("arn:aws:dynamodb:us-east-1:*:*orders", TABLE, True),
    # A star does not reach from one part into the next.
    ("arn:aws:dynamodb:*:table/orders:*:*", TABLE, False),
    ("arn:aws:s3:::orders", TABLE, False),
    (TABLE, "*", False),
    ("*", "*", True),
    (f"{TABLE[:-6]}o?ders", TABLE, True),
    (f"{TABLE[:-6]}?orders", TABLE, False),
]


@pytest.mark.parametrize(("pattern", "resource", "expected"), RESOURCES)
def test_a_resource_is_matched_part_by_part(pattern: str, resource: str, expected: bool) -> None:
    assert allows(asked(resource=resource), Resource=pattern) is expected
    assert allows(asked(resource=resource), Resource=["arn:aws:s3:::elsewhere", pattern]) is expected
    assert allows(asked(resource=resource), NotResource=pattern) is not expected


PREFIX = TABLE.removesuffix("orders")
VARIABLES = [
    ("${aws:username}", "alice", {"aws__username": "alice"}, True),
    ("${AWS:UserName}", "alice", {"aws__username": "alice"}, True),
    ("${ aws:username }", "alice", {"aws__username": "alice"}, True),
    ("${aws:username}", "bob", {"aws__username": "alice"}, False),
    ("${aws:username}-*", "alice-orders", {"aws__username": "alice"}, True),
    ("*-${aws:username}", "orders-alice", {"aws__username": "alice"}, True),
    ("${aws:username}${aws:userid}", "aliceAIDA", {"aws__username": "alice", "aws__userid": "AIDA"}, True),
    # What a variable stands for is no pattern.
    ("${aws:username}", "anything", {"aws__username": "*"}, False),
    ("${aws:username}", "*", {"aws__username": "*"}, True),
    ("${aws:username}", "ab", {"aws__username": "a?"}, False),
    ("${aws:username}", "${aws:userid}", {"aws__username": "${aws:userid}", "aws__userid": "x"}, True),
    ("x-${aws:username}", "x-", {}, False),
    ("${aws:username, 'nobody'}", "nobody", {}, True),
    ("${aws:username, 'nobody'}", "alice", {"aws__username": "alice"}, True),
    ("${aws:username, 'nobody'}", "nobody", {"aws__username": "alice"}, False),
    ("${aws:username, ''}x", "x", {}, True),
    ("a${*}b", "a*b", {}, True),
    ("a${*}b", "axb", {}, False),
    ("a${?}b", "a?b", {}, True),
    ("a${?}b", "axb", {}, False),
    ("a${$}b", "a$b", {}, True),
    ("${unclosed", "${unclosed", {}, True),
    # A key with several values has none that could stand in a text.
    ("${aws:tagkeys}", "a", {"aws__tagkeys": ("a",)}, False),
]


@pytest.mark.parametrize(("pattern", "name", "keys", "expected"), VARIABLES)
def test_variables_take_their_value_from_the_request(
    pattern: str, name: str, keys: dict[str, KeyValue], expected: bool
) -> None:
    assert allows(asked(resource=PREFIX + name, keys=keys), Resource=PREFIX + pattern) is expected


@pytest.mark.parametrize("version", ["2008-10-17", None])
def test_in_old_policies_a_variable_is_text(version: str | None) -> None:
    entry = {"Effect": "Allow", "Action": "*", "Resource": PREFIX + "${aws:username}"}
    rules = Rules(identity=[policy(entry, version=version)])
    assert not decide(asked(resource=PREFIX + "alice", aws__username="alice"), rules).allowed
    assert decide(asked(resource=PREFIX + "${aws:username}", aws__username="alice"), rules).allowed


def test_a_variable_in_front_of_the_last_part_is_text() -> None:
    pattern = f"arn:aws:dynamodb:us-east-1:${{aws:username}}:{TABLE.rpartition(':')[2]}"
    assert not allows(asked(aws__username=OURS), Resource=pattern)


def test_many_stars_do_not_take_long() -> None:
    """Tried in every combination, this would go on for ever."""
    name = "a" * 2000
    assert not allows(asked(resource=PREFIX + name), Resource=PREFIX + "*a" * 200 + "b")
    assert allows(asked(resource=PREFIX + name), Resource=PREFIX + "*a?" * 200 + "*")
