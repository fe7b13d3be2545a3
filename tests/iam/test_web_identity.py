"""AssumeRoleWithWebIdentity: a token of the configured provider instead of a key."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from auth.test_web_tokens import FORGED, ISSUER, key_set, token
from hashrange.config import SettingInvalid, load
from hashrange.services.sts import providers
from iam_refusals import ACCOUNT, refused
from owned_server import Owned, document, owned, statement, words

PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/id.example.org/realm"
ACTION = "sts:AssumeRoleWithWebIdentity"


def trust(principal: Any, condition: Any, action: str = ACTION) -> str:
    one = {"Effect": "Allow", "Principal": principal, "Action": action, "Condition": condition}
    return json.dumps({"Version": "2012-10-17", "Statement": [one]})


MINE = {"StringEquals": {"id.example.org/realm:sub": "user-1", "id.example.org/realm:aud": "app"}}


@pytest.fixture
def server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Owned]:
    (tmp_path / "keys.json").write_text(key_set())
    flags = ("--oidc-issuer", ISSUER, "--oidc-audience", "app", "--oidc-jwks", str(tmp_path / "keys.json"))
    with owned(tmp_path / "data", capsys, *flags) as running:
        yield running


def test_a_token_of_the_provider_begins_a_session(
    server: Owned, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    iam = server.client("iam")
    role = iam.create_role(RoleName="web", AssumeRolePolicyDocument=trust({"Federated": PROVIDER}, MINE))
    own_rows = {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${id.example.org/realm:sub}"]},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    iam.put_role_policy(
        RoleName="web",
        PolicyName="own",
        PolicyDocument=document(statement("Allow", "dynamodb:GetItem", Condition=own_rows)),
    )
    server.table("orders")
    sts = boto3.client(
        "sts",
        endpoint_url=server.serving.endpoint,
        region_name="us-east-1",
        config=Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1}),
    )
    now = int(time.time())

    def assumed(**claims: Any) -> Any:
        lasting = {"exp": now + 600, "iat": now, **claims}
        return sts.assume_role_with_web_identity(
            RoleArn=role["Role"]["Arn"], RoleSessionName="me", WebIdentityToken=token(**lasting)
        )

    answer = assumed()
    assert (answer["SubjectFromWebIdentityToken"], answer["Audience"]) == ("user-1", "app")
    assert answer["Provider"] == PROVIDER
    assert answer["AssumedRoleUser"]["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/web/me"
    session = server.client("dynamodb", answer["Credentials"])
    session.get_item(TableName="orders", Key={"owner": {"S": "user-1"}})
    with pytest.raises(ClientError, match="not authorized"):
        session.get_item(TableName="orders", Key={"owner": {"S": "user-2"}})
    with refused("AccessDenied", 403, f"Not authorized to perform {ACTION}"):
        assumed(sub="user-2")
    with refused("InvalidIdentityToken", 400, "Incorrect token audience"):
        assumed(aud="other")
    with refused("InvalidIdentityToken", 400, "No OpenIDConnect provider found"):
        assumed(iss="https://evil.example.org")
    with pytest.raises(ClientError, match="Token expired"):
        assumed(exp=now - 600)
    with refused("InvalidIdentityToken", 400):
        sts.assume_role_with_web_identity(
            RoleArn=role["Role"]["Arn"], RoleSessionName="me", WebIdentityToken=token()[:-8] + "AAAAAAAA"
        )
    _check_forged(sts, role["Role"]["Arn"])
    _check_other_keys(iam, assumed)
    # Everybody is no provider, and nothing else is answered without a signature.
    iam.update_assume_role_policy(RoleName="web", PolicyDocument=trust("*", {}))
    with refused("AccessDenied", 403):
        assumed()
    iam.update_assume_role_policy(
        RoleName="web", PolicyDocument=trust({"Federated": PROVIDER}, {}, "sts:AssumeRole")
    )
    with refused("AccessDenied", 403):
        assumed()
    with refused("MissingAuthenticationToken", 403):
        sts.get_caller_identity()
    server.serving.stop()
    _check_audit(tmp_path / "data", token(exp=now + 600, iat=now).split(".")[1], capsys)


def _check_other_keys(iam: Any, assumed: Callable[[], Any]) -> None:
    """The trust policy knows from where and when the token was sent; who sent it is nobody yet, of no account."""
    for condition in (
        {"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}},
        {"DateGreaterThan": {"aws:CurrentTime": "2020-01-01T00:00:00Z"}},
        {"Bool": {"aws:SecureTransport": "false"}},
    ):
        denying = json.loads(trust({"Federated": PROVIDER}, MINE))
        denial = {"Effect": "Deny", "Principal": "*", "Action": ACTION, "Condition": condition}
        denying["Statement"].append(denial)
        iam.update_assume_role_policy(RoleName="web", PolicyDocument=json.dumps(denying))
        with refused("AccessDenied", 403):
            assumed()
    nobody = {"StringLike": {"aws:PrincipalAccount": "*"}}
    iam.update_assume_role_policy(RoleName="web", PolicyDocument=trust({"Federated": PROVIDER}, nobody))
    with refused("AccessDenied", 403):
        assumed()


def _check_forged(sts: Any, role: str) -> None:
    """Whatever a token looks like, the answer is the service's error."""
    for name, forged in FORGED.items():
        if not 4 <= len(forged) <= 20_000:
            continue
        with pytest.raises(ClientError) as raised:
            sts.assume_role_with_web_identity(RoleArn=role, RoleSessionName="me", WebIdentityToken=forged)
        assert raised.value.response["Error"]["Code"] in {
            "InvalidIdentityToken",
            "ExpiredToken",
            "ExpiredTokenException",
        }, name


