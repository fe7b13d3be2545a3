"""What is particular to S3: parts, encryption, credentials, connections that fail."""

import secrets
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from hashrange.config import Settings
from hashrange.objects import s3
from hashrange.objects.errors import AccessDenied, Unreachable
from hashrange.objects.interface import BucketOptions
from hashrange.objects.opening import open_store
from hashrange.objects.s3_address import S3Address, s3_address
from hashrange.objects.s3_store import S3Store
from moto_server import ACCESS_KEY, SECRET_KEY, s3_client
from objects.conftest import s3_store

pytestmark = pytest.mark.slow


@pytest.fixture
def client(s3_endpoint: str) -> Any:
    return s3_client(s3_endpoint)


@pytest.fixture
def name(client: Any) -> str:
    bucket = f"bucket-{secrets.token_hex(6)}"
    client.create_bucket(Bucket=bucket)
    return bucket


def test_a_large_object_goes_in_parts_and_an_aborted_one_leaves_none(
    s3_endpoint: str, client: Any, name: str
) -> None:
    bucket = s3_store(s3_endpoint).bucket(name)
    with bucket.writer("k") as writer:
        writer.write(bytes(20 * 1024 * 1024))
        assert len(client.list_multipart_uploads(Bucket=name)["Uploads"]) == 1
    assert "Uploads" not in client.list_multipart_uploads(Bucket=name)
    with bucket.writer("k") as writer:
        writer.write(bytes(20 * 1024 * 1024))
        written = writer.commit()
    assert written.etag.endswith("-3")
    assert client.head_object(Bucket=name, Key="k")["ContentLength"] == 20 * 1024 * 1024


def test_objects_are_encrypted_as_the_options_say(s3_endpoint: str, client: Any, name: str) -> None:
    options = BucketOptions(sse_algorithm="KMS", sse_kms_key_id="key-1")
    bucket = s3_store(s3_endpoint).bucket(name, options)
    bucket.put("small", b"x")
    with bucket.writer("large") as writer:
        writer.write(bytes(9 * 1024 * 1024))
        writer.commit()
    for key in ("small", "large"):
        assert client.head_object(Bucket=name, Key=key)["ServerSideEncryption"] == "aws:kms"


def test_a_store_that_is_not_there_is_unreachable_after_some_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(s3, "_ATTEMPTS", 1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = s3_store(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(Unreachable) as caught:
            store.bucket("bucket").put("k", b"x")
    assert caught.value.temporary
    assert caught.value.message.startswith("Unable to execute HTTP request: ")


def test_without_credentials_access_is_denied(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(AccessDenied):
        S3Store(S3Address(s3_endpoint, "us-east-1")).bucket("bucket").put("k", b"x")


def test_the_usual_variables_give_credentials(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    store = open_store(Settings(s3=s3_endpoint), {})
    assert store.bucket(name).put("k", b"x").size == 1
    store.close()
    assert store.bucket(name).head("k").size == 1


def test_keys_in_the_url_are_used_and_never_shown() -> None:
    address = s3_address(
        "https://KEY:s%2Fcret@s3.example.org:9000/x", {"AWS_REGION": "eu-west-1"}, "us-east-1"
    )
    assert (address.access_key_id, address.secret_access_key) == ("KEY", "s/cret")
    assert (address.endpoint, address.region) == ("https://s3.example.org:9000/x", "eu-west-1")
    assert "cret" not in repr(address)
    assert "cret" not in S3Store(address).description


class FlakyServer(threading.Thread):
    """An S3 that gives an object of ten bytes, but at most three of them before the connection ends."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.ranges: list[str] = []

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                lines = head.decode().lower().split("\r\n")
                ranges = [line.partition("bytes=")[2] for line in lines if line.startswith("range:")]
                start = int(ranges[0].rstrip("-")) if ranges else 0
                self.ranges += ranges
                body = b"0123456789"[start:]
                connection.sendall(
                    b'HTTP/1.1 %d OK\r\nETag: "e"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n'
                    % (206 if start else 200, len(body))
                )
                connection.sendall(body[:3])


def test_a_download_that_breaks_off_goes_on_where_it_was() -> None:
    server = FlakyServer()
    server.start()
    try:
        store = s3_store(f"http://127.0.0.1:{server.listener.getsockname()[1]}")
        assert b"".join(store.bucket("bucket").read("k")) == b"0123456789"
        assert server.ranges == ["3-", "6-", "9-"]
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        server.join(timeout=30)
