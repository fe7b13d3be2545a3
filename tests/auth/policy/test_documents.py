"""Documents that are policies, and what is wrong with others."""

import json
from typing import Any

import pytest

from auth.policy.asking import OURS, ROLE, TABLE, USER, statement
from hashrange.auth.policy.documents import Kind, MalformedPolicy, MalformedPrincipal, parse, parse_new


def document(*statements: Any, **top: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)} | top)


def without(element: str) -> dict[str, Any]:
    return {name: value for name, value in statement().items() if name != element}


ANYBODY = statement(Principal="*")
GOOD = [
    (Kind.IDENTITY, document(statement())),
    (Kind.IDENTITY, json.dumps({"Statement": statement()})),
    (Kind.IDENTITY, document(statement(), Version="2008-10-17")),
    (Kind.IDENTITY, document(statement("allow"))),
    (
        Kind.IDENTITY,
        document(statement(Action=["dynamodb:GetItem", "s3:*"], Resource=[TABLE, "arn:aws:s3:::b/*"])),
    ),
    (Kind.IDENTITY, document(statement(Sid=""), statement(Sid=""))),
    (Kind.IDENTITY, document(statement(Condition={}))),
    (
        Kind.IDENTITY,
        document(statement(Condition={"NumericLessThan": {"aws:x": 5}, "Bool": {"aws:y": True}})),
    ),
    (Kind.IDENTITY, document(statement(Action="nothing:Known"))),
    (Kind.BOUNDARY, document(statement())),
    (Kind.SESSION, document(statement())),
    (Kind.RESOURCE, document(ANYBODY, Id="an id")),
    (Kind.RESOURCE, document(statement(Principal={"AWS": [USER, ROLE, OURS, "*"]}))),
    (Kind.RESOURCE, document(statement(Principal={"Service": "replication.dynamodb.amazonaws.com"}))),
    (Kind.RESOURCE, document(statement(NotPrincipal={"AWS": USER}))),
    (Kind.TRUST, document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": OURS}})),
    (
        Kind.TRUST,
        document(
            {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": "x"}}
        ),
    ),
]


@pytest.mark.parametrize(("kind", "text"), GOOD)
def test_a_policy_is_read(kind: Kind, text: str) -> None:
    assert parse(text, kind, name="policy").statements


INVALID_JSON = "This policy contains invalid Json"
SYNTAX = "Syntax errors in policy."
VENDOR = "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
BAD = [
    (Kind.IDENTITY, "", INVALID_JSON),
    (Kind.IDENTITY, "{", INVALID_JSON),
    (Kind.IDENTITY, "[]", INVALID_JSON),
    (Kind.IDENTITY, '"text"', INVALID_JSON),
    (Kind.IDENTITY, '{"Statement": NaN}', INVALID_JSON),
    (Kind.IDENTITY, "[" * 100_000, INVALID_JSON),
    (Kind.IDENTITY, '{"Version": "2012-10-17", "Version": "2012-10-17", "Statement": []}', INVALID_JSON),
    (Kind.IDENTITY, '{"Statement": [], "Id": "\u0100"}', INVALID_JSON),
    (Kind.IDENTITY, '{"Statement": [], "Id": "\x01"}', INVALID_JSON),
    (Kind.IDENTITY, "{}", "Missing required field Statement"),
    (Kind.IDENTITY, document(), "Could not parse the policy: Statement is empty!"),
    (Kind.IDENTITY, document(Version="2012-10-18"), "The policy must contain a valid version string"),
    (Kind.IDENTITY, document(statement(), Version=2012), "The policy must contain a valid version string"),
    (Kind.IDENTITY, document(statement(), Extra=1), SYNTAX),
    (Kind.IDENTITY, document(statement(), Id="x"), SYNTAX),
    (Kind.IDENTITY, document("text"), SYNTAX),
    (Kind.IDENTITY, document(statement(Extra=1)), SYNTAX),
    (Kind.IDENTITY, document(statement(Sid=1)), SYNTAX),
    (Kind.IDENTITY, document(statement("Perhaps")), SYNTAX),
    (Kind.IDENTITY, document(without("Effect")), "Missing required field Effect"),
    (Kind.IDENTITY, document(without("Action")), "Policy statement must contain actions."),
    (Kind.IDENTITY, document(without("Resource")), "Policy statement must contain resources."),
    (Kind.IDENTITY, document(statement(Action=[])), "Policy statement must contain actions."),
    (Kind.IDENTITY, document(statement(Resource=[])), "Policy statement must contain resources."),
    (Kind.IDENTITY, document(statement() | {"NotAction": "s3:*"}), SYNTAX),
    (Kind.IDENTITY, document(statement() | {"NotResource": "*"}), SYNTAX),
    (Kind.IDENTITY, document(statement(Action="GetItem")), VENDOR),
    (Kind.IDENTITY, document(statement(Action="dynamodb:")), VENDOR),
    (Kind.IDENTITY, document(statement(Action="dynamo*:GetItem")), VENDOR),
    (Kind.IDENTITY, document(statement(Action=5)), SYNTAX),
    (Kind.IDENTITY, document(statement(Action=[["dynamodb:GetItem"]])), SYNTAX),
    (Kind.IDENTITY, document(statement(Resource="orders")), 'Resource orders must be in ARN format or "*".'),
    (Kind.IDENTITY, document(statement(Resource={"a": 1})), SYNTAX),
    (Kind.IDENTITY, document(ANYBODY), "Policy document should not specify a principal."),
    (
        Kind.IDENTITY,
        document(statement(Sid="a"), statement(Sid="a")),
        "Statement IDs (SID) in a single policy must be unique.",
    ),
    (Kind.IDENTITY, document(statement(Condition=[])), SYNTAX),
    (Kind.IDENTITY, document(statement(Condition={"StringEquals": "a"})), SYNTAX),
    (Kind.IDENTITY, document(statement(Condition={"StringEquals": {"aws:k": {"a": 1}}})), SYNTAX),
    (Kind.IDENTITY, document(statement(Condition={"StringEquals": {"aws:k": None}})), SYNTAX),
    (
        Kind.IDENTITY,
        document(statement(Condition={"StringSimilar": {"aws:k": "a"}})),
        "Invalid Condition type : StringSimilar.",
    ),
    (
        Kind.IDENTITY,
        document(statement(Condition={"ForSome:Bool": {"aws:k": "a"}})),
        "Invalid Condition type : ForSome:Bool.",
    ),
    (
        Kind.IDENTITY,
        document(statement(Condition={"NullIfExists": {"aws:k": "a"}})),
        "Invalid Condition type : NullIfExists.",
    ),
    (Kind.RESOURCE, document(statement()), "Missing required field Principal"),
    (Kind.RESOURCE, document(ANYBODY | {"NotPrincipal": "*"}), SYNTAX),
    (Kind.RESOURCE, document(statement(Principal=["*"])), SYNTAX),
    (Kind.RESOURCE, document(statement(Principal={"Nobody": "*"})), SYNTAX),
    (Kind.RESOURCE, document(without("Resource") | {"Principal": "*"}), "Missing required field Resource"),
    (
        Kind.RESOURCE,
        document(ANYBODY | {"Sid": "a"}, ANYBODY | {"Sid": "a"}),
        "The Statement Ids in the policy are not unique",
    ),
    (Kind.TRUST, document(ANYBODY), "Has prohibited field Resource"),
    (Kind.TRUST, document(without("Resource")), "Missing required field Principal"),
]


@pytest.mark.parametrize(("kind", "text", "message"), BAD)
def test_what_is_wrong_is_told(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(MalformedPolicy) as raised:
        parse(text, kind, name="policy")
    assert str(raised.value) == message


PRINCIPALS = [
    ("alice", "alice"),
    ({"AWS": "alice"}, '"AWS":"alice"'),
    ({"AWS": "12345"}, '"AWS":"12345"'),
    ({"AWS": "arn:aws:iam::111111111111:user/*"}, '"AWS":"arn:aws:iam::111111111111:user/*"'),
    ({"AWS": "arn:aws:iam::111111111111:group/all"}, '"AWS":"arn:aws:iam::111111111111:group/all"'),
    ({"AWS": "arn:aws:s3:::bucket"}, '"AWS":"arn:aws:s3:::bucket"'),
]


@pytest.mark.parametrize(("element", "quoted"), PRINCIPALS)
def test_a_principal_that_nobody_can_be_is_refused(element: Any, quoted: str) -> None:
    with pytest.raises(MalformedPrincipal) as raised:
        parse(document(statement(Principal=element)), Kind.RESOURCE, name="policy")
    assert str(raised.value) == f"Invalid principal in policy: {quoted}"


IMPOSSIBLE = [
    *(("IpAddress", value) for value in ("10.0.0.0/99", "300.1.1.1", "somewhere", "", "10.0.0.0/8/8")),
    ("NotIpAddress", "::1/129"),
    ("Bool", "yes"),
    ("BoolIfExists", ""),
    ("Null", "maybe"),
    ("DateLessThan", "yesterday"),
    ("DateGreaterThanIfExists", "2026-13-01T00:00:00Z"),
    ("NumericEquals", "ten"),
    ("ForAnyValue:NumericLessThan", "NaN"),
    ("NumericLessThan", "${aws:EpochTime}"),  # variables are for texts and ARNs
    ("BinaryEquals", "***"),
]
POSSIBLE = [
    ("IpAddress", "10.1.2.3/16"),
    ("IpAddress", "2001:db8::/32"),
    ("Bool", "TRUE"),
    ("Bool", True),
    ("Bool", "${aws:SecureTransport}"),
    ("Null", "False"),
    ("DateLessThan", "2026-01-01"),
    ("DateLessThan", 1767225600),
    ("NumericEquals", "1E1"),
    ("StringEquals", ""),
    ("BinaryEquals", "QUJD"),
    ("ArnLike", "*"),
]


@pytest.mark.parametrize(("operator", "value"), IMPOSSIBLE)
def test_a_new_policy_with_a_value_that_nothing_can_match_is_refused(operator: str, value: str) -> None:
    text = document(statement(Condition={operator: {"aws:x": ["10", value] if "Num" in operator else value}}))
    with pytest.raises(MalformedPolicy, match="Syntax errors in policy"):
        parse_new(text, Kind.IDENTITY, name="new")
    parse(text, Kind.IDENTITY, name="stored")  # and is read as ever


@pytest.mark.parametrize(("operator", "value"), POSSIBLE)
def test_a_new_policy_with_other_values_is_accepted(operator: str, value: object) -> None:
    parse_new(document(statement(Condition={operator: {"aws:x": value}})), Kind.IDENTITY, name="new")
