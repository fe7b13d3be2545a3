"""`hashrange iam`: the first administrator, and what can be done while no server runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange import cli
from hashrange.storage.directory import Directory
from hashrange.storage.sqlite import SqliteEngine
from hashrange.vaults import open_keys
from iam_refusals import ANYTHING, TRUST


class Command:
    """The command on one data directory."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *words: str, status: int = 0) -> tuple[Any, str]:
        """What it prints as JSON, and what it tells besides."""
        assert cli.main(["iam", *words, "--data-dir", str(self.folder), "--json"]) == status
        printed = self._capsys.readouterr()
        return json.loads(printed.out) if status == 0 else printed.out, printed.err


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path / "data", capsys)


def test_bootstrap_makes_one_administrator(command: Command) -> None:
    key, told = command("bootstrap")
    assert key.keys() == {"AccessKeyId", "SecretAccessKey"}
    assert "root.key. Keep a copy" in told
    assert key["SecretAccessKey"] not in told
    out, told = command("bootstrap", status=1)
    assert out == ""
    assert f"There is an administrator already, with the access key {key['AccessKeyId']}" in told
    engine = SqliteEngine.open(command.folder)
    directory = Directory(engine, open_keys("", engine)[1])
    directory.start()
    credential = directory.credential(key["AccessKeyId"])
    engine.close()
    assert credential is not None
    assert credential.secret == key["SecretAccessKey"]
    assert [policy.name for policy in credential.principal.identity] == ["AdministratorAccess"]


def test_a_lost_key_is_replaced(command: Command) -> None:
    key, _ = command("bootstrap")
    command("delete-access-key", "admin", key["AccessKeyId"])
    again, _ = command("bootstrap")
    assert again["AccessKeyId"] != key["AccessKeyId"]
    rotated, _ = command("rotate-access-key", "admin", again["AccessKeyId"])
    listed, _ = command("list-access-keys", "admin")
    assert {entry["AccessKeyId"]: entry["Status"] for entry in listed["AccessKeyMetadata"]} == {
        again["AccessKeyId"]: "Inactive",
        rotated["AccessKeyId"]: "Active",
    }


def test_a_rotation_of_a_key_that_is_not_there_leaves_nothing(command: Command) -> None:
    command("create-user", "bob")
    _, told = command("rotate-access-key", "bob", "AKIA" + "X" * 16, status=1)
    assert "cannot be found" in told
    assert command("list-access-keys", "bob")[0]["AccessKeyMetadata"] == []


def test_users_roles_groups_and_policies(command: Command, tmp_path: Path) -> None:
    document, trust = tmp_path / "policy.json", tmp_path / "trust.json"
    document.write_text(ANYTHING)
    trust.write_text(TRUST)
    command("create-user", "bob")
    command("create-group", "staff")
    command("create-role", "reader", "--trust", str(trust))
    arn = command("create-policy", "everything", "--document", str(document))[0]["Policy"]["Arn"]
    for owner in (("--user", "bob"), ("--group", "staff"), ("--role", "reader")):
        command("attach-policy", arn, *owner)
        command("put-policy", "inline", *owner, "--document", str(document))
        command("delete-policy", "inline", *owner)
        command("detach-policy", arn, *owner)
    assert [role["RoleName"] for role in command("list-roles")[0]["Roles"]] == ["reader"]
    command("delete-role", "reader")
    command("delete-group", "staff")
    command("delete-user", "bob")
    assert command("list-users")[0]["Users"] == []
    _, told = command("put-policy", "p", "--user", "bob", "--document", str(tmp_path / "none"), status=1)
    assert "cannot be read" in told


def test_accounts_are_apart(command: Command) -> None:
    command("create-user", "bob", "--account", "111122223333")
    assert command("list-users")[0]["Users"] == []
    listed = command("list-users", "--account", "111122223333")[0]["Users"]
    assert [user["Arn"] for user in listed] == ["arn:aws:iam::111122223333:user/bob"]
    assert "twelve digits" in command("list-users", "--account", "1", status=1)[1]


def test_a_lost_or_wrong_root_key_is_said(command: Command, tmp_path: Path) -> None:
    command("bootstrap")
    (command.folder / "root.key").rename(tmp_path / "elsewhere")
    _, told = command("list-users", status=1)
    assert "--root-key" in told
    assert command("list-users", "--root-key", f"file:{tmp_path / 'elsewhere'}")[0]["Users"]


def test_people_are_shown_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["create-user", "bob"], ["create-access-key", "bob"], ["delete-group", "none"]):
        cli.main(["iam", *words, "--data-dir", str(tmp_path / "data")])
    printed = capsys.readouterr()
    assert "Arn: arn:aws:iam::000000000000:user/bob\n" in printed.out
    assert "SecretAccessKey: " in printed.out
    assert "The group with name none cannot be found." in printed.err