def _check_audit(folder: Path, token_part: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the log has of the calls: who it was, and why they were refused, but no token."""
    text = (folder / "audit.jsonl").read_text()
    assert token_part not in text
    noted = [json.loads(line) for line in text.splitlines()]
    calls = [event for event in noted if event["eventName"] == "AssumeRoleWithWebIdentity"]
    assert {event["userIdentity"]["type"] for event in calls} == {"WebIdentityUser"}
    decisions = [
        event["additionalEventData"]["decision"] for event in calls if "additionalEventData" in event
    ]
    assert [decision["policyType"] for decision in decisions] == ["role trust policy"] * 7
    assert decisions[0]["considered"][0]["unmet"] == [
        {"operator": "StringEquals", "key": "id.example.org/realm:sub", "values": ["user-1"]}
    ]
    told = words(capsys, "iam", "explain", calls[-1]["requestID"], "--data-dir", str(folder))
    assert "The role's trust policy must allow it" in told
    (denied,) = [event for event in noted if event["eventName"] == "GetItem"]
    data = denied["userIdentity"]["sessionContext"]["webIdFederationData"]
    assert data["federatedProvider"] == PROVIDER
    assert data["attributes"]["id.example.org/realm:sub"] == "user-1"


def test_a_provider_has_an_issuer_an_audience_and_keys(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="needs all of --oidc-issuer, --oidc-audience and --oidc-jwks"):
        load({"oidc_issuer": ISSUER}, {})
    settings = load({"oidc_issuer": ISSUER, "oidc_audience": "app", "oidc_jwks": str(tmp_path / "keys")}, {})
    with pytest.raises(SettingInvalid, match="cannot be read: No such file"):
        providers.check(settings)
    (tmp_path / "keys").write_text("{}")
    with pytest.raises(SettingInvalid, match="--oidc-jwks: the key set cannot be read"):
        providers.check(settings)
    (tmp_path / "keys").write_text(key_set())
    os.utime(tmp_path / "keys", (1, 1))
    providers.check(settings)
    with pytest.raises(SettingInvalid, match="must be a URL"):
        load({"oidc_issuer": "id.example.org"}, {})
