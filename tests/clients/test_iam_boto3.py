"""boto3 with verified signatures and policies: every way it finds credentials, and what each of them opens."""

import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree as ET

import boto3
import pytest
from botocore.exceptions import ClientError

from auth.test_web_tokens import ISSUER, token
from enforcing import ACCOUNT, READ_ONLY, REGION, Enforcing, Key, document, statement

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LEADING_KEYS = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}
ITEM = {"pk": {"S": "a"}, "sk": {"S": "1"}}


@pytest.fixture(scope="module")
def table(iam_server: Enforcing) -> str:
    """The name of a table with one item."""
    name = unique("notes")
    iam_server.table(name)
    iam_server.client("dynamodb", iam_server.administrator).put_item(TableName=name, Item=ITEM)
    return name


def unique(name: str) -> str:
    return f"{name}-{uuid4().hex[:12]}"


def arn_of(table: str) -> str:
    return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}"


def refused(call: Any, **arguments: Any) -> tuple[str, str]:
    """The code and message of an error."""
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, iam_server: Enforcing) -> Path:
    """An environment without credentials; gives the folder where boto3 looks for its files."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", iam_server.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    return tmp_path


def profile_of(key: Key) -> str:
    return f"aws_access_key_id = {key.access_key_id}\naws_secret_access_key = {key.secret}\n"


def test_an_administrator_may_do_everything(iam_server: Enforcing) -> None:
    resource = boto3.resource(
        "dynamodb",
        endpoint_url=iam_server.endpoint,
        region_name=REGION,
        **iam_server.administrator.arguments,
    )
    name = unique("admin")
    iam_server.table(name)
    table = resource.Table(name)
    table.wait_until_exists()
    with table.batch_writer() as batch:
        for number in range(60):
            batch.put_item(Item={"pk": "é ü", "sk": f"{number:02}", "n": number})
    assert table.scan(Select="COUNT")["Count"] == 60
    assert table.get_item(Key={"pk": "é ü", "sk": "07"})["Item"]["n"] == 7
    table.delete()
    table.wait_until_not_exists()


def test_a_reader_reads_and_is_told_why_it_does_not_write(iam_server: Enforcing, table: str) -> None:
    name = unique("reader")
    client = iam_server.client("dynamodb", iam_server.user(name, attached=[READ_ONLY]))
    assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    assert client.describe_table(TableName=table)["Table"]["TableArn"] == arn_of(table)
    assert refused(client.put_item, TableName=table, Item=ITEM) == (
        "AccessDeniedException",
        (
            f"User: arn:aws:iam::{ACCOUNT}:user/{name} is not authorized to perform: dynamodb:PutItem on resource: "
            f"{arn_of(table)} because no identity-based policy allows the dynamodb:PutItem action"
        ),
    )
    # Whether there is such a table is not for this user to know.
    assert refused(client.delete_table, TableName="no-such-table")[0] == "AccessDeniedException"


def test_one_table_and_no_other(iam_server: Enforcing, table: str) -> None:
    other = unique("other")
    iam_server.table(other)
    key = iam_server.user(unique("one"), statement("dynamodb:*", arn_of(table)))
    client = iam_server.client("dynamodb", key)
    client.put_item(TableName=table, Item={**ITEM, "sk": {"S": "2"}})
    for name in (other, "there-is-no-such-table"):
        assert refused(client.get_item, TableName=name, Key=ITEM)[0] == "AccessDeniedException"
    assert refused(client.list_tables)[0] == "AccessDeniedException"
    parts = [{"Put": {"TableName": place, "Item": ITEM}} for place in (table, other)]
    assert refused(client.transact_write_items, TransactItems=parts)[0] == "AccessDeniedException"


def test_everybody_has_a_partition_of_their_own(iam_server: Enforcing, table: str) -> None:
    name = unique("tenant")
    rule = statement(["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"], arn_of(table))
    client = iam_server.client("dynamodb", iam_server.user(name, {**rule, "Condition": LEADING_KEYS}))
    mine = {"pk": {"S": name}, "sk": {"S": "1"}}
    client.put_item(TableName=table, Item=mine)
    assert client.get_item(TableName=table, Key=mine)["Item"] == mine
    assert refused(client.get_item, TableName=table, Key=ITEM)[0] == "AccessDeniedException"
    assert refused(client.put_item, TableName=table, Item=ITEM)[0] == "AccessDeniedException"
    assert refused(client.scan, TableName=table)[0] == "AccessDeniedException"


@pytest.fixture(scope="module")
def session_roles(iam_server: Enforcing, table: str) -> tuple[Key, str]:
    """A user who may do nothing, and a role of theirs that reads the table."""
    name = unique("worker")
    key = iam_server.user(name)
    arn = iam_server.role(
        f"{name}-role",
        f"arn:aws:iam::{ACCOUNT}:user/{name}",
        statement(["dynamodb:GetItem", "dynamodb:Query"], arn_of(table)),
    )
    return key, arn


def assumed(iam_server: Enforcing, key: Key, role: str, **more: Any) -> Key:
    sts = iam_server.client("sts", key)
    made = sts.assume_role(RoleArn=role, RoleSessionName="tour", **more)["Credentials"]
    return Key(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])


def test_a_role_session(iam_server: Enforcing, table: str, session_roles: tuple[Key, str]) -> None:
    key, role = session_roles
    session = assumed(iam_server, key, role)
    arn = iam_server.client("sts", session).get_caller_identity()["Arn"]
    assert arn == f"{role.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/tour"
    client = iam_server.client("dynamodb", session)
    assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    assert refused(client.put_item, TableName=table, Item=ITEM)[0] == "AccessDeniedException"
    own = iam_server.client("dynamodb", key)
    assert refused(own.get_item, TableName=table, Key=ITEM)[0] == "AccessDeniedException"
    without_token = iam_server.client("dynamodb", session._replace(token=None))
    assert refused(without_token.get_item, TableName=table, Key=ITEM)[0] == "UnrecognizedClientException"
    swapped = iam_server.client("dynamodb", session._replace(secret=key.secret))
    assert refused(swapped.get_item, TableName=table, Key=ITEM)[0] == "InvalidSignatureException"


def test_a_session_policy_narrows_a_role(
    iam_server: Enforcing, table: str, session_roles: tuple[Key, str]
) -> None:
    narrow = document(
        statement("dynamodb:*", arn_of(table), Condition={"Bool": {"aws:SecureTransport": "true"}})
    )
    client = iam_server.client("dynamodb", assumed(iam_server, *session_roles, Policy=narrow))
    assert (
        "because no session policy allows the dynamodb:GetItem action"
        in (refused(client.get_item, TableName=table, Key=ITEM)[1])
    )


def test_a_session_ends_with_its_role(iam_server: Enforcing, table: str) -> None:
    name = unique("short")
    key = iam_server.user(name)
    user = f"arn:aws:iam::{ACCOUNT}:user/{name}"
    role = iam_server.role(name, user, statement("dynamodb:GetItem", arn_of(table)))
    client = iam_server.client("dynamodb", assumed(iam_server, key, role))
    assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    iam = iam_server.client("iam", iam_server.administrator)
    iam.delete_role_policy(RoleName=name, PolicyName="of-the-test")
    assert refused(client.get_item, TableName=table, Key=ITEM)[0] == "AccessDeniedException"
    iam.delete_role(RoleName=name)
    assert refused(client.get_item, TableName=table, Key=ITEM)[0] == "UnrecognizedClientException"


def test_a_key_that_is_disabled_opens_nothing(iam_server: Enforcing, table: str) -> None:
    name = unique("leaver")
    key = iam_server.user(name, statement("dynamodb:*"))
    client = iam_server.client("dynamodb", key)
    assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    iam = iam_server.client("iam", iam_server.administrator)
    for status, code in (("Inactive", "UnrecognizedClientException"), ("Active", None)):
        iam.update_access_key(UserName=name, AccessKeyId=key.access_key_id, Status=status)
        if code is None:
            assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
        else:
            assert refused(client.get_item, TableName=table, Key=ITEM)[0] == code


@pytest.mark.usefixtures("clean")
def test_credentials_from_the_environment(
    iam_server: Enforcing, monkeypatch: pytest.MonkeyPatch, session_roles: tuple[Key, str]
) -> None:
    for name, value in assumed(iam_server, *session_roles).environment.items():
        monkeypatch.setenv(name, value)
    assert ":assumed-role/" in boto3.Session().client("sts").get_caller_identity()["Arn"]


def test_credentials_from_a_profile(iam_server: Enforcing, clean: Path) -> None:
    (clean / "credentials").write_text(f"[admin]\n{profile_of(iam_server.administrator)}")
    session = boto3.Session(profile_name="admin")
    assert session.client("sts").get_caller_identity()["Arn"].endswith(":user/admin")
    assert session.resource("dynamodb").meta.client.list_tables()["TableNames"] is not None


def test_credentials_of_a_role_that_a_profile_names(
    clean: Path, table: str, session_roles: tuple[Key, str]
) -> None:
    """boto3 assumes the role by itself, and signs with the session that it gets."""
    key, role = session_roles
    (clean / "credentials").write_text(f"[base]\n{profile_of(key)}")
    (clean / "config").write_text(
        f"[profile reading]\nrole_arn = {role}\nsource_profile = base\nrole_session_name = profile\n"
    )
    session = boto3.Session(profile_name="reading")
    assert session.client("sts").get_caller_identity()["Arn"].endswith("-role/profile")
    assert session.client("dynamodb").get_item(TableName=table, Key=ITEM)["Item"] == ITEM


def test_credentials_that_a_program_prints(clean: Path, iam_server: Enforcing) -> None:
    key = iam_server.administrator
    printed = {"Version": 1, "AccessKeyId": key.access_key_id, "SecretAccessKey": key.secret}
    (clean / "printed.json").write_text(json.dumps(printed))
    (clean / "config").write_text(f"[default]\ncredential_process = cat {clean / 'printed.json'}\n")
    assert boto3.Session().client("sts").get_caller_identity()["Account"] == ACCOUNT


def test_credentials_for_the_token_of_a_provider(
    clean: Path, iam_server: Enforcing, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As clusters give them to their workloads: a file with a token, and the role that it is good for."""
    issuer = ISSUER.removeprefix("https://")
    trust = {
        "Effect": "Allow",
        "Principal": {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{issuer}"},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{issuer}:aud": "app", f"{issuer}:sub": "user-1"}},
    }
    name = unique("workload")
    iam = iam_server.client("iam", iam_server.administrator)
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust))["Role"]["Arn"]
    rule = document(statement("dynamodb:GetItem", arn_of(table)))
    iam.put_role_policy(RoleName=name, PolicyName="reads", PolicyDocument=rule)
    now = int(time.time())
    (clean / "token").write_text(token(iat=now, exp=now + 600))
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(clean / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", role)
    monkeypatch.setenv("AWS_ROLE_SESSION_NAME", "pod")
    session = boto3.Session()
    assert session.client("sts").get_caller_identity()["Arn"].endswith(f":assumed-role/{name}/pod")
    client = session.client("dynamodb")
    assert client.get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    assert refused(client.delete_table, TableName=table)[0] == "AccessDeniedException"
    (clean / "token").write_text(token(iat=now, exp=now + 600, sub="user-2"))
    assert refused(boto3.Session().client("sts").get_caller_identity)[0] == "AccessDenied"


def test_a_presigned_url_tells_who_signed_it(iam_server: Enforcing, session_roles: tuple[Key, str]) -> None:
    """As clusters let their users prove who they are; the URL is good for nothing else."""
    session = assumed(iam_server, *session_roles)
    url = iam_server.client("sts", session).generate_presigned_url(
        "get_caller_identity", ExpiresIn=60, HttpMethod="GET"
    )
    with urllib.request.urlopen(url, timeout=60) as answer:
        tree = ET.fromstring(answer.read())
    assert any((node.text or "").endswith("-role/tour") for node in tree.iter() if node.tag.endswith("Arn"))
    for changed in (
        url.replace("GetCallerIdentity", "GetSessionToken"),
        url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"),
        url[:-1] + ("0" if url[-1] != "0" else "1"),
    ):
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(changed, timeout=60)
        assert raised.value.code == 403
        raised.value.close()
