"""What the examples share: callers with keys, and a server to try them on."""

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

ACCOUNT = "000000000000"
REGION = "us-east-1"


@dataclass(frozen=True)
class Caller:
    """Somebody with an access key, and with a token if it is a session's."""

    endpoint: str
    access_key_id: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def client(self, service: str = "dynamodb") -> Any:
        """A client that signs with the key."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret,
            aws_session_token=self.token,
        )

    def new_user(self, name: str, *statements: dict[str, Any]) -> "Caller":
        """A user with an inline policy and an access key."""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="example", PolicyDocument=document(*statements))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return Caller(self.endpoint, key["AccessKeyId"], key["SecretAccessKey"])

    def assumed(self, role_arn: str, **tags: str) -> "Caller":
        """A session of a role, with tags."""
        listed = [{"Key": key, "Value": value} for key, value in tags.items()]
        answer = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName="example", Tags=listed)
        made = answer["Credentials"]
        return Caller(self.endpoint, made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])

    def delete_user(self, name: str) -> None:
        """Delete a user with their keys and the policy."""
        iam = self.client("iam")
        for key in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]:
            iam.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
        iam.delete_user_policy(UserName=name, PolicyName="example")
        iam.delete_user(UserName=name)

    def new_table(self, name: str, *keys: str, **options: Any) -> None:
        """A table whose keys are texts, once it is there."""
        client = self.client()
        kinds = zip(keys, ("HASH", "RANGE"), strict=False)
        client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
            **options,
        )
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


def document(*statements: dict[str, Any]) -> str:
    """A policy of these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def attempt(what: str, call: Callable[..., Any], **request: Any) -> None:
    """Try something, and print what came of it."""
    try:
        call(**request)
    except ClientError as error:
        print(f"{what}: {error.response['Error']['Code']}")
    else:
        print(f"{what}: done")


@contextmanager
def own_server(*accounts: str, flags: Sequence[str] = ()) -> Iterator[list[Caller]]:
    """A server with `--auth iam` on encrypted data of its own, and an administrator of each account."""
    hashrange = (sys.executable, "-m", "hashrange")
    with tempfile.TemporaryDirectory() as folder:
        root_key = Path(folder) / "root.key"
        root_key.touch(mode=0o600)
        root_key.write_text(secrets.token_hex(32))
        data = ("--data-dir", str(Path(folder) / "data"), "--root-key", f"file:{root_key}")
        keys = []
        for account in accounts:
            bootstrap = (*hashrange, "iam", "bootstrap", *data, "--account", account, "--json")
            keys.append(json.loads(subprocess.run(bootstrap, capture_output=True, check=True).stdout))
        serve = ("serve", "--auth", "iam", *data, "--port", "0", "--log-level", "error", *flags)
        with subprocess.Popen((*hashrange, *serve), stdout=subprocess.PIPE, text=True) as server:
            try:
                endpoint = _endpoint(server)
                yield [Caller(endpoint, key["AccessKeyId"], key["SecretAccessKey"]) for key in keys]
            finally:
                server.terminate()


def _endpoint(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        found = re.search(r"endpoint\s+(https?://\S+)", line)
        if found:
            return found[1]
    raise RuntimeError("the server did not start")


def main(run: Callable[[Caller], None]) -> None:
    """Run an example on the server that is named, as the caller in the environment; or on one of its own."""
    if len(sys.argv) > 1:
        run(Caller(sys.argv[1], os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]))
        return
    with own_server(ACCOUNT) as (administrator,):
        run(administrator)
