"""Clients over TLS, with an authority of our own: boto3, the AWS CLI, JavaScript, and our own commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, SSLError

from clients import toolchains
from clients.aws_cli import AWS, Failed, aws_cli, environment_for
from clients.toolchains import NODE
from enforcing import ACCOUNT, REGION, Enforcing, enforcing, statement
from hashrange import cli
from serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `hashrange tls self-signed` makes."""
    folder = tmp_path_factory.mktemp("tls") / "files"
    assert cli.main(["tls", "self-signed", "--out", str(folder), "--client", "worker"]) == 0
    return folder


def flags_of(files: Path) -> list[str]:
    return ["--tls-cert", str(files / "server.pem"), "--tls-key", str(files / "server.key")]


@pytest.fixture(scope="module")
def safe(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enforcing]:
    """A server with TLS and --auth iam."""
    folder = tmp_path_factory.mktemp("safe") / "data"
    flags = [*flags_of(files), "--test-clock", "--chaos"]
    with enforcing(folder, *flags, verify=files / "ca.pem") as running:
        yield running


@pytest.fixture(scope="module")
def mutual(files: Path) -> Iterator[Serving]:
    """A server that wants a certificate of its clients."""
    flags = [*flags_of(files), "--tls-client-ca", str(files / "ca.pem"), "--test-clock"]
    with serving("--in-memory", *flags) as running:
        yield running


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """One of our own commands, with this environment beside nothing of AWS's."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "HASHRANGE_", "SSL_"))]:
        monkeypatch.delenv(name)

    def command(*words: str, **environment: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patched:
            for name, value in environment.items():
                patched.setenv(name, value)
            status = cli.main(words)
        output, problems = capsys.readouterr()
        return status, output, problems

    return command


def test_boto3_trusts_the_authority_it_is_told(safe: Enforcing) -> None:
    assert safe.endpoint.startswith("https://")
    safe.table("safe")
    assert safe.client("dynamodb", safe.administrator).list_tables()["TableNames"] == ["safe"]
    stranger = boto3.client(
        "dynamodb",
        endpoint_url=safe.endpoint,
        region_name=REGION,
        config=Config(retries={"total_max_attempts": 1}),
        **safe.administrator.arguments,
    )
    with pytest.raises(SSLError):
        stranger.list_tables()


def test_profiles_say_everything(
    safe: Enforcing, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Endpoint, authority, key and role, as docs/clients.md has it: no argument and no variable is needed."""
    key = safe.user("profiled")
    role = safe.role("writer", f"arn:aws:iam::{ACCOUNT}:user/profiled", statement("dynamodb:ListTables"))
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    common = f"endpoint_url = {safe.endpoint}\nregion = {REGION}\nca_bundle = {files / 'ca.pem'}\n"
    (tmp_path / "config").write_text(
        f"[profile hashrange]\naws_access_key_id = {key.access_key_id}\naws_secret_access_key = {key.secret}\n{common}"
        f"[profile hashrange-writer]\nrole_arn = {role}\nsource_profile = hashrange\n{common}"
    )
    session = boto3.Session(profile_name="hashrange-writer")
    assert ":assumed-role/writer/" in session.client("sts").get_caller_identity()["Arn"]
    assert session.client("dynamodb").list_tables()["TableNames"] is not None
    with pytest.raises(ClientError, match="AccessDenied"):
        boto3.Session(profile_name="hashrange").client("dynamodb").list_tables()


def test_policies_know_that_the_transport_is_secure(safe: Enforcing) -> None:
    rule = {
        "Effect": "Allow",
        "Action": "dynamodb:ListTables",
        "Resource": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "true"}},
    }
    assert safe.client("dynamodb", safe.user("careful", rule)).list_tables()


def test_boto3_shows_a_certificate(mutual: Serving, files: Path) -> None:
    def client(**config: Any) -> Any:
        return boto3.client(
            "dynamodb",
            endpoint_url=mutual.endpoint,
            region_name=REGION,
            verify=str(files / "ca.pem"),
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, **config),
        )

    pair = (str(files / "client.pem"), str(files / "client.key"))
    assert client(client_cert=pair).list_tables()["TableNames"] == []
    with pytest.raises((SSLError, ConnectionClosedError)):
        client().list_tables()


@pytest.mark.skipif(not AWS.exists(), reason="the AWS CLI is not installed beside this Python")
def test_the_aws_cli_trusts_a_bundle(safe: Enforcing, files: Path, tmp_path: Path) -> None:
    environment = environment_for(safe.endpoint, tmp_path, safe.administrator.environment)
    with aws_cli(environment) as aws:
        bundle = {"AWS_CA_BUNDLE": str(files / "ca.pem")}
        caller = aws("get-caller-identity", service="sts", environment=bundle)
        assert caller["Arn"].endswith(":user/admin")
        assert aws("list-tables", environment=bundle)
        with pytest.raises(Failed, match="SSL validation failed"):
            aws("list-tables")


