"""Input that was made to break something: policies beyond every limit, and names that would forge lines of a log."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from enforcing import Enforcing, enforcing
from hashrange.logs import JsonFormatter, TextFormatter
from iam_refusals import TRUST

STATEMENT = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}


def document(*statements: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


OVERSIZED = {
    "a megabyte": document({**STATEMENT, "Resource": "arn:aws:dynamodb:*:*:table/" + "x" * 1_000_000}),
    "a megabyte of blanks": document(STATEMENT) + " " * 1_000_000,
    "many statements": document(*[STATEMENT] * 2_000),
    "many wildcards": document({**STATEMENT, "Resource": "*a" * 60_000}),
    "a list in a list in a list": '{"Statement":' + "[" * 100_000,
    "an object in an object": '{"a":' * 20_000,
    "a number without end": '{"Version":' + "1" * 100_000 + "}",
}


@pytest.mark.parametrize("text", OVERSIZED.values(), ids=OVERSIZED.keys())
def test_oversized_policies_are_refused_by_whoever_takes_one(
    iam: Any, sts: Any, client: Any, name: str, text: str
) -> None:
    iam.create_user(UserName=name)
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    takers: list[tuple[Callable[..., Any], dict[str, str]]] = [
        (iam.put_user_policy, {"UserName": name, "PolicyName": "p", "PolicyDocument": text}),
        (iam.put_role_policy, {"RoleName": name, "PolicyName": "p", "PolicyDocument": text}),
        (iam.create_policy, {"PolicyName": name, "PolicyDocument": text}),
        (iam.update_assume_role_policy, {"RoleName": name, "PolicyDocument": text}),
        (sts.assume_role, {"RoleArn": role, "RoleSessionName": "me", "Policy": text}),
        (client.put_resource_policy, {"ResourceArn": table_arn(client, name), "Policy": text}),
    ]
    for call, arguments in takers:
        with pytest.raises(ClientError) as raised:
            call(**arguments)
        assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] < 500, call.__name__
    assert iam.list_user_policies(UserName=name)["PolicyNames"] == []


def table_arn(client: Any, name: str) -> str:
    made = client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    arn: str = made["TableDescription"]["TableArn"]
    return arn


def test_a_session_policy_of_blanks_keeps_nobody_waiting(iam: Any, sts: Any, name: str) -> None:
    """A variable that does not end, and as many blanks as a session policy may have."""
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    rule = {**STATEMENT, "Resource": "arn:aws:dynamodb:*:*:table/${" + " " * 1_800}
    for _ in range(20):
        assert sts.assume_role(RoleArn=role, RoleSessionName="me", Policy=document(rule))["Credentials"]


FORGERIES = [
    "a\nb",
    "a\r\n2026-01-01T00:00:00.000Z info    admin.logged_in",
    "a\x1b[2Jb",
    "a\u2028b",
    "a\u0085b",
    'a","level":"error',
    "a\x00b",
]


@pytest.mark.parametrize("value", [value for value in FORGERIES if not value.isprintable()])
@pytest.mark.parametrize("member", ["UserName", "Path"])
def test_no_name_of_an_identity_has_characters_that_break_lines(iam: Any, member: str, value: str) -> None:
    sent = {"UserName": "somebody", member: value if member == "UserName" else f"/{value}/"}
    with pytest.raises(ClientError) as raised:
        iam.create_user(**sent)
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


@pytest.mark.parametrize("value", FORGERIES)
@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_a_line_of_the_log_stays_one_line(formatter: logging.Formatter, value: str) -> None:
    record = logging.LogRecord("hashrange.x", logging.INFO, "", 0, "event", None, None)
    record.fields = {"agent": value, "more": 1}
    line = formatter.format(record)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert line.isascii()


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("audited")
    with enforcing(folder / "data", "--audit-log", str(folder / "audit.jsonl")) as server:
        yield server


AGENTS = [
    b"a\x0bb",
    b"a\xc2\x85b",
    b"a\xe2\x80\xa8b",
    b'a","eventName":"DeleteTable',
    b"\xff\xfe",
    b"a\x1b[2Jb",
]
CREDENTIALS = [
    b"AKID%0AEVIL%2F20260101%2Fus-east-1%2Fdynamodb%2Faws4_request",
    b"AKID%22%2C%22x%22%3A%22%2F20260101%2Fus-east-1%2Fdynamodb%2Faws4_request",
]


def test_nobody_forges_an_event(audited: Enforcing) -> None:
    """Whatever strangers send as their program or their key, each of their requests is one event at most."""
    audit = Path(audited.data_dir.parent / "audit.jsonl")
    for agent in AGENTS:
        headers = {"User-Agent": agent.decode("latin-1"), "Authorization": ""}
        assert audited.server.post("ListTables", {}, headers=headers).status == 400
    for credential in CREDENTIALS:
        query = (
            b"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%b&X-Amz-Date=20260101T000000Z" % credential
        )
        rest = b"&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=" + b"0" * 64
        target = {
            "X-Amz-Target": "DynamoDB_20120810.ListTables",
            "Content-Type": "application/x-amz-json-1.0",
        }
        answer = audited.server.request("POST", f"/?{(query + rest).decode()}", b"{}", target)
        assert answer.status == 400
    audited.client("dynamodb", audited.administrator).list_tables()
    audited.server.stop()
    lines = audit.read_bytes().split(b"\n")
    events = [json.loads(line) for line in lines if line]
    assert lines[-1] == b""
    named = [event for event in events if event.get("eventName") == "DeleteTable"]
    assert named == []
    assert all(line.isascii() or "\x1b" not in line.decode() for line in lines)
    assert not any(character in audit.read_text("utf-8") for character in ("\x0b", "\x1b", "\x85", "\u2028"))
    log = audited.server.log_text()
    assert not any(character in log for character in ("\x0b", "\x1b", "\x85", "\u2028"))
    assert "EVIL" not in [line.strip()[:4] for line in log.splitlines()]
