"""Identities survive kill -9, are the same for all workers, and their secrets are in no log."""

import signal
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

import warm
from iam_refusals import ANYTHING, TRUST
from owned_server import document, owned, statement
from service_clients import client_of
from serving import serving


def names(iam: Any) -> set[str]:
    return {user["UserName"] for user in iam.list_users(MaxItems=1000)["Users"]}


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path / "data"))
    with serving(*flags) as running:
        iam = client_of(running, "iam")
        iam.create_user(UserName="alice")
        iam.put_user_policy(UserName="alice", PolicyName="p", PolicyDocument=ANYTHING)
        key = iam.create_access_key(UserName="alice")["AccessKey"]
        running.stop(signal.SIGKILL)
        assert key["SecretAccessKey"] not in running.log_text()
    assert (tmp_path / "data" / "root.key").stat().st_mode & 0o777 == 0o600
    with serving(*flags) as running:
        iam = client_of(running, "iam")
        assert names(iam) == {"alice"}
        assert iam.list_user_policies(UserName="alice")["PolicyNames"] == ["p"]
        listed = iam.list_access_keys(UserName="alice")["AccessKeyMetadata"]
        assert [entry["AccessKeyId"] for entry in listed] == [key["AccessKeyId"]]


def test_a_server_does_not_start_without_the_root_key_of_its_data(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with serving("--data-dir", str(folder)) as running:
        iam = client_of(running, "iam")
        iam.create_user(UserName="alice")
        iam.create_access_key(UserName="alice")
    (folder / "root.key").unlink()
    ended = warm.run("serve", "--port", "0", "--data-dir", str(folder))
    assert ended.returncode == 1
    assert "encrypted under a root key" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_all_workers_know_the_same(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path / "data"), "--workers", "2") as running:
        clients = [client_of(running, "iam") for _ in range(6)]
        for number, iam in enumerate(clients):
            iam.create_user(UserName=f"user-{number}")
            iam.create_access_key(UserName=f"user-{number}")
        made = {f"user-{number}" for number in range(len(clients))}
        assert [names(iam) for iam in clients] == [made] * len(clients)
        arn = clients[0].create_role(RoleName="r", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        for _ in range(6):
            answer = client_of(running, "sts").assume_role(RoleArn=arn, RoleSessionName="me")
            assert answer["Credentials"]["SessionToken"]


@pytest.mark.slow
def test_a_renamed_user_keeps_the_trust_and_the_next_of_that_name_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with owned(tmp_path / "data", capsys) as server:
        iam, key = server.client("iam"), server.user("bob")
        bob = iam.get_user(UserName="bob")["User"]["Arn"]
        trust = document({"Effect": "Allow", "Principal": {"AWS": bob}, "Action": "sts:AssumeRole"})
        role = iam.create_role(RoleName="app", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        iam.update_user(UserName="bob", NewUserName="robert", NewPath="/moved/")
        assumed = server.client("sts", key).assume_role(RoleArn=role, RoleSessionName="me")
        assert assumed["Credentials"]["SessionToken"]
        again = server.user("bob")
        with pytest.raises(ClientError, match="not authorized to perform: sts:AssumeRole"):
            server.client("sts", again).assume_role(RoleArn=role, RoleSessionName="me")
        for shown in (iam.get_role(RoleName="app")["Role"], iam.list_roles()["Roles"][0]):
            (one,) = shown["AssumeRolePolicyDocument"]["Statement"]
            assert one["Principal"] == {"AWS": bob.replace("user/bob", "user/moved/robert")}


@pytest.mark.slow
def test_nobody_changes_who_is_behind_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with owned(tmp_path / "data", capsys) as server:
        iam = server.client("iam")
        everything = document(statement("Allow", "sts:*"))
        key = server.user("bob", everything)
        account = {"AWS": server.client("sts").get_caller_identity()["Account"]}

        def role(name: str, *actions: str) -> str:
            trust = document({"Effect": "Allow", "Principal": account, "Action": list(actions)})
            made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]
            iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=everything)
            return str(made["Arn"])

        first, second = role("first", "sts:*"), role("second", "sts:*")
        third = role("third", "sts:AssumeRole")  # which takes nobody's word for who is behind a session

        def assumed(who: dict[str, str], arn: str, **more: str) -> dict[str, Any]:
            answer: dict[str, Any] = server.client("sts", who).assume_role(
                RoleArn=arn, RoleSessionName="me", **more
            )
            return answer

        known = assumed(key, first, SourceIdentity="bob")["Credentials"]
        assert assumed(known, second)["SourceIdentity"] == "bob"
        assert assumed(known, second, SourceIdentity="bob")["SourceIdentity"] == "bob"
        with pytest.raises(ClientError, match="cannot be changed"):
            assumed(known, second, SourceIdentity="eve")
        with pytest.raises(ClientError, match="not authorized to perform: sts:SetSourceIdentity"):
            assumed(known, third)
        assert "SourceIdentity" not in assumed(key, third)
