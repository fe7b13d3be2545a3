"""`hashrange iam check`: what it finds in policies, and that it finds nothing in good ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hashrange.api.permissions.declared import NEEDS
from hashrange.auth.managed_policies import DOCUMENTS
from hashrange.auth.policy.lint import findings
from hashrange.cli import main
from hashrange.iam_check import VOCABULARY

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/music"
OWN = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}
GOOD: dict[str, Any] = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": TABLE}


def found(*statements: Any, version: str = "2012-10-17") -> list[str]:
    document = json.dumps({"Version": version, "Statement": list(statements)})
    return [str(finding) for finding in findings(document, VOCABULARY)]


@pytest.mark.parametrize(
    "statement",
    [
        GOOD,
        GOOD | {"Action": ["dynamodb:*Item", "dynamodb:PartiQL*", "s3:GetObject", "hashrange:GetHeat"]},
        GOOD | {"Action": "hashrange:GetHeat"},
        GOOD | {"Action": "*", "Resource": TABLE},
        GOOD | {"Action": "*", "Resource": "*", "Effect": "Deny"},
        GOOD | {"NotAction": "dynamodb:Scan", "Action": None},
        GOOD | {"Condition": OWN},
        GOOD | {"Condition": {"IpAddressIfExists": {"aws:SourceIp": "10.0.0.0/8"}}},
        GOOD | {"Condition": {"StringEquals": {"aws:RequestTag/team": "x", "aws:ResourceTag/a/b": "y"}}},
        {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "000000000000"}},
        GOOD | {"Principal": "*"},
    ],
)
def test_a_good_statement_has_nothing_to_say_about(statement: dict[str, Any]) -> None:
    assert found({name: value for name, value in statement.items() if value is not None}) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"Action": "dynamodb:GetItems"}, "Statement[0].Action: dynamodb:GetItems is no action"),
        ({"Action": ["dynamodb:GetItem", "ec2:*"]}, "Statement[0].Action: ec2:* is no action"),
        ({"Action": "GetItem"}, "Statement[0]: Actions/Conditions must be prefaced by a vendor"),
        ({"Effect": "Maybe"}, "Statement[0]: Syntax errors in policy."),
        ({"Resource": "music"}, "Statement[0]: Resource music must be in ARN format"),
        ({"Resource": "arn:aws:s3:::music"}, "Statement[0].Resource: is of another service"),
        ({"Action": "*", "Resource": ["*"]}, "Statement[0]: allows everything: * on *"),
        ({"Condition": {"StringIs": {"aws:x": "y"}}}, "Statement[0]: Invalid Condition type : StringIs."),
        (
            {"Condition": {"StringEquals": {"aws:Usrname": "y"}}},
            "Statement[0].Condition.StringEquals.aws:usrname: is no condition key",
        ),
        (
            {"Condition": {"StringEquals": {"dynamodb:LeadingKeys": "y"}}},
            "Statement[0].Condition.StringEquals.dynamodb:leadingkeys: has several values",
        ),
        (
            {"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/99"}}},
            "Statement[0].Condition.IpAddress.aws:sourceip: '10.0.0.0/99' is no value",
        ),
        (
            {"Condition": {"Bool": {"aws:SecureTransport": []}}},
            "Statement[0].Condition.Bool.aws:securetransport: has no value: it can never hold",
        ),
    ],
)
def test_what_is_found_names_its_member(change: dict[str, Any], expected: str) -> None:
    (told,) = found(GOOD | change)
    assert told.startswith(expected)


def test_statements_that_can_never_match_are_found() -> None:
    no_action = {"Effect": "Deny", "NotAction": "*", "Resource": "*"}
    no_resource = {"Effect": "Deny", "Action": "dynamodb:*", "NotResource": "*"}
    assert [re.sub(":.*", "", told) for told in found(GOOD, no_action, no_resource)] == [
        "Statement[1].NotAction",
        "Statement[2].NotResource",
    ]


def test_variables_of_an_old_version_are_found() -> None:
    (told,) = found(GOOD | {"Resource": TABLE + "/${aws:username}"}, version="2008-10-17")
    assert "only with Version 2012-10-17" in told


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "is no JSON: Expecting property name enclosed in double quotes in line 1, column 2"),
        ("[]", "is no JSON object"),
        ('{"Statement": [], "Statement": []}', "has an element twice"),
        ('{"Version": "1"}', "valid version string"),
        ("[" * 100_000, "is no JSON"),
        ('{"Statement": 5}', "Statement[0]: Syntax errors"),
    ],
)
def test_a_document_that_is_none_is_told(document: str, words: str) -> None:
    (told,) = findings(document, VOCABULARY)
    assert words in str(told)


def test_every_action_and_managed_policy_is_known() -> None:
    assert found(*(GOOD | {"Action": action, "Resource": "*"} for action in NEEDS)) == []
    for arn, document in DOCUMENTS.items():
        told = [str(finding) for finding in findings(document, VOCABULARY)]
        assert [text for text in told if "is no action" not in text and "* on *" not in text] == [], arn


def test_the_status_says_whether_there_is_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"Version": "2012-10-17", "Statement": GOOD}))
    bad.write_text(json.dumps({"Version": "2012-10-17", "Statement": GOOD | {"Action": "x:y"}}))
    assert main(["iam", "check", str(good)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["iam", "check", str(bad), str(good)]) == 1
    assert "bad.json: Statement.Action: x:y is no action" in capsys.readouterr().out
    assert main(["iam", "check", str(tmp_path / "nothing")]) == 1
    assert "cannot be read" in capsys.readouterr().err
