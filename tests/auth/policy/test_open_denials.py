"""Denials that hang on condition keys which a simulation was not given."""

import json
from typing import Any

import pytest

from hashrange.auth.policy.decision import Rules, decide
from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.open_denials import open_keys
from hashrange.auth.policy.statements import Asked

CALLER = Caller("111122223333", "arn:aws:iam::111122223333:user/bob")
TABLE = "arn:aws:dynamodb:us-east-1:111122223333:table/orders"
GET = "dynamodb:GetItem"
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
FROM_ABROAD = {"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}}


def missing(denial: dict[str, Any], **keys: Any) -> list[str]:
    statement = {"Effect": "Deny", "Action": GET, "Resource": "*", **denial}
    text = json.dumps({"Version": "2012-10-17", "Statement": [EVERYTHING, statement]})
    rules = Rules([parse(text, Kind.IDENTITY, name="p")])
    asked = Asked(GET, TABLE, CALLER, keys)
    assert decide(asked, rules).allowed
    return open_keys(asked, rules, lambda key: key != "aws:principaltag/team")


@pytest.mark.parametrize(
    ("denial", "expected"),
    [
        ({"Condition": FROM_ABROAD}, ["aws:sourceip"]),
        ({"Condition": {"Null": {"aws:SourceIp": "false"}}}, ["aws:sourceip"]),
        ({"Condition": {"ForAnyValue:StringEquals": {"dynamodb:Attributes": "card"}}}, ["dynamodb:attributes"]),
        (
            {"Condition": {**FROM_ABROAD, "Bool": {"aws:SecureTransport": "false"}}},
            ["aws:sourceip", "aws:securetransport"],
        ),
        ({"Resource": "arn:aws:dynamodb:*:*:table/${aws:SourceVpc}"}, ["aws:sourcevpc"]),
        ({"Condition": {"StringEquals": {"aws:username": "${aws:SourceIdentity}"}}}, ["aws:sourceidentity"]),
    ],
)  # fmt: skip
def test_a_denial_that_might_apply_is_open(denial: dict[str, Any], expected: list[str]) -> None:
    assert missing(denial, **{"aws:username": "bob"}) == expected


@pytest.mark.parametrize(
    "denial",
    [
        {"Action": "dynamodb:PutItem", "Condition": FROM_ABROAD},
        {"Resource": TABLE + "s", "Condition": FROM_ABROAD},
        {"Condition": {**FROM_ABROAD, "StringEquals": {"aws:username": "eve"}}},
        {"Condition": {"StringEquals": {"aws:username": "eve"}}},
        {"Condition": {"StringEquals": {"aws:PrincipalTag/team": "red"}}},
    ],
)
def test_a_denial_that_cannot_apply_whatever_the_key_is_is_not(denial: dict[str, Any]) -> None:
    assert missing(denial, **{"aws:username": "bob"}) == []


def test_a_denial_whose_key_is_given_is_settled() -> None:
    assert missing({"Condition": FROM_ABROAD}, **{"aws:sourceip": "10.0.0.1"}) == []