def test_javascript_trusts_an_extra_authority(safe: Enforcing, files: Path) -> None:
    trust = {"NODE_EXTRA_CA_CERTS": str(files / "ca.pem")}
    toolchains.tour(NODE, "iam", safe.endpoint, {**safe.administrator.environment, **trust})


def test_javascript_shows_a_certificate(files: Path, tmp_path: Path) -> None:
    shown = {
        "NODE_EXTRA_CA_CERTS": str(files / "ca.pem"),
        "TOUR_CLIENT_CERT": str(files / "client.pem"),
        "TOUR_CLIENT_KEY": str(files / "client.key"),
    }
    flags = [*flags_of(files), "--tls-client-ca", str(files / "ca.pem")]
    with enforcing(tmp_path / "data", *flags) as server:
        toolchains.tour(NODE, "iam", server.endpoint, {**server.administrator.environment, **shown})


def test_our_own_commands_trust_the_bundle_of_aws_tools(safe: Enforcing, files: Path, run: Run) -> None:
    safe.table("hot")
    known = {**safe.administrator.environment, "AWS_CA_BUNDLE": str(files / "ca.pem")}
    endpoint = ("--endpoint", safe.endpoint)
    assert run("clock", "advance", "1h", *endpoint, **known)[0] == 0
    assert run("chaos", "list", *endpoint, **known)[0] == 0
    assert "admin" in run("iam", "list-users", *endpoint, **known)[1]
    status, output, _ = run("heat", "hot", "--json", *endpoint, **known)
    assert status == 0
    assert json.loads(output)
    untrusted = run("clock", "show", *endpoint, **safe.administrator.environment)
    assert untrusted[0] == 1
    assert "is not trusted" in untrusted[2]
    assert "AWS_CA_BUNDLE names the file of its authority" in untrusted[2]
    missing = run("clock", "show", *endpoint, **known | {"AWS_CA_BUNDLE": str(files / "none.pem")})
    assert f"AWS_CA_BUNDLE: {files / 'none.pem'} cannot be used" in missing[2]


def test_our_own_commands_trust_what_openssl_is_told_to(safe: Enforcing, files: Path) -> None:
    """OpenSSL reads its variable once, so this needs a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {**kept, **safe.administrator.environment, "SSL_CERT_FILE": str(files / "ca.pem")}
    command = [sys.executable, "-m", "hashrange", "clock", "show", "--endpoint", safe.endpoint]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_our_own_commands_show_a_certificate(mutual: Serving, files: Path, run: Run) -> None:
    trusting = {"AWS_CA_BUNDLE": str(files / "ca.pem")}
    shown = {
        "HASHRANGE_CLIENT_CERT": str(files / "client.pem"),
        "HASHRANGE_CLIENT_KEY": str(files / "client.key"),
    }
    command = ("clock", "show", "--endpoint", mutual.endpoint)
    assert run(*command, **trusting, **shown)[0] == 0
    assert run(*command, **trusting)[0] == 1
    wrong = run(*command, **trusting, HASHRANGE_CLIENT_CERT=str(files / "ca.pem"))
    assert f"HASHRANGE_CLIENT_CERT: {files / 'ca.pem'} cannot be used" in wrong[2]
    half = run(*command, **trusting, HASHRANGE_CLIENT_KEY=str(files / "client.key"))
    assert "HASHRANGE_CLIENT_KEY goes with HASHRANGE_CLIENT_CERT, which is not set" in half[2]


def test_transfers_show_a_certificate(mutual: Serving, files: Path, tmp_path: Path, run: Run) -> None:
    known = {
        "AWS_CA_BUNDLE": str(files / "ca.pem"),
        "HASHRANGE_CLIENT_CERT": str(files / "client.pem"),
        "HASHRANGE_CLIENT_KEY": str(files / "client.key"),
    }
    lines = tmp_path / "notes.jsonl"
    lines.write_text('{"pk": "a"}\n{"pk": "b"}\n')
    place = f"{mutual.endpoint}/notes"
    words = ("import", "--from", str(lines), "--to", place, "--key", "pk:S", "--json-plain")
    status, _, problems = run(*words, "--state", str(tmp_path / "state"), **known)
    assert status == 0, problems
    half = run(*words, "--state", str(tmp_path / "other"), HASHRANGE_CLIENT_KEY="key.pem")
    assert half[0] == 1
    assert "HASHRANGE_CLIENT_KEY goes with HASHRANGE_CLIENT_CERT, which is not set" in half[2]
