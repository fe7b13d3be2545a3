"""No secret that a server was given or has made is in its logs, in its audit log, or in what others see of it."""

import base64
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives import serialization

from hashrange import vaults
from hashrange.kms.file_seals import FileCipher, RootFileSeals
from hashrange.kms.root_key import RootKey
from hashrange.kms.row_cipher import RowCipher
from hashrange.kms.wrapping import Wrapping
from serving import Serving, serving
from warm import COLD

ROOT_KEY = os.urandom(32)
TLS_PASSWORD = "the-password-of-the-tls-key"
TEXT = base64.b64encode(ROOT_KEY).decode()
_ENVIRONMENT = {"A_ROOT_KEY": TEXT}


def hashrange(*words: str) -> str:
    command = [sys.executable, "-m", "hashrange", *words]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **_ENVIRONMENT}
    )
    assert TEXT not in done.stderr
    return done.stdout


def tls_flags(folder: Path) -> list[str]:
    """A certificate whose key has a password."""
    hashrange("tls", "self-signed", "--out", str(folder))
    path = folder / "server.key"
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    encryption = serialization.BestAvailableEncryption(TLS_PASSWORD.encode())
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    )
    password = folder / "password"
    password.write_text(TLS_PASSWORD)
    password.chmod(0o600)
    files = {"--tls-cert": folder / "server.pem", "--tls-key": path, "--tls-key-password-file": password}
    return [word for flag, file in files.items() for word in (flag, str(file))]


class Caller:
    """Makes clients that sign."""

    def __init__(self, running: Serving, ca: Path) -> None:
        self._running = running
        self._ca = ca

    def client(self, service: str, key: dict[str, Any]) -> Any:
        return boto3.client(
            service,
            endpoint_url=self._running.endpoint,
            verify=str(self._ca),
            region_name="us-east-1",
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
            aws_session_token=key.get("SessionToken"),
            config=Config(retries={"total_max_attempts": 1}),
        )

    def use_everything(self, first: dict[str, Any]) -> list[str]:
        """Use every kind of secret, rightly and wrongly; gives those that came about."""
        iam, kms, sts = (self.client(service, first) for service in ("iam", "kms", "sts"))
        iam.create_user(UserName="alice")
        second = iam.create_access_key(UserName="alice")["AccessKey"]
        session = sts.get_session_token()["Credentials"]
        self.client("dynamodb", session).list_tables()
        key = kms.create_key()["KeyMetadata"]["KeyId"]
        data_key = kms.generate_data_key(KeyId=key, KeySpec="AES_256")["Plaintext"]
        kms.encrypt(KeyId=key, Plaintext=b"plaintext of a client")
        token = session["SessionToken"]
        for wrong in (
            {**first, "SecretAccessKey": second["SecretAccessKey"]},
            {**session, "SessionToken": token[:-8] + "AAAAAAAA"},
            {**first, "SessionToken": token},
        ):
            with pytest.raises(ClientError):
                self.client("dynamodb", wrong).list_tables()
        with pytest.raises(ClientError):
            kms.decrypt(CiphertextBlob=data_key * 4)
        return [
            *(made["SecretAccessKey"] for made in (first, second, session)),
            *(token, token[:-8]),
            *(base64.b64encode(data_key).decode(), data_key.hex(), "plaintext of a client"),
            base64.b64encode(b"plaintext of a client").decode(),
        ]


def test_no_secret_is_in_a_log_or_shown_by_the_operating_system(tmp_path: Path) -> None:
    data, tls = tmp_path / "data", tmp_path / "tls"
    store = ("--data-dir", str(data), "--root-key", "env:A_ROOT_KEY")
    first = json.loads(hashrange("iam", "bootstrap", *store, "--json"))
    first = first.get("AccessKey", first)
    audit = tmp_path / "audit.jsonl"
    flags = ("--auth", "signature", "--auth-debug", "--log-level", "debug", "--audit-log", str(audit))
    with serving(*store, *flags, *tls_flags(tls), environment=_ENVIRONMENT, interpreter=COLD) as running:
        secrets = Caller(running, tls / "ca.pem").use_everything(first)
        process = Path(f"/proc/{running.process.pid}")
        shown = b""
        if os.geteuid() == 0 and process.exists():
            shown = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            assert b"A_ROOT_KEY" in shown
        running.stop()
        log = running.log_text()
    written = log + audit.read_text() + shown.decode("utf-8", "replace")
    assert "Traceback" not in log
    for secret in (TEXT, ROOT_KEY.hex(), repr(ROOT_KEY), TLS_PASSWORD, *secrets):
        assert secret not in written
    assert [path for path in data.rglob("*") if path.is_file() and ROOT_KEY in path.read_bytes()] == []


def test_keys_show_themselves_in_no_representation() -> None:
    key = RootKey(ROOT_KEY, "a test")
    seals = RootFileSeals(key, seals_new=True)
    shown = [key, seals, seals.cipher(seals.new_keys()), FileCipher(ROOT_KEY), RowCipher(ROOT_KEY)]
    for thing in (*shown, Wrapping(ROOT_KEY)):
        for text in (repr(thing), str(thing)):
            assert ROOT_KEY.hex() not in text
            assert repr(ROOT_KEY)[2:-1] not in text


def test_a_root_key_leaves_the_environment_when_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANOTHER_ROOT_KEY", TEXT)
    key = vaults.named_root_key("env:ANOTHER_ROOT_KEY")
    assert key is not None
    assert key.reveal() == ROOT_KEY
    assert "ANOTHER_ROOT_KEY" not in os.environ
    assert vaults.named_root_key("env:ANOTHER_ROOT_KEY") is key  # workers that fork later have it, too


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
@pytest.mark.parametrize("is_keyed", [True, False])
def test_only_a_server_without_keys_may_leave_a_core_dump(tmp_path: Path, *, is_keyed: bool) -> None:
    flags = ("--root-key", "env:A_ROOT_KEY") if is_keyed else ()
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    with serving("--data-dir", str(tmp_path / "data"), *flags, environment=_ENVIRONMENT) as running:
        limits = Path(f"/proc/{running.process.pid}/limits").read_text()
        (line,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
        hard = line.split()[5]
    assert (hard == "0") is (is_keyed or most == 0)
