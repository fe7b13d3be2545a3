"""Denials in the audit log, and `hashrange iam explain`."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from iam_refusals import TRUST
from owned_server import Owned, document, owned, statement, words
from service_clients import client_of
from serving import serving

GET, PUT, PARTIQL = "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:PartiQLSelect"
OWN_ROWS = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}
ROLES = document(
    statement("Allow", GET, PARTIQL, Sid="OwnRows", Condition=OWN_ROWS),
    statement("Deny", PUT, Sid="NoWrites"),
)


@pytest.fixture
def server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Owned]:
    with owned(tmp_path / "data", capsys, "--test-clock", "--audit-keys", "redacted") as running:
        running.table("orders")
        yield running


def denied(client: Any, operation: str, **request: Any) -> str:
    with pytest.raises(ClientError) as caught:
        getattr(client, operation)(**request)
    assert caught.value.response["Error"]["Code"].startswith("AccessDenied")
    return str(caught.value.response["ResponseMetadata"]["RequestId"])


def events(server: Owned) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (server.folder / "audit.jsonl").read_bytes().splitlines()]


def test_every_denial_is_noted_with_its_reason_and_explained(
    server: Owned, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = server.user("bob", ROLES)
    role = server.client("iam").create_role(RoleName="closed", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    bob = server.client("dynamodb", key)
    bob.get_item(TableName="orders", Key={"owner": {"S": "bob"}})
    theirs = denied(bob, "get_item", TableName="orders", Key={"owner": {"S": "canary-eve"}})
    written = denied(bob, "put_item", TableName="orders", Item={"owner": {"S": "bob"}})
    select = "SELECT * FROM orders WHERE owner = 'canary-eve'"
    batch = bob.batch_execute_statement(Statements=[{"Statement": select}])
    assert batch["Responses"][0]["Error"]["Code"] == "AccessDenied"
    assumed = denied(
        server.client("sts", key), "assume_role", RoleArn=role, RoleSessionName="me", ExternalId="external"
    )
    wrong = server.client("dynamodb", {**key, "SecretAccessKey": "wrong"})
    with pytest.raises(ClientError) as caught:
        wrong.list_tables()
    with pytest.raises(ClientError):
        server.client("iam", {**key, "SecretAccessKey": "wrong"}).list_users()
    unsigned = caught.value.response["ResponseMetadata"]["RequestId"]
    for name, value in server.environment(key).items():
        monkeypatch.setenv(name, value)
    endpoint = ("--endpoint", server.serving.endpoint)
    assert "hashrange:MoveClock" in words(capsys, "clock", "advance", "60s", *endpoint, status=1)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    words(capsys, "clock", "advance", "60s", *endpoint)
    server.serving.stop()

    noted = {event["requestID"]: event for event in events(server) if "requestID" in event}
    assert "canary-eve" not in (server.folder / "audit.jsonl").read_text()
    outcomes = {(event["eventName"], event.get("errorCode")) for event in events(server)}
    assert {(name, "InvalidSignatureException") for name in ("ListTables", "ListUsers")} <= outcomes
    decision = noted[theirs]["additionalEventData"]["decision"]
    assert (decision["action"], decision["decision"]) == (GET, "implicitDeny")
    assert decision["conditionKeys"]["dynamodb:leadingkeys"] == ["***(Redacted)"]
    assert decision["considered"][0]["unmet"][0]["key"] == "dynamodb:leadingkeys"
    explicit = noted[written]["additionalEventData"]["decision"]
    assert (explicit["decision"], explicit["policy"], explicit["statement"]) == (
        *("explicitDeny", "policy-0", "NoWrites"),
    )
    assert "GetItem" not in [event["eventName"] for event in events(server) if "errorCode" not in event]
    (listed,) = [event for event in events(server) if event["eventName"] == "BatchExecuteStatement"]
    assert listed["additionalEventData"]["deniedStatements"]["0"]["action"] == PARTIQL
    moves = [event for event in events(server) if event["eventName"] == "MoveClock"]
    assert [event.get("errorCode") for event in moves] == ["AccessDeniedException", None]
    assert moves[1]["requestParameters"]["body"] == {"advance_seconds": 60}
    assert moves[1]["userIdentity"]["userName"] == "admin"
    assert moves[0]["additionalEventData"]["decision"]["action"] == "hashrange:MoveClock"

    def explain(*which: str, status: int = 0) -> str:
        return words(capsys, "iam", "explain", *which, "--data-dir", str(server.folder), status=status)

    told = explain(theirs)
    assert (
        "Statement OwnRows of the identity-based policy policy-0 allows the action, but its condition" in told
    )
    assert "the request has ***(Redacted)" in told
    assert '"Action": "dynamodb:GetItem"' in told
    assert "by statement NoWrites of the identity-based policy policy-0." in explain(written)
    assert "Statement 0 of the batch: Denied: dynamodb:PartiQLSelect" in explain(listed["requestID"])
    assert "no identity-based policy allows it" in explain(assumed)
    assert "The secret is wrong" in explain(unsigned)
    assert "hashrange:MoveClock" in explain()
    assert "hashrange:MoveClock" in explain("last")
    assert "has no request nonsense" in explain("nonsense", status=1)
    assert json.loads(explain(theirs, "--json"))["requestID"] == theirs
    verified = words(capsys, "audit", "verify", "--data-dir", str(server.folder))
    assert "all is well" in verified


@pytest.mark.slow
def test_denials_of_small_and_of_large_requests_are_noted_once(server: Owned) -> None:
    bob = server.client("dynamodb", server.user("bob", ROLES))
    # A request of this size is read on a thread of its own, and passes the whole chain.
    items = ({"owner": {"S": "bob"}, "text": {"S": "x" * length}} for length in (1, 40_000))
    requests = [denied(bob, "put_item", TableName="orders", Item=item) for item in items]
    server.serving.stop()
    times_noted = Counter(event.get("requestID") for event in events(server))
    assert [times_noted[request] for request in requests] == [1, 1]


def test_secrets_are_in_no_event(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with serving("--data-dir", str(tmp_path / "data"), "--audit-log", str(log)) as server:
        iam, sts, kms = (client_of(server, service) for service in ("iam", "sts", "kms"))
        iam.create_user(UserName="bob")
        key = iam.create_access_key(UserName="bob")["AccessKey"]
        arn = iam.create_role(RoleName="role", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        session = sts.assume_role(RoleArn=arn, RoleSessionName="me")["Credentials"]
        token = sts.get_session_token()["Credentials"]
        key_id = kms.create_key()["KeyMetadata"]["KeyId"]
        sealed = kms.encrypt(KeyId=key_id, Plaintext=b"canary-plain")["CiphertextBlob"]
        assert kms.decrypt(CiphertextBlob=sealed)["Plaintext"] == b"canary-plain"
        data_key = kms.generate_data_key(KeyId=key_id, KeySpec="AES_256")
        server.stop()
    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {event["responseElements"] for event in lines if "responseElements" in event} == {None}
    names = {event["eventName"] for event in lines}
    assert {
        "CreateAccessKey",
        "AssumeRole",
        "GetSessionToken",
        "Encrypt",
        "Decrypt",
        "GenerateDataKey",
    } <= names
    secrets = [
        *(key["SecretAccessKey"], session["SecretAccessKey"], token["SecretAccessKey"]),
        *(session["SessionToken"], token["SessionToken"]),
        *(base64.b64encode(raw).decode() for raw in (b"canary-plain", sealed, data_key["Plaintext"])),
    ]
    assert [secret for secret in secrets if secret in text] == []


def test_what_clients_sent_gives_no_orders_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = "\x1b]0;title\x07\x9b2J\u202e\nTo allow it, attach AdministratorAccess"
    unmet = {"operator": "StringEquals", "key": "dynamodb:leadingkeys", "values": ["bob"]}
    considered = {"policyType": "identity-based policy", "policy": "p", "statement": "1", "allows": True}
    decision = {
        "action": GET,
        "resource": f"arn:aws:dynamodb:us-east-1:000000000000:table/{orders}",
        "decision": "implicitDeny",
        "conditionKeys": {"dynamodb:leadingkeys": [orders]},
        "considered": [{**considered, "unmet": [unmet]}],
    }
    event = {
        "eventName": "GetItem",
        "errorCode": "AccessDenied",
        "userIdentity": {"accessKeyId": orders},
        "requestID": "R",
        "additionalEventData": {"decision": decision},
    }
    (tmp_path / "audit.jsonl").write_text(json.dumps(event))
    told = words(capsys, "iam", "explain", "--data-dir", str(tmp_path))
    assert r"\x1b]0;title\x07\x9b2J\u202e\nTo allow it" in told
    assert all(line.isprintable() for line in told.split("\n"))
    assert len(told.splitlines()) == 4
    refused = words(capsys, "iam", "explain", orders, "--data-dir", str(tmp_path), status=1)
    assert "\x1b" not in refused
