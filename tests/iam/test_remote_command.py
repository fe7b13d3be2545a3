"""`hashrange iam --endpoint`: a running server is managed and asked without being stopped."""

import json
from pathlib import Path

import pytest

from hashrange import cli
from iam_refusals import ANYTHING, TRUST
from owned_server import document, owned, statement, words

GET = "dynamodb:GetItem"
OWN_ROWS = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}


def denied_abroad(folder: Path) -> str:
    """A file with the policy in own.json, and a denial that depends on the address."""
    content = json.loads((folder / "own.json").read_text())
    abroad = {"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}}
    content["Statement"].append(statement("Deny", GET, Sid="Abroad", Condition=abroad))
    (folder / "abroad.json").write_text(json.dumps(content))
    return str(folder / "abroad.json")


def test_all_of_it_through_a_running_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trust.json").write_text(TRUST)
    (tmp_path / "all.json").write_text(ANYTHING)
    (tmp_path / "own.json").write_text(document(statement("Allow", GET, Sid="OwnRows", Condition=OWN_ROWS)))
    (tmp_path / "none.json").write_text(document(statement("Allow", "s3:GetObject")))
    with owned(tmp_path / "data", capsys) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)

        def iam(*arguments: str, status: int = 0) -> str:
            return words(capsys, "iam", *arguments, "--endpoint", server.serving.endpoint, status=status)

        assert "in use by another server" in words(
            capsys, "iam", "list-users", "--data-dir", str(tmp_path / "data"), status=1
        )
        assert "--endpoint URL" in words(
            capsys, "iam", "list-users", "--data-dir", str(tmp_path / "data"), status=1
        )
        iam("create-user", "bob")
        key = json.loads(iam("create-access-key", "bob", "--json"))
        rotated = json.loads(iam("rotate-access-key", "bob", key["AccessKeyId"], "--json"))
        listed = json.loads(iam("list-access-keys", "bob", "--json"))["AccessKeyMetadata"]
        assert {entry["AccessKeyId"]: entry["Status"] for entry in listed} == {
            key["AccessKeyId"]: "Inactive",
            rotated["AccessKeyId"]: "Active",
        }
        iam("create-role", "reader", "--trust", str(tmp_path / "trust.json"))
        iam("put-policy", "own", "--user", "bob", "--document", str(tmp_path / "own.json"))
        assert "UserName: bob" in iam("list-users")
        assert "The user with name eve cannot be found." in iam("delete-user", "eve", status=1)
        assert "stop the server" in iam("bootstrap", status=1)
        assert "do not go with it" in iam("list-users", "--account", "000000000000", status=1)

        def simulate(*arguments: str, status: int) -> str:
            return iam("simulate", "--as", "bob", *arguments, status=status)

        mine = simulate(GET, "orders", "--context", "dynamodb:LeadingKeys=bob", status=0)
        assert mine.startswith("allowed\n")
        assert "by statement OwnRows of the identity-based policy own." in mine
        theirs = simulate(GET, "orders", "--context", "dynamodb:LeadingKeys=eve", status=3)
        assert theirs.startswith("denied\n")
        assert "ForAllValues:StringEquals dynamodb:leadingkeys: ${aws:username} does not hold" in theirs
        assert "the request has eve" in theirs
        limited = simulate(GET, "orders", "--session-policy", str(tmp_path / "none.json"), status=3)
        assert "session policy:\n  Denied: dynamodb:GetItem" in limited
        iam("put-policy", "own", "--user", "bob", "--document", denied_abroad(tmp_path))
        unknown = simulate(GET, "orders", "--context", "dynamodb:LeadingKeys=bob", status=4)
        assert unknown.startswith("unknown\n")
        assert "depending on aws:SourceIp: --context aws:SourceIp=VALUE" in unknown
        here = ("--context", "aws:SourceIp=10.0.0.1", "--context", "dynamodb:LeadingKeys=bob")
        assert simulate(GET, "orders", *here, status=0).startswith("allowed\n")
        server.table("orders")
        denial = document(statement("Deny", GET, Sid="Closed", Principal="*"))
        arn = server.client("dynamodb").describe_table(TableName="orders")["Table"]["TableArn"]
        server.client("dynamodb").put_resource_policy(ResourceArn=arn, Policy=denial)
        closed = simulate(GET, "orders", status=3)
        assert "by statement Closed of the resource-based policy ResourcePolicy." in closed
        with monkeypatch.context() as other:
            other.setenv("AWS_ACCESS_KEY_ID", rotated["AccessKeyId"])
            other.setenv("AWS_SECRET_ACCESS_KEY", rotated["SecretAccessKey"])
            assert "is not authorized to perform: iam:ListUsers" in iam("list-users", status=1)
        server.serving.stop()
    stopped = ["iam", "simulate", "--as", "bob", GET, "orders", "--data-dir", str(tmp_path / "data")]
    assert cli.main(stopped) == 3
    assert "by statement Closed of the resource-based policy" in capsys.readouterr().out


def test_where_there_is_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    told = words(capsys, "iam", "list-users", "--endpoint", "http://127.0.0.1:1", status=1)
    assert "there is no server at http://127.0.0.1:1" in told
