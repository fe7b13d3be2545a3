"""Servers with --auth iam, their first administrator, and users with the policies that a test gives them."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import boto3
from botocore.config import Config

from serving import Serving, serving

REGION = "us-east-1"
ACCOUNT = "000000000000"
READ_ONLY = "arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess"


class Key(NamedTuple):
    """An access key, as an SDK takes it."""

    access_key_id: str
    secret: str
    token: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What AWS's tools read."""
        named = {"AWS_ACCESS_KEY_ID": self.access_key_id, "AWS_SECRET_ACCESS_KEY": self.secret}
        return named if self.token is None else {**named, "AWS_SESSION_TOKEN": self.token}

    @property
    def arguments(self) -> dict[str, str | None]:
        """What boto3 takes."""
        return {
            "aws_access_key_id": self.access_key_id,
            "aws_secret_access_key": self.secret,
            "aws_session_token": self.token,
        }


def statement(
    actions: str | Sequence[str], resource: str = "*", effect: str = "Allow", **more: Any
) -> dict[str, Any]:
    """One statement of an identity policy."""
    return {"Effect": effect, "Action": actions, "Resource": resource, **more}


def document(*statements: dict[str, Any]) -> str:
    """A policy."""
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def trusting(principal: str) -> str:
    """The trust policy of a role that this user, or account, may assume."""
    return document({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": "sts:AssumeRole"})


@dataclass(frozen=True)
class Enforcing:
    """A running server and its administrator's key."""

    server: Serving
    administrator: Key
    data_dir: Path
    verify: Path | None = None  # the authority that clients trust, with TLS

    @property
    def endpoint(self) -> str:
        return self.server.endpoint

    def client(self, service: str, key: Key, **config: Any) -> Any:
        """A boto3 client that sees an error the first time it happens."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            verify=None if self.verify is None else str(self.verify),
            config=Config(retries={"total_max_attempts": 1}, read_timeout=60, **config),
            **key.arguments,
        )

    def user(self, name: str, *statements: dict[str, Any], attached: Sequence[str] = ()) -> Key:
        """Make a user with these statements and managed policies, and a key."""
        iam = self.client("iam", self.administrator)
        iam.create_user(UserName=name)
        if statements:
            iam.put_user_policy(UserName=name, PolicyName="of-the-test", PolicyDocument=document(*statements))
        for arn in attached:
            iam.attach_user_policy(UserName=name, PolicyArn=arn)
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return Key(made["AccessKeyId"], made["SecretAccessKey"])

    def role(self, name: str, trusted: str, *statements: dict[str, Any]) -> str:
        """Make a role; give its ARN."""
        iam = self.client("iam", self.administrator)
        made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trusting(trusted))["Role"]
        iam.put_role_policy(RoleName=name, PolicyName="of-the-test", PolicyDocument=document(*statements))
        arn: str = made["Arn"]
        return arn

    def table(self, name: str) -> str:
        """Make a table with a hash and a range key; give its ARN."""
        made = self.client("dynamodb", self.administrator).create_table(
            TableName=name,
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )["TableDescription"]
        arn: str = made["TableArn"]
        return arn


def bootstrap(data_dir: Path, *flags: str) -> Key:
    """Make the first administrator's key."""
    words = ["iam", "bootstrap", "--data-dir", str(data_dir), "--json", *flags]
    command = [sys.executable, "-m", "hashrange", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    made = json.loads(done.stdout)
    return Key(made["AccessKeyId"], made["SecretAccessKey"])


def _root_key(path: Path) -> tuple[str, str]:
    """The flag for a new root key: with it data is encrypted, and there is a key service."""
    path.touch(mode=0o600)
    path.write_text("5e" * 32)
    return "--root-key", f"file:{path}"


@contextmanager
def enforcing(
    data_dir: Path, *flags: str, verify: Path | None = None, encrypts: bool = False
) -> Iterator[Enforcing]:
    """Start a server on new data; whatever it fails at unexpectedly fails the test."""
    root = _root_key(data_dir.with_suffix(".key")) if encrypts else ()
    key = bootstrap(data_dir, *root)
    common = ("--data-dir", str(data_dir), "--auth", "iam", "--transition-ms", "0", *root)
    with serving(*common, *flags) as running:
        yield Enforcing(running, key, data_dir, verify)
        log = running.log_text()
    assert "Traceback" not in log, log
