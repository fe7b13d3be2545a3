"""A server that asks for signatures and permissions, with its first administrator."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from hashrange import cli
from serving import Serving, serving

REGION = "us-east-1"
TABLE = {
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "owner", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@dataclass
class Owned:
    """The server, its data, and the administrator's key."""

    serving: Serving
    folder: Path
    key: dict[str, str]

    def client(self, service: str, key: dict[str, str] | None = None) -> Any:
        """A client of the administrator, or of whoever has a key."""
        key = key or self.key
        return boto3.client(
            service,
            endpoint_url=self.serving.endpoint,
            region_name=REGION,
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
            aws_session_token=key.get("SessionToken"),
            config=Config(retries={"total_max_attempts": 1}),
        )

    def user(self, name: str, *documents: str) -> dict[str, str]:
        """Make a user with inline policies; give an access key."""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        for number, document in enumerate(documents):
            iam.put_user_policy(UserName=name, PolicyName=f"policy-{number}", PolicyDocument=document)
        key: dict[str, str] = iam.create_access_key(UserName=name)["AccessKey"]
        return key

    def table(self, name: str) -> None:
        """Make a table."""
        dynamodb = self.client("dynamodb")
        dynamodb.create_table(TableName=name, **TABLE)
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})

    def environment(self, key: dict[str, str] | None = None) -> dict[str, str]:
        """What AWS's tools take a key from."""
        key = key or self.key
        return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


@contextmanager
def owned(
    folder: Path, capsys: pytest.CaptureFixture[str], *flags: str, environment: dict[str, str] | None = None
) -> Iterator[Owned]:
    """Run such a server."""
    assert cli.main(["iam", "bootstrap", "--data-dir", str(folder), "--json"]) == 0
    key = json.loads(capsys.readouterr().out)
    with serving("--data-dir", str(folder), "--auth", "iam", *flags, environment=environment) as running:
        yield Owned(running, folder, key)


@contextmanager
def owned_again(folder: Path, key: dict[str, str]) -> Iterator[Owned]:
    """Run a server on data that has an administrator."""
    with serving("--data-dir", str(folder), "--auth", "iam") as running:
        yield Owned(running, folder, key)


def words(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """What a command prints."""
    ended = cli.main(list(arguments))
    printed = capsys.readouterr()
    assert ended == status, printed.err
    return printed.out + printed.err


def statement(effect: str, *actions: str, **elements: Any) -> dict[str, Any]:
    return {"Effect": effect, "Action": list(actions), "Resource": "*", **elements}


def document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
